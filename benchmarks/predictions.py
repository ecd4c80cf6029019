"""The engine's answers to an evaluation set, in the form that the scorer reads.

A fresh engine in a folder of its own stores the set's memories through `remember_many`, a space of
the set in a space of the engine, and is asked every query twice: strictly with `explain`, whose
trace gives the candidates, and forgivingly.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.shared_data import RANKS, Advance, EvaluationSet, Row, StoredText, batches
from engine.domain.access import Principal
from engine.domain.memory import DEFAULT_PATH, NewMemory
from engine.domain.outcome import Matches, Outcome
from engine.domain.query import Mode, Query
from engine.engine import Engine
from engine.settings import Settings

BATCH = 200


def predict(evaluation: EvaluationSet, advance: Advance) -> Iterator[Row]:
    """Two rows for every query of the set, strict first. Settings are the environment's, folder apart."""
    with (
        tempfile.TemporaryDirectory(prefix="memvouch-quality-") as folder,
        Engine.open(Settings(data_dir=Path(folder))) as engine,
    ):
        owner = engine.local_owner()
        names = store(engine, owner, evaluation, advance)
        for query in evaluation.queries:
            for mode in (Mode.STRICT, Mode.FORGIVING):
                asked = Query(
                    text=query.text, mode=mode, limit=RANKS, spaces=(query.space,), explain=mode is Mode.STRICT
                )
                yield _row(evaluation.name, query.id, mode, engine.search(owner, asked), names)
            advance(1)


def store(engine: Engine, owner: Principal, evaluation: EvaluationSet, advance: Advance) -> dict[str, str]:
    """Store everything; returns the set's id of every engine id."""
    names: dict[str, str] = {}
    for space, memories in evaluation.by_space().items():
        engine.create_space(owner, space)
        for batch in batches(memories, BATCH):
            written = engine.remember_many(owner, [_draft(memory) for memory in batch])
            names |= {each.memory.id: memory.id for each, memory in zip(written, batch, strict=True)}
            advance(len(batch))
    return names


def _draft(memory: StoredText) -> NewMemory:
    return NewMemory(
        content=memory.text,
        path=memory.path or DEFAULT_PATH,
        space=memory.space,
        event_time=memory.time,
        created_at=memory.time,
        metadata=dict(memory.attributes),
    )


def _row(dataset: str, query_id: str, mode: Mode, outcome: Outcome, names: Mapping[str, str]) -> Row:
    hits = outcome.hits if isinstance(outcome, Matches) else ()
    row: Row = {
        "dataset": dataset,
        "query_id": query_id,
        "mode": "strict" if mode is Mode.STRICT else "recall",
        "status": "ok" if hits else "no_match",
        "hits": _scored(names, ((hit.memory.id, hit.confidence) for hit in hits)),
    }
    if mode is Mode.STRICT:
        row["candidates"] = _scored(names, ((each.memory_id, each.confidence) for each in outcome.trace))
    return row


def _scored(names: Mapping[str, str], found: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"id": names[memory_id], "confidence": round(confidence, 6)} for memory_id, confidence in found]
