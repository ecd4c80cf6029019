"""One engine for the tests of the dispatcher; each test works in words and paths of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.engine import Engine
from engine.settings import Settings
from tests.mcp.surfaces import Desk


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with Engine.open(Settings(data_dir=tmp_path_factory.mktemp("mcp"))) as engine:
        yield Desk(engine)
