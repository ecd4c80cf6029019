"""The shared host of the OAuth tests."""

from tests.services.server import running_host

__all__ = ["running_host"]
