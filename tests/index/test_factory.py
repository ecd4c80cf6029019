"""The index that the settings name."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import SetupError
from engine.index.factory import create, remove
from engine.settings import Settings
from tests.index.examples import DIMENSION, EVERYTHING, matching, point
from tests.services.qdrant import QdrantServer


def test_the_default_is_an_embedded_index_in_the_data_folder(tmp_path: Path) -> None:
    _holds_its_generations_apart(Settings(data_dir=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["index-1"]


def test_a_url_names_a_server(tmp_path: Path, qdrant_server: QdrantServer) -> None:
    collection = qdrant_server.new_collection()
    _holds_its_generations_apart(Settings(data_dir=tmp_path, index_url=qdrant_server.url, index_collection=collection))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["", "edge", "memory:", "http://localhost:6333"])
def test_an_unknown_url_is_refused_by_name(tmp_path: Path, url: str) -> None:
    with pytest.raises(SetupError, match="MEMVOUCH_INDEX_URL"):
        create(Settings(data_dir=tmp_path, index_url=url), DIMENSION)


def _holds_its_generations_apart(settings: Settings) -> None:
    first, second = create(settings, DIMENSION), create(settings, DIMENSION, "2")
    first.upsert([point("a")])
    second.upsert([point("b")])
    assert matching(first, EVERYTHING) == {"a"}
    assert matching(second, EVERYTHING) == {"b"}
    first.close()
    second.close()
    remove(settings, "2")
    remove(settings, "2")
    again = create(settings, DIMENSION)
    assert matching(again, EVERYTHING) == {"a"}
    again.close()
