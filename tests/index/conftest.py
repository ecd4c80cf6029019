"""Every test that takes `index` runs on the reference, on Qdrant Edge and on a real Qdrant server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.index.fake import InMemoryIndex
from engine.index.protocol import Index
from engine.index.qdrant_edge import EdgeIndex
from engine.index.qdrant_server import ServerIndex
from tests.index.examples import DIMENSION
from tests.services.qdrant import QdrantServer, own_qdrant_server, qdrant_binary, qdrant_server

__all__ = ["own_qdrant_server", "qdrant_binary", "qdrant_server"]

ENGINES = ("reference", "edge", "server")


@pytest.fixture(scope="session")
def shared_collection(qdrant_server: QdrantServer) -> str:
    """One collection for the tests of the contract, because making one takes most of a second."""
    return qdrant_server.new_collection()


@pytest.fixture(params=ENGINES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index of `DIMENSION` dimensions."""
    opened = _open(request, tmp_path)
    opened.delete_records(sorted(opened.record_ids()))
    yield opened
    opened.close()


def _open(request: pytest.FixtureRequest, folder: Path) -> Index:
    match request.param:
        case "reference":
            return InMemoryIndex(DIMENSION)
        case "edge":
            return EdgeIndex.open(folder / "index", DIMENSION)
        case _:
            server: QdrantServer = request.getfixturevalue("qdrant_server")
            return ServerIndex.open(server.url, None, request.getfixturevalue("shared_collection"), DIMENSION)
