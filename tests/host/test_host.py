"""Any number of local clients on one folder: one host, started on demand, replaced when it dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from api.host import wire
from api.host.remote import RemoteEngine
from api.host.start import HOST_FILE, living_socket
from api.options import MAX_BODY_BYTES
from engine.domain.calibration import LEAST_ANSWERABLE, LEAST_UNANSWERABLE, Keep, LabelledQuestion
from engine.domain.memory import ForgetMode, MemoryPatch, NewMemory, StateUpdate, WriteStatus
from engine.domain.outcome import Matches, NoMatch
from engine.domain.query import ContextQuery, ListQuery, Mode, Query
from engine.engine import Engine
from engine.errors import Conflict, InvalidRequest, MemvouchError, NotFound, Unavailable
from engine.store.ids import new_id
from tests.field_cases.facts import facts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("host")
    yield path
    kill(path, signal.SIGTERM)


def kill(folder: Path, number: int = signal.SIGKILL) -> None:
    """End the folder's host and wait until it is gone."""
    try:
        os.kill(json.loads((folder / HOST_FILE).read_text())["pid"], number)
    except (FileNotFoundError, ProcessLookupError):
        return
    for _ in range(400):
        if living_socket(folder) is None:
            return
        time.sleep(0.05)
    raise AssertionError("the host does not end")


def test_every_verb_gives_over_the_socket_what_the_engine_gives(folder: Path) -> None:
    with RemoteEngine(folder) as engine:
        me = engine.local_owner()
        space = engine.create_space(me, "trip", metadata={"year": 2026})
        assert engine.space(me, "trip").space == space
        written = engine.remember(me, NewMemory(content="The ferry to Brenholm leaves at noon.", space="trip"))
        assert written.status is WriteStatus.CREATED
        assert engine.get(me, written.memory.id).content == written.memory.content
        found = engine.search(me, Query(text="When does the ferry to Brenholm leave?", explain=True))
        assert isinstance(found, Matches)
        assert found.hits[0].memory.id == written.memory.id
        assert found.trace[0].signals.features
        assert isinstance(engine.search(me, Query(text="HRN-428", spaces=("trip",))), NoMatch)
        packed = engine.recall_context(me, ContextQuery(query=Query(text="ferry", mode=Mode.FORGIVING)))
        assert packed.items[0].hit.memory.id == written.memory.id
        updated = engine.update(me, written.memory.id, MemoryPatch(content="The ferry leaves at one."))
        assert [each.version for each in engine.versions(me, updated.id)] == [1]
        assert engine.explain(me, updated.id, "ferry").considered is not None
        state = engine.update_state(me, StateUpdate(current_task="pack", space="trip")).memory
        assert engine.list_memories(me, ListQuery(spaces=("trip",))).total == 2
        assert engine.stats(me, ["trip"])[0].records == 2
        assert engine.forget(me, state.id, ForgetMode.HARD) is None
        assert engine.doctor().equal
        assert engine.delete_space(me, "trip").id == space.id


def test_a_calibration_through_the_socket_is_in_use_at_once(folder: Path) -> None:
    known = facts(60, LEAST_ANSWERABLE, seed=5)
    with RemoteEngine(folder) as engine:
        me = engine.local_owner()
        engine.create_space(me, "facts")
        written = engine.remember_many(me, [NewMemory(content=each, space="facts") for each in known.statements])
        answered = [
            LabelledQuestion(text, (written[number].memory.id,), space="facts") for text, number in known.answered
        ]
        unanswered = [LabelledQuestion(text, (), space="facts") for text in known.unanswered[:LEAST_UNANSWERABLE]]
        report = engine.calibrate(me, [*answered, *unanswered], keep=Keep.ALWAYS)
        assert report.written
        query = Query(text=known.answered[0][0], spaces=("facts",))
        assert engine.search(me, query).threshold == report.thresholds_after["default"]
        assert engine.reset_calibration(me)
        assert engine.search(me, query).threshold == report.thresholds_before["default"]
        with pytest.raises(InvalidRequest, match="too few") as caught:
            engine.calibrate(me, answered)
        assert caught.value.field == "labelled"


def test_errors_keep_their_class_text_and_field(folder: Path) -> None:
    with RemoteEngine(folder) as engine:
        me = engine.local_owner()
        with pytest.raises(InvalidRequest, match="limit must lie") as caught:
            engine.search(me, Query(text="x", limit=0))
        assert caught.value.field == "limit"
        with pytest.raises(NotFound, match="Memory not found"):
            engine.get(me, new_id())
        engine.create_space(me, "twice")
        with pytest.raises(Conflict, match="twice"):
            engine.create_space(me, "twice")


def test_the_verbs_are_not_there_over_tcp(folder: Path) -> None:
    with RemoteEngine(folder):
        url = json.loads((folder / HOST_FILE).read_text())["url"]
        assert httpx.post(f"{url}/host/local_owner", json={}).status_code == 404


def test_a_batch_through_the_socket_may_be_larger_than_a_body_over_tcp(folder: Path) -> None:
    note = "x" * (MAX_BODY_BYTES // 4)
    drafts = [NewMemory(content=f"Berth {number}", path="large", metadata={"note": note}) for number in range(5)]
    with RemoteEngine(folder) as engine:
        assert len(engine.remember_many(engine.local_owner(), drafts)) == 5


def test_clients_that_start_together_share_one_host(tmp_path: Path) -> None:
    def write(number: int) -> str:
        with RemoteEngine(tmp_path) as engine:
            return engine.remember(engine.local_owner(), NewMemory(content=f"note {number}")).memory.id

    with ThreadPoolExecutor(4) as pool:
        ids = set(pool.map(write, range(4)))
    with RemoteEngine(tmp_path) as engine:
        assert engine.list_memories(engine.local_owner(), ListQuery()).total == len(ids) == 4
    kill(tmp_path, signal.SIGTERM)


def test_a_killed_host_is_replaced_and_no_write_is_lost_or_doubled(folder: Path) -> None:
    with RemoteEngine(folder) as engine:
        me = engine.local_owner()
        before = engine.list_memories(me, ListQuery()).total
        for number in range(6):
            if number % 3 == 1:
                kill(folder)
            engine.remember(me, NewMemory(content=f"written around a crash, number {number}"))
        assert engine.list_memories(me, ListQuery()).total == before + 6
        assert engine.doctor().equal


def test_an_idle_host_ends_by_itself(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "cli.main",
        "serve",
        "--data-dir",
        str(tmp_path),
        "--port",
        "0",
        "--idle-exit",
        "1",
    ]
    ended = subprocess.run(command, timeout=60, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / HOST_FILE).exists()


def test_every_remote_verb_exists_on_the_engine_with_the_same_parameters() -> None:
    for name in wire.VERBS:
        sent = set(wire.verb(name).parameters)
        assert sent == set(wire.verb(name).arguments.model_fields)
        assert hasattr(Engine, name)
        assert hasattr(RemoteEngine, name)


def test_an_unknown_error_class_becomes_an_outage() -> None:
    assert isinstance(wire.error_of({"error": "KeyError", "message": "x"}), Unavailable)
    assert isinstance(wire.error_of({"error": "Path", "message": "x"}), MemvouchError)
