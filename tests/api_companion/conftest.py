"""The shared host of the companion tests, and clients with a space of their own."""

import uuid

import httpx
import pytest

from tests.services.server import RunningHost, running_host

__all__ = ["running_host"]


@pytest.fixture
def backend(running_host: RunningHost) -> httpx.Client:
    """A client whose token sees only a space of this test."""
    return running_host.client(running_host.issue(spaces=[(f"space-{uuid.uuid4().hex}", True)]))
