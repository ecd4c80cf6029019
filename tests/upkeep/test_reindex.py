"""A new index from the truth: another embedder, an interrupted run, writes meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.domain.query import ListQuery, TimeOrder
from engine.embedding.fake import FakeEmbedder
from engine.engine import Engine
from engine.errors import EmbedderMismatch
from engine.settings import Settings
from tests.engines import open_engine, recalled, store

OTHER = FakeEmbedder(dimension=32, revision="another-1")


def test_another_embedder_is_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        store(engine, "The lamp is in the attic.")
    with pytest.raises(EmbedderMismatch, match="memvouch reindex"):
        open_engine(tmp_path, OTHER)


def test_an_index_that_an_older_version_built_is_refused_with_the_command_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_engine(tmp_path) as engine:
        store(engine, "The lamp is in the attic.")
    monkeypatch.setattr("engine.engine.ANALYSIS_VERSION", "memvouch-text-next")
    with pytest.raises(EmbedderMismatch, match=r"read text otherwise .* run `memvouch reindex`"):
        open_engine(tmp_path)


def test_a_reindex_makes_the_folder_serve_with_the_new_embedder(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        store(engine, "The lamp is in the attic.")
        gone = store(engine, "The lamp is broken.")
        engine.forget(engine.local_owner(), gone.id)
    seen: list[tuple[int, int]] = []
    with Engine.open(Settings(data_dir=tmp_path), embedder=OTHER, for_reindex=True) as engine:
        assert engine.reindex(lambda done, total: seen.append((done, total))) == 1
    assert seen == [(1, 1)]
    with open_engine(tmp_path, OTHER) as engine:
        assert recalled(engine, "lamp attic") == ["The lamp is in the attic."]
        assert engine.doctor().equal


def test_an_interrupted_reindex_goes_on_and_misses_no_change(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        for number in range(150):
            store(engine, f"Note number {number} about topic t{number}.")

    class StoppedError(Exception):
        """Stands in for a killed process."""

    def stop_at_first_batch(done: int, total: int) -> None:
        raise StoppedError

    with open_engine(tmp_path) as engine:
        with pytest.raises(StoppedError):
            engine.reindex(stop_at_first_batch)
        first = engine.list_memories(engine.local_owner(), ListQuery(order=TimeOrder.ASCENDING)).memories[0]
        engine.forget(engine.local_owner(), first.id)
        store(engine, "Written between the two runs.")
    with open_engine(tmp_path) as engine:
        # 64 of 150 were done; one of them is gone, one more came.
        assert engine.reindex() < 150
        assert engine.doctor().equal
        assert recalled(engine, "written between runs", limit=1) == ["Written between the two runs."]


def test_writes_during_a_reindex_reach_both_indexes(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        for number in range(100):
            store(engine, f"Note number {number}.")
        written: list[str] = []

        def write_once(done: int, total: int) -> None:
            if not written:
                written.append(store(engine, "Written while the index was built.").id)

        engine.reindex(write_once)
        assert engine.doctor().equal
        assert recalled(engine, "written while built", limit=1) == ["Written while the index was built."]
