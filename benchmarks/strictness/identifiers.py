"""Identifier lookups by real calls: codes and command names that are stored, and ones that are not.

A fresh engine stores the records; strict search is asked at the default settings. Field cases count
where only reads follow the rows and a question names an identifier.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import predictions
from benchmarks.shared_data import Asked, EvaluationSet, StoredText, load
from benchmarks.strictness.sheet import Cell, Sheet
from engine.domain.access import Principal
from engine.domain.outcome import Matches
from engine.domain.query import Mode, Query
from engine.engine import Engine
from engine.retrieval.evidence.question import understand
from engine.settings import Settings

SHOWN = 5
READS = frozenset({"search_memory", "recall"})

LOOKUPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ts_diagnostics": {
        "code": ("exact_code", "absent_code"),
        "code in a Chinese question": ("exact_code_zh", "absent_code_zh"),
        "number of a code, in a question": ("exact_code_number",),
    },
    "tldr_pages": {
        "command name": ("exact_command_name", "absent_command_name"),
        "command line": ("exact_command_line", "absent_command_line"),
    },
}
"""Kinds of questions by set and by what they ask with."""


@dataclass(slots=True)
class Tally:
    """Questions with an answer and how many got it among the first five; questions without and how many got any."""

    present: int = 0
    found: int = 0
    absent: int = 0
    matched: int = 0

    def count(self, gold: frozenset[str], shown: Sequence[str]) -> None:
        """Add one question by what strict search showed."""
        if gold:
            self.present += 1
            self.found += bool(gold & set(shown[:SHOWN]))
        else:
            self.absent += 1
            self.matched += bool(shown)

    def row(self, title: str) -> list[Cell]:
        hits = self.found / self.present if self.present else None
        rate = self.matched / self.absent if self.absent else None
        return [title, self.present or None, hits, self.absent or None, rate]


def lookups(shared: Path) -> Sheet:
    """Strict hit@5 of what is stored and false-match rate of what is not, by kind of lookup."""
    rows = []
    for name, kinds in LOOKUPS.items():
        tallies = _tallies(load(shared / "data", name), _kinds(shared / "data" / name / "queries.jsonl"), kinds)
        rows += [tally.row(f"{name}: {title}") for title, tally in tallies.items()]
    rows.append(_field_cases(shared / "cases" / "field-cases.jsonl").row("field cases: identifier in the question"))
    return Sheet("identifiers", ("lookup", "present", "strict hit@5", "absent", "FMR"), rows)


def _tallies(
    whole: EvaluationSet, kind_of: Mapping[str, str], kinds: Mapping[str, tuple[str, ...]]
) -> dict[str, Tally]:
    title_of = {kind: title for title, members in kinds.items() for kind in members}
    tallies = {title: Tally() for title in kinds}
    with _engine() as (engine, owner):
        names = predictions.store(engine, owner, whole, lambda _: None)
        for query in whole.queries:
            if title := title_of.get(kind_of[query.id]):
                tallies[title].count(query.gold, [names[each] for each in _ask(engine, owner, query)])
    return tallies


def _field_cases(path: Path) -> Tally:
    tally = Tally()
    with _engine() as (engine, owner):
        for case in _rows(path):
            if questions := list(_identifier_questions(case)):
                memories = tuple(_stored(case["id"], row) for row in case["store"])
                names = predictions.store(engine, owner, EvaluationSet(case["id"], memories, ()), lambda _: None)
                for query in questions:
                    tally.count(query.gold, [names[each] for each in _ask(engine, owner, query)])
    return tally


def _identifier_questions(case: Mapping[str, Any]) -> Iterator[Asked]:
    """The strict questions of a case whose rows are written once and only read, if they name an identifier."""
    steps = [case, *case.get("then", ())]
    plain = case["store"] and "actors" not in case and not any("repeat" in row for row in case["store"])
    if not plain or any(step["do"] not in READS for step in steps):
        return
    for step in steps:
        text = step["args"].get("query", "")
        if step["do"] == "search_memory" and text and understand(text, np.zeros(1, np.float32)).identifiers:
            gold = frozenset({step["expect"]["first"]} if step["expect"]["status"] == "ok" else ())
            yield Asked(id="", space=case["id"], text=text, gold=gold, tier=None)


def _stored(space: str, row: Mapping[str, Any]) -> StoredText:
    return StoredText(id=row["ref"], space=space, text=row["content"], path=row.get("path"), time=None, attributes={})


def _ask(engine: Engine, owner: Principal, query: Asked) -> list[str]:
    asked = Query(text=query.text, mode=Mode.STRICT, limit=SHOWN, spaces=(query.space,))
    outcome = engine.search(owner, asked)
    return [hit.memory.id for hit in outcome.hits] if isinstance(outcome, Matches) else []


@contextmanager
def _engine() -> Iterator[tuple[Engine, Principal]]:
    with (
        tempfile.TemporaryDirectory(prefix="memvouch-identifiers-") as folder,
        Engine.open(Settings(data_dir=Path(folder))) as engine,
    ):
        yield engine, engine.local_owner()


def _kinds(path: Path) -> dict[str, str]:
    return {row["id"]: row["kind"] for row in _rows(path)}


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
