"""One engine for all field cases: cases share nothing, since each has tenants and spaces of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.engine import Engine
from engine.settings import Settings
from tests.field_cases.engine_surface import EngineSurface


@pytest.fixture(scope="session")
def engine_surface(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineSurface]:
    folder = tmp_path_factory.mktemp("field-cases")
    with Engine.open(Settings(data_dir=folder)) as engine:
        yield EngineSurface(engine)
