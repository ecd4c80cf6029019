"""Notes of the write cases that break the index: rebuilt, made by another model, killed half way."""

from __future__ import annotations

import itertools
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.domain.memory import MemoryType, NewMemory
from engine.domain.outcome import Matches, NoMatch
from engine.domain.query import Query
from engine.errors import EmbedderMismatch, NotFound
from tests.field_cases.cases import Case, Row
from tests.field_cases.embedding_server import embedding_server
from tests.field_cases.engine_surface import EngineWorld
from tests.field_cases.facts import facts
from tests.field_cases.stage import Stage, procedure
from tests.field_cases.surface import Arrangement, Reply
from tests.shared_data import ROOT

ACTORS = {"ann": {"s1": "rw", "s2": "r"}, "bob": {"s3": "rw"}}
SPACES = ("s1", "s2", "s3")
PATHS = tuple(f"area{number % 4}/topic{number}" for number in range(20))
ROWS = 300
QUESTIONS = 3
FILTERS: tuple[Mapping[str, Any], ...] = (
    {},
    {"path_filter": "area1/%"},
    {"memory_type": "episodic"},
    {"path_filter": "%topic1_", "memory_type": "semantic"},
)


@procedure("B5-09")
def _a_rebuilt_index_answers_as_before(case: Case, stage: Stage) -> None:
    with stage.open() as surface:
        world = surface.world(SPACES, ACTORS, Arrangement.TEAMS)
        _fill(world)
        before = [_answer(world, *asked) for asked in _questions()]
    for folder in stage.folder.joinpath("data").glob("index*"):
        shutil.rmtree(folder)
    with stage.open() as surface:
        assert not surface.engine.doctor().equal
        surface.engine.reindex()
        assert surface.engine.doctor().equal
        world.engine = surface.engine
        after = [_answer(world, *asked) for asked in _questions()]
    for asked, old, new in zip(_questions(), before, after, strict=True):
        assert (old.status, old.ids) == (new.status, new.ids), asked
        confidences = [[shown.confidence for shown in reply.hits] for reply in (old, new)]
        assert confidences[0] == pytest.approx(confidences[1], abs=1e-3), asked
    assert {reply.status for reply in before} == {"ok", "no_match"}


@procedure("B5-10")
def _another_model_is_refused_by_name(case: Case, stage: Stage) -> None:
    with stage.open() as surface:
        surface.engine.remember(surface.engine.local_owner(), NewMemory(content="Doors close at nine."))
        bundled = surface.engine.embedder
    for dimension in (48, bundled.dimension):
        with (
            embedding_server(dimension) as server,
            pytest.raises(EmbedderMismatch) as refused,
            stage.open(embedder="openai:hashing", embedder_url=server.url),
        ):
            pass
        assert all(part in str(refused.value) for part in (bundled.id, "openai:hashing", "memvouch reindex"))


@procedure("B5-11")
def _a_kill_between_truth_and_index_is_repaired_at_the_next_start(case: Case, stage: Stage) -> None:
    content = "The tide gauge at pier four is read by hand on Tuesdays."
    with stage.open() as surface:
        surface.engine.local_owner()
    _run_until_killed(stage, "remember", content)
    with stage.open() as surface:
        engine, owner = surface.engine, surface.engine.local_owner()
        found = engine.search(owner, Query(text="tide gauge at pier four"))
        assert isinstance(found, Matches) and found.hits[0].memory.content == content
        assert engine.doctor().equal
    _run_until_killed(stage, "forget", found.hits[0].memory.id)
    with stage.open() as surface:
        engine, owner = surface.engine, surface.engine.local_owner()
        assert isinstance(engine.search(owner, Query(text="tide gauge at pier four")), NoMatch)
        with pytest.raises(NotFound):
            engine.get(owner, found.hits[0].memory.id)
        assert engine.doctor().equal


def _fill(world: EngineWorld) -> None:
    """Rows over all spaces, types and paths; every tenth has expired and every ninth is forgotten."""
    texts = facts(ROWS, QUESTIONS, seed=9).statements
    expired = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    types = [each.value for each in MemoryType]
    rows = [
        Row(
            ref=str(number),
            space=SPACES[number % len(SPACES)],
            fields={
                "content": text,
                "path": PATHS[number % len(PATHS)],
                "memory_type": types[number % len(types)],
                **({"expires_at": expired} if number % 10 == 7 else {}),
            },
        )
        for number, text in enumerate(texts)
    ]
    for number, record_id in enumerate(world.write(rows)):
        if number % 9 == 4 and number % 10 != 7:
            keeper = world.accounts.keeper_of(rows[number].space)
            world.engine.forget(keeper, record_id)


def _questions() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every question by both verbs, both actors and all filters."""
    asked = [text for text, _ in facts(ROWS, QUESTIONS, seed=9).answered]
    verbs = ("search_memory", "recall")
    for text, actor, verb, filters in itertools.product(asked, ACTORS, verbs, FILTERS):
        yield actor, verb, {"query": text, "limit": 10, **filters}


def _answer(world: EngineWorld, actor: str, verb: str, arguments: Mapping[str, Any]) -> Reply:
    reply = world.call(actor, verb, arguments)
    assert reply.status != "error", reply.text
    return reply


def _run_until_killed(stage: Stage, verb: str, argument: str) -> None:
    command = [sys.executable, "-m", "tests.field_cases.dying_writer", str(stage.folder / "data"), verb, argument]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
