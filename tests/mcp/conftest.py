"""One engine for the tests of the dispatcher; each test works in words and paths of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.settings import Settings
from tests.cli.terminal import Terminal
from tests.mcp.surfaces import Desk


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with Engine.open(Settings(data_dir=tmp_path_factory.mktemp("mcp"))) as engine:
        engine.ingest.start()
        yield Desk(engine)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "data")
