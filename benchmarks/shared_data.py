"""The evaluation sets: where they lie, and what they hold.

A set is a folder with `memories.jsonl` and `queries.jsonl`. A query is asked only against the
memories of its own space; without gold records it expects no match, of tier A (subject absent), B
(detail absent) or C (a matter of policy, not scored). The sets are not part of this project: the
environment variable `MEMVOUCH_SHARED` names the folder that holds them, `../shared` by default.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

NOT_ENGLISH = frozenset({"jsquad_ja", "memdaily_zh", "xquad"})
"""Sets whose memories are mostly in other languages; targets speak of the others."""

RANKS = 10
"""Ranks that a prediction shows; the scorer looks at ten at most."""

Row: TypeAlias = dict[str, Any]
"""One prediction: `dataset, query_id, mode (strict, recall), status, hits` and, in strict mode, `candidates`."""

Advance: TypeAlias = Callable[[int], None]
"""Told how many memories were stored, or queries answered, since it was last called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """One memory of a set. `time` is aware (a set's naive times count as UTC) or `None`."""

    id: str
    space: str
    text: str
    path: str | None
    time: datetime | None
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One query of a set, with the ids that answer it."""

    id: str
    space: str
    text: str
    gold: frozenset[str]
    tier: str | None


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """One set, whole or narrowed to some queries and the spaces that they need."""

    name: str
    memories: tuple[StoredText, ...]
    queries: tuple[Asked, ...]

    def by_space(self) -> dict[str, list[StoredText]]:
        """The memories of every space, in order."""
        spaces: dict[str, list[StoredText]] = {}
        for memory in self.memories:
            spaces.setdefault(memory.space, []).append(memory)
        return spaces

    def narrowed(self, limit: int | None) -> EvaluationSet:
        """`limit` queries drawn evenly and always alike, with all memories of their spaces."""
        if limit is None or limit >= len(self.queries):
            return self
        chosen = set(random.Random(20260101).sample(range(len(self.queries)), limit))
        queries = tuple(query for place, query in enumerate(self.queries) if place in chosen)
        spaces = {query.space for query in queries}
        return EvaluationSet(self.name, tuple(each for each in self.memories if each.space in spaces), queries)


def shared_folder() -> Path:
    """The folder named by `MEMVOUCH_SHARED`, else `shared` beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    return Path(os.environ.get("MEMVOUCH_SHARED") or beside)


def set_names(data: Path) -> list[str]:
    """All sets in `data`, by name. Raises `FileNotFoundError` if there are none."""
    names = sorted(path.parent.name for path in data.glob("*/queries.jsonl"))
    if not names:
        raise FileNotFoundError(f"{data} holds no evaluation sets; name their folder with --data or MEMVOUCH_SHARED")
    return names


def load(data: Path, name: str) -> EvaluationSet:
    """Read one set whole."""
    return EvaluationSet(
        name,
        tuple(_stored(row) for row in _rows(data / name / "memories.jsonl")),
        tuple(_asked(row) for row in _rows(data / name / "queries.jsonl")),
    )


def batches(items: Sequence[StoredText], size: int) -> Iterator[Sequence[StoredText]]:
    """Runs of at most `size` items, in order."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _stored(row: Mapping[str, Any]) -> StoredText:
    return StoredText(
        id=row["id"],
        space=row["space"],
        text=row["text"],
        path=row.get("path"),
        time=_time(row.get("time")),
        attributes={key: row[key] for key in ("type", "time") if row.get(key)},
    )


def _asked(row: Mapping[str, Any]) -> Asked:
    return Asked(id=row["id"], space=row["space"], text=row["query"], gold=frozenset(row["gold"]), tier=row.get("tier"))


def _time(value: str | None) -> datetime | None:
    """An ISO 8601 time; one written otherwise stays an attribute."""
    if not value:
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
