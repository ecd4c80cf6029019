"""One engine for the tests of a module; every test has a space of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.embedding.fake import FakeEmbedder
from engine.engine import Engine
from tests.engines import open_engine


@pytest.fixture(scope="module")
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, embedder: FakeEmbedder) -> Iterator[Engine]:
    with open_engine(tmp_path_factory.mktemp("data"), embedder) as opened:
        yield opened


@pytest.fixture
def space(engine: Engine, request: pytest.FixtureRequest) -> str:
    return engine.create_space(engine.local_owner(), request.node.name[:200]).id
