"""The reference index: the protocol in plain Python and numpy, for tests.

It scans everything on every call and keeps nothing on disk. It shares no filter code with the
adapters, so that the contract suite compares two independent readings of `IndexFilter`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from engine.domain.memory import Status
from engine.embedding.protocol import Vectors
from engine.errors import IndexUnavailable
from engine.index.points import best_by_record, check_dense, check_lexical, check_limit, check_points, point_id
from engine.index.protocol import IndexFilter, IndexHit, IndexInfo, Point, SparseVector

_EXACT_FIELDS = ("bucket", "scope", "team_id", "source", "source_id", "agent_id", "item_status")
_TIME_AXES = ("created_at", "updated_at", "event_time")


class InMemoryIndex:
    """An `Index` that lives in one dictionary. Safe for threads; gone when the process ends."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._points: dict[str, Point] = {}
        self._lock = threading.Lock()
        self._closed = False

    def upsert(self, points: Sequence[Point]) -> None:
        check_points(points, self._dimension)
        with self._lock:
            self._require_open()
            self._points.update({point_id(point.record_id, point.ordinal): point for point in points})

    def delete_records(self, record_ids: Sequence[str]) -> None:
        gone = frozenset(record_ids)
        self._delete(lambda point: point.record_id in gone)

    def delete_space(self, space_id: str) -> None:
        self._delete(lambda point: point.space_id == space_id)

    def replace_records(self, record_ids: Sequence[str], points: Sequence[Point]) -> None:
        check_points(points, self._dimension)
        self.delete_records(record_ids)
        self.upsert(points)

    def search_dense(self, vector: Vectors, where: IndexFilter, limit: int) -> list[IndexHit]:
        query = _unit(check_dense(vector, self._dimension))
        return self._search(lambda point: float(query @ _unit(point.dense)), where, limit)

    def search_lexical(self, vector: SparseVector, where: IndexFilter, limit: int) -> list[IndexHit]:
        check_lexical(vector)
        weights = dict(zip(vector.indices.tolist(), vector.values.tolist(), strict=True))

        def score(point: Point) -> float:
            terms = zip(point.lexical.indices.tolist(), point.lexical.values.tolist(), strict=True)
            return math.fsum(weights.get(index, 0.0) * value for index, value in terms)

        return self._search(score, where, limit, only_positive=True)

    def sample_vectors(self, space_id: str, alive_at: datetime, limit: int) -> Vectors:
        live = {
            key: point
            for key, point in self._snapshot().items()
            if point.space_id == space_id
            and point.status == Status.ACTIVE
            and (point.expires_at is None or point.expires_at > alive_at)
        }
        rows = [_unit(live[key].dense) for key in sorted(live)[:limit]]
        return np.stack(rows) if rows else np.empty((0, self._dimension), dtype=np.float32)

    def record_ids(self, space_id: str | None = None) -> set[str]:
        points = self._snapshot().values()
        return {point.record_id for point in points if space_id is None or point.space_id == space_id}

    def info(self) -> IndexInfo:
        return IndexInfo(engine="memory", points=len(self._snapshot()), path=":memory:")

    def flush(self) -> None:
        self._snapshot()

    def optimize(self) -> None:
        self._snapshot()

    def close(self) -> None:
        with self._lock:
            self._closed = True

    def _search(
        self, score: Callable[[Point], float], where: IndexFilter, limit: int, *, only_positive: bool = False
    ) -> list[IndexHit]:
        check_limit(limit)
        hits = [
            IndexHit(point.record_id, score(point), point.ordinal, point.start, point.end)
            for point in self._snapshot().values()
            if matches(point, where)
        ]
        return best_by_record(hit for hit in hits if hit.score > 0 or not only_positive)[:limit]

    def _delete(self, gone: Callable[[Point], bool]) -> None:
        with self._lock:
            self._require_open()
            self._points = {key: point for key, point in self._points.items() if not gone(point)}

    def _snapshot(self) -> dict[str, Point]:
        with self._lock:
            self._require_open()
            return dict(self._points)

    def _require_open(self) -> None:
        if self._closed:
            raise IndexUnavailable("the index is closed")


def matches(point: Point, where: IndexFilter) -> bool:
    """Whether a point meets every condition. Raises `ValueError` for a window without a time axis."""
    return (
        point.space_id == where.space_id
        and (point.expires_at is None or point.expires_at > where.alive_at)
        and _is_in(point.path_key, where.path_keys)
        and _is_in(point.memory_type, where.memory_types)
        and _is_in(point.kind, where.kinds)
        and _is_in(point.status, where.statuses)
        and _is_in(point.record_id, where.record_ids)
        and all(getattr(where, name) in (None, getattr(point, name)) for name in _EXACT_FIELDS)
        and _is_within(point, where)
    )


def _is_in(value: str, allowed: frozenset[str] | None) -> bool:
    return allowed is None or value in allowed


def _is_within(point: Point, where: IndexFilter) -> bool:
    if where.since is None and where.until is None:
        return True
    if where.time_axis not in _TIME_AXES:
        raise ValueError(f"a time window needs one of {_TIME_AXES} as its axis, not {where.time_axis!r}")
    moment: datetime | None = getattr(point, where.time_axis)
    if moment is None:
        return False
    return (where.since is None or where.since <= moment) and (where.until is None or moment < where.until)


def _unit(vector: Vectors) -> Vectors:
    length = float(np.linalg.norm(vector))
    return vector if length == 0.0 else (vector / length).astype(np.float32)
