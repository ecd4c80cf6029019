"""Notes of the write cases: idempotency, failures between truth and index, rebuilding, and residue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from engine.domain.access import Principal
from engine.domain.memory import ForgetMode, Memory, MemoryPatch, NewMemory, WriteStatus, Written
from engine.domain.outcome import Matches, NoMatch
from engine.domain.query import Query
from engine.engine import Engine
from engine.errors import Unavailable
from engine.store.schema import metadata
from tests.field_cases.cases import Case, resolved
from tests.field_cases.embedding_server import embedding_server
from tests.field_cases.runner import Played
from tests.field_cases.stage import Stage, beyond, procedure

MARKER = "zorblaquint"
SENDERS = 20


@beyond("B5-04")
def _the_reply_says_that_it_was_known(played: Played, stage: Stage) -> None:
    assert played.replies[0].facts["status"] == WriteStatus.UNCHANGED.value


@beyond("B5-05")
def _twenty_parallel_writes_and_one_after_a_restart_are_one(played: Played, stage: Stage) -> None:
    step = played.case.steps[0]
    given = {key: value for key, value in resolved(dict(step.arguments), {}).items() if key != "idempotency_key"}
    key, new = step.arguments["idempotency_key"], NewMemory(**{**given, "space": None})

    def send(engine: Engine, owner: Principal) -> Written:
        return engine.remember(owner, new, idempotency_key=key)

    with stage.open() as surface, ThreadPoolExecutor(SENDERS) as senders:
        owner = surface.engine.local_owner()
        written = list(senders.map(lambda _: send(surface.engine, owner), range(SENDERS)))
    with stage.open() as surface:
        owner = surface.engine.local_owner()
        written.append(send(surface.engine, owner))
        assert len({one.memory.id for one in written}) == 1
        assert surface.engine.doctor().records == 1


@procedure("B5-08")
def _a_failing_embedder_never_gives_a_plain_ok(case: Case, stage: Stage) -> None:
    new = NewMemory(content="The stand-by generator is tested on the first Sunday.", path="site/power")
    with (
        embedding_server(48) as server,
        stage.open(embedder="openai:hashing", embedder_url=server.url) as surface,
    ):
        engine, owner = surface.engine, surface.engine.local_owner()
        engine.remember(owner, NewMemory(content="The lift is serviced in March.", path="site/lift"))
        server.failing = True
        with pytest.raises(Unavailable):
            engine.remember(owner, new)
        with pytest.raises(Unavailable):
            engine.search(owner, Query(text="flights to the moon in winter"))
        assert engine.doctor().records == 1
        server.failing = False
        written = engine.remember(owner, new)
        outcome = engine.search(owner, Query(text=new.content))
        assert isinstance(outcome, Matches) and outcome.hits[0].memory.id == written.memory.id
        assert engine.doctor().equal


@procedure("B5-12")
def _every_door_out_leaves_the_same_behind(case: Case, stage: Stage) -> None:
    """What stays by design is the row behind `restore` after a soft delete; no search reaches it."""
    with stage.open() as surface:
        engine, owner = surface.engine, surface.engine.local_owner()
        residue = {}
        for door in ("hard", "space", "redact", "soft", "expiry"):
            engine.create_space(owner, door)
            written = [_marked(engine, owner, door, number) for number in range(5)]
            _leave_by(door, engine, owner, written)
            assert isinstance(engine.search(owner, Query(text=MARKER)), NoMatch), door
            residue[door] = _tables_with_marker(engine)
            assert engine.doctor().indexed == 5 * (door == "redact"), door
            for memory in written:
                if door in {"redact", "soft"}:
                    engine.forget(owner, memory.id, ForgetMode.HARD)
            assert not _tables_with_marker(engine), door
    assert residue == {
        "hard": set(),
        "space": set(),
        "redact": set(),
        "soft": {"memories", "memory_versions"},
        "expiry": set(),
    }
    files = [path for path in stage.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if MARKER.encode() in path.read_bytes()]


def _marked(engine: Engine, owner: Principal, space: str, number: int) -> Memory:
    """A record whose every version holds the marker."""
    content = f"{MARKER} {number} is written on the lid."
    written = engine.remember(owner, NewMemory(content=content, space=space, path=f"box/{number}"))
    return engine.update(owner, written.memory.id, MemoryPatch(content=f"{MARKER} {number} is on the base."))


def _leave_by(door: str, engine: Engine, owner: Principal, written: list[Memory]) -> None:
    if door == "space":
        engine.delete_space(owner, door)
        return
    for memory in written:
        if door == "expiry":
            past = datetime.now(UTC) - timedelta(seconds=1)
            engine.update(owner, memory.id, MemoryPatch(expires_at=past))
        else:
            mode = {"hard": ForgetMode.HARD, "redact": ForgetMode.REDACT, "soft": ForgetMode.SOFT}[door]
            engine.forget(owner, memory.id, mode)
    engine.sweep_expired()


def _tables_with_marker(engine: Engine) -> set[str]:
    with engine.database.reading() as connection:
        return {
            table.name
            for table in metadata.sorted_tables
            if any(MARKER[:-2] in repr(row).casefold() for row in connection.execute(select(table)))
        }
