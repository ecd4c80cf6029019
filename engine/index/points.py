"""What every index shares about points: ids, checks, and how hits are grouped by record.

A point id is the UUIDv5 of record id and ordinal, so that writing a passage again overwrites it and
a write that is repeated after a crash changes nothing. Ids are spread evenly, therefore the first
`n` points in id order are a fair sample of a space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from uuid import UUID, uuid5

import numpy as np

from engine.embedding.protocol import Vectors
from engine.index.protocol import IndexHit, Point, SparseVector

BATCH = 500
"""Most points or ids that go into one call of an engine."""

_Item = TypeVar("_Item")
_POINT_NAMESPACE = UUID("5f0f3b0e-6d0c-5c0e-9a57-8e3f7f1f2a61")


def point_id(record_id: str, ordinal: int) -> str:
    """The id of passage `ordinal` of a record: a lower-case UUID, the same for ever."""
    return str(uuid5(_POINT_NAMESPACE, f"{record_id}#{ordinal}"))


def check_dense(vector: Vectors, dimension: int) -> Vectors:
    """The vector as contiguous float32 of shape `(dimension,)`.

    Raises `ValueError` for another shape and for NaN or infinity: the engine behind would store
    those without a word and answer nonsense later.
    """
    checked = np.ascontiguousarray(vector, dtype=np.float32)
    if checked.shape != (dimension,):
        raise ValueError(f"a dense vector has shape {checked.shape}, the index holds ({dimension},)")
    if not np.isfinite(checked).all():
        raise ValueError("a dense vector holds NaN or infinity")
    return checked


def check_lexical(vector: SparseVector) -> SparseVector:
    """The vector itself. Raises `ValueError` if it is not aligned, not distinct or not finite."""
    if vector.indices.shape != vector.values.shape or vector.indices.ndim != 1:
        raise ValueError("indices and values of a sparse vector are not aligned")
    if np.unique(vector.indices).size != vector.indices.size:
        raise ValueError("a sparse vector names an index twice")
    if not np.isfinite(vector.values).all():
        raise ValueError("a sparse vector holds NaN or infinity")
    return vector


def batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """The items in order, at most `BATCH` at a time."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def check_points(points: Sequence[Point], dimension: int) -> None:
    """Check vectors and times of all points before the first is written. Raises `ValueError`."""
    for point in points:
        check_dense(point.dense, dimension)
        check_lexical(point.lexical)
        for moment in (point.created_at, point.updated_at, point.event_time, point.expires_at):
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"a time of record {point.record_id} has no time zone")


def check_limit(limit: int) -> None:
    """Raises `ValueError` unless `limit` is at least 1."""
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")


def best_by_record(hits: Iterable[IndexHit]) -> list[IndexHit]:
    """One hit per record, that of its best passage; best first, ties by record id.

    Of equally good passages of one record the first in the text is kept.
    """
    best: dict[str, IndexHit] = {}
    for hit in hits:
        known = best.get(hit.record_id)
        if known is None or (-hit.score, hit.ordinal) < (-known.score, known.ordinal):
            best[hit.record_id] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.record_id))
