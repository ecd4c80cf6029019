"""What only the embedded index promises: one process, one folder, nothing lost by a kill."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.errors import CorruptData, EmbedderMismatch, FolderBusy, IndexUnavailable
from engine.index import qdrant_edge
from engine.index.qdrant_edge import EdgeIndex
from tests.index.examples import DIMENSION, EVERYTHING, USUAL, found, matching, point, sparse

WRITER = """
import sys
from pathlib import Path
from engine.index import qdrant_edge
from engine.index.qdrant_edge import EdgeIndex
from tests.index.examples import DIMENSION, point, sparse

index = EdgeIndex.open(Path(sys.argv[1]), DIMENSION)
index.upsert([point(f"record-{number:04d}") for number in range(900)])
index.delete_records([f"record-{number:04d}" for number in range(100)])
index.replace_records(["record-0100"], [point("record-0100", lexical=sparse({7: 1.0}))])
print("written", flush=True)
sys.stdin.read()
"""


def test_points_are_still_there_after_a_restart(tmp_path: Path) -> None:
    with _opened(tmp_path) as index:
        index.upsert([point("a", bucket="home"), point("b")])
    with _opened(tmp_path) as index:
        assert matching(index, EVERYTHING) == {"a", "b"}
        assert index.info().path == str(tmp_path)


def test_every_acknowledged_write_survives_a_kill(tmp_path: Path) -> None:
    with _running_writer(tmp_path) as writer:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    with _opened(tmp_path) as index:
        assert index.record_ids() == {f"record-{number:04d}" for number in range(100, 900)}
        assert index.info().points == 800
        assert found(index.search_lexical(sparse({7: 1.0}), USUAL, 5)) == ["record-0100"]


def test_a_second_process_is_told_that_the_folder_is_busy(tmp_path: Path) -> None:
    with _running_writer(tmp_path), pytest.raises(FolderBusy, match="another process"):
        EdgeIndex.open(tmp_path, DIMENSION)


def test_a_second_opening_in_one_process_is_busy_until_the_first_is_closed(tmp_path: Path) -> None:
    with _opened(tmp_path) as index:
        index.upsert([point("a")])
        with pytest.raises(FolderBusy):
            EdgeIndex.open(tmp_path, DIMENSION)
        assert matching(index, EVERYTHING) == {"a"}
    with _opened(tmp_path) as index:
        assert matching(index, EVERYTHING) == {"a"}


def test_another_dimension_is_a_mismatch_and_harms_nothing(tmp_path: Path) -> None:
    with _opened(tmp_path) as index:
        index.upsert([point("a")])
    with pytest.raises(EmbedderMismatch, match="memvouch reindex"):
        EdgeIndex.open(tmp_path, DIMENSION + 1)
    with _opened(tmp_path) as index:
        assert matching(index, EVERYTHING) == {"a"}


def test_a_folder_that_the_engine_cannot_read_is_reported_as_corrupt(tmp_path: Path) -> None:
    _opened_once(tmp_path)
    (tmp_path / "edge_config.json").write_text("{ not json")
    with pytest.raises(CorruptData, match="memvouch reindex"):
        EdgeIndex.open(tmp_path, DIMENSION)


def test_an_opening_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "segments").mkdir()
    with _opened(tmp_path) as index:
        index.upsert([point("a")])
        assert matching(index, USUAL) == {"a"}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_is_refused_instead_of_hanging(tmp_path: Path) -> None:
    with _opened(tmp_path) as index:
        index.upsert([point("a")])
        child = multiprocessing.get_context("fork").Process(target=_expect_refusal, args=(index,))
        child.start()
        child.join(30)
        assert child.exitcode == 0


def test_a_vacuum_of_a_small_index_rewrites_it_without_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_edge, "_VACUUM_FLUSH_SECONDS", float("inf"))
    ids = [f"record-{number:04d}" for number in range(3000)]
    with _opened(tmp_path) as index:
        index.upsert([point(record_id) for record_id in ids])
        index.delete_records(ids[100:])
        before = _segments(tmp_path)
        index.optimize()
        index.upsert([point("after")])
    with _opened(tmp_path) as index:
        assert _segments(tmp_path) != before
        assert index.record_ids() == {*ids[:100], "after"}


def test_a_large_index_or_one_on_a_slow_disk_is_not_vacuumed_while_serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"record-{number:04d}" for number in range(3000)]
    with _opened(tmp_path) as index:
        index.upsert([point(record_id) for record_id in ids])
        index.delete_records(ids[1500:])
        before = _segments(tmp_path)
        for points, seconds in ((1499, float("inf")), (1500, 0.0)):
            monkeypatch.setattr(qdrant_edge, "_VACUUM_POINTS", points)
            monkeypatch.setattr(qdrant_edge, "_VACUUM_FLUSH_SECONDS", seconds)
            index.optimize()
            assert _segments(tmp_path) == before


def _expect_refusal(index: EdgeIndex) -> None:
    try:
        index.info()
    except IndexUnavailable:
        os._exit(0)
    os._exit(1)


def _opened_once(folder: Path) -> None:
    EdgeIndex.open(folder, DIMENSION).close()


@contextmanager
def _opened(folder: Path) -> Iterator[EdgeIndex]:
    index = EdgeIndex.open(folder, DIMENSION)
    try:
        yield index
    finally:
        index.close()


@contextmanager
def _running_writer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has written, holds the folder open and waits."""
    root = Path(__file__).parents[2]
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        try:
            yield writer
        finally:
            writer.kill()


def _segments(folder: Path) -> set[str]:
    return {path.name for path in (folder / "segments").iterdir()}
