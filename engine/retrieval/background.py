"""What a space looks like as a whole: the background against which evidence is judged.

Totals and document frequencies come from the store on every query (primary-key reads). The sample
of the space's vectors is kept in memory and taken again when the space has grown or shrunk by a
quarter.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from engine.embedding.protocol import Vectors
from engine.index.protocol import Index
from engine.retrieval.evidence.features import SpaceView, nearest_neighbours
from engine.store import terms

SAMPLE_SIZE = 512
_REFRESH_RATIO = 1.25


@dataclass(frozen=True, slots=True)
class _Sample:
    vectors: Vectors
    neighbours: tuple[float, float]
    records: int


class Backgrounds:
    """Per-space views, with the samples cached."""

    def __init__(self, index: Callable[[], Index]) -> None:
        self._index = index
        self._samples: dict[str, _Sample] = {}
        self._lock = threading.Lock()

    def view(self, connection: Connection, space_id: str, wanted: Iterable[str], now: datetime) -> SpaceView:
        """The space's statistics for the terms of a query."""
        totals = terms.totals(connection, space_id)
        sample = self._sample(space_id, totals.records, now)
        return SpaceView(
            records=totals.records,
            average_length=totals.length / totals.records if totals.records else 0.0,
            document_frequency=terms.document_frequencies(connection, space_id, list(wanted)),
            sample=sample.vectors,
            neighbours=sample.neighbours,
        )

    def forget(self, space_id: str) -> None:
        """Drop the cached sample of a space that was removed or rebuilt."""
        with self._lock:
            self._samples.pop(space_id, None)

    def clear(self) -> None:
        """Drop all cached samples, after a reindex."""
        with self._lock:
            self._samples.clear()

    def _sample(self, space_id: str, records: int, now: datetime) -> _Sample:
        with self._lock:
            known = self._samples.get(space_id)
        if known is None or not _alike(known.records, records):
            vectors = self._index().sample_vectors(space_id, now, SAMPLE_SIZE)
            known = _Sample(vectors, nearest_neighbours(vectors), records)
            with self._lock:
                self._samples[space_id] = known
        return known


def idf(view: SpaceView, term: str) -> float:
    """`ln(1 + (N - df + 0.5) / (df + 0.5))`: never negative, highest for a term no record has."""
    frequency = view.document_frequency.get(term, 0)
    return math.log(1 + max(view.records - frequency + 0.5, 0.5) / (frequency + 0.5))


def _alike(before: int, after: int) -> bool:
    low, high = sorted((before, after))
    return high <= max(low * _REFRESH_RATIO, low + 1) if low < 64 else high <= low * _REFRESH_RATIO
