"""The seam between the engine and Qdrant: a small protocol over a neutral query model.

A *point* is one passage of one record, with a dense and a sparse (lexical) vector. Results are
grouped by record: a record's score is that of its best passage. Scores are the plain dot product
of the query vector with the stored one (dense vectors are unit length, so that is the cosine; no
IDF modifier on the sparse side: the space's own IDF is in the query's weights).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.embedding.protocol import Vectors


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term hashes (uint32, distinct) and their weights, aligned."""

    indices: NDArray[np.uint32]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One passage as the index holds it. Keys ending in `_key` are folded (see `engine.text`)."""

    record_id: str
    space_id: str
    ordinal: int
    start: int
    end: int
    dense: Vectors
    lexical: SparseVector
    path_key: str
    memory_type: str
    kind: str
    status: str
    bucket: str
    scope: str | None
    team_id: str | None
    source: str | None
    source_id: str | None
    agent_id: str | None
    item_status: str | None
    created_at: datetime
    updated_at: datetime
    event_time: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFilter:
    """A conjunction that is evaluated inside every leg. `None` means no condition.

    `path_keys` is an exact set (patterns were resolved in SQL). `alive_at` keeps records without
    expiry or with `expires_at` strictly later. Ranges are half-open.
    """

    space_id: str
    alive_at: datetime
    path_keys: frozenset[str] | None = None
    memory_types: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    statuses: frozenset[str] | None = None
    bucket: str | None = None
    scope: str | None = None
    team_id: str | None = None
    source: str | None = None
    source_id: str | None = None
    agent_id: str | None = None
    item_status: str | None = None
    time_axis: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    record_ids: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class IndexHit:
    """Best passage of one record."""

    record_id: str
    score: float
    ordinal: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What `doctor` compares with the store."""

    engine: str
    points: int
    path: str
    capabilities: frozenset[str] = field(default_factory=frozenset)


class Index(Protocol):
    """Operations on the index. All raise `IndexUnavailable` when the engine behind does not answer.

    Writes are visible to the next read of any thread. `flush` makes them safe against power loss.
    """

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; the same (record, ordinal) overwrites."""

    def delete_records(self, record_ids: Sequence[str]) -> None:
        """Remove every point of these records; unknown ids are fine."""

    def delete_space(self, space_id: str) -> None:
        """Remove every point of a space."""

    def replace_records(self, record_ids: Sequence[str], points: Sequence[Point]) -> None:
        """Delete all points of `record_ids`, then upsert `points` (records may shrink)."""

    def search_dense(self, vector: Vectors, where: IndexFilter, limit: int) -> list[IndexHit]:
        """The `limit` records with the highest cosine, best first, ties by record id."""

    def search_lexical(self, vector: SparseVector, where: IndexFilter, limit: int) -> list[IndexHit]:
        """The `limit` records with the highest score, only scores > 0, best first, ties by record id."""

    def sample_vectors(self, space_id: str, alive_at: datetime, limit: int) -> Vectors:
        """Up to `limit` dense vectors of the space, shape (n, dimension); a stable, arbitrary choice.

        Of points whose record is active and has not expired at `alive_at`.
        """

    def record_ids(self, space_id: str | None = None) -> set[str]:
        """All record ids that have points."""

    def info(self) -> IndexInfo: ...

    def flush(self) -> None: ...

    def optimize(self) -> None:
        """Reclaim deleted points if that is cheap; never rebuilds a graph in the serving process."""

    def close(self) -> None: ...
