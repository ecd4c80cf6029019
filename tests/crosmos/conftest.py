"""The shared host of the tests of the Crosmos-compatible surface, and its published client."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import crosmos
import pytest

from engine.domain.access import ALL_SCOPES
from engine.upkeep.administration import TokenKind
from tests.services.server import RunningHost, running_host

__all__ = ["running_host"]


@pytest.fixture(scope="session")
def key(running_host: RunningHost) -> str:
    """A key of the folder's owner, as that contract's clients expect it."""
    return running_host.issue(scopes=ALL_SCOPES, kind=TokenKind.SPACE_KEY)


@pytest.fixture(scope="session")
def client(running_host: RunningHost, key: str) -> Iterator[Any]:
    """The published client, which checks every answer."""
    with crosmos.Crosmos(
        api_key=key, base_url=running_host.url, max_retries=0, _strict_response_validation=True
    ) as made:
        yield made


@pytest.fixture
def space_id(client: Any) -> str:
    """A new space."""
    made: str = client.spaces.create(name=f"space-{uuid.uuid4().hex}").id
    return made
