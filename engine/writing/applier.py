"""One write, from the transaction to the index.

    prepare (embed)  ->  lock { transaction: truth, terms, outbox, audit  ->  index }  ->  answer

Embedding is slow and happens before the lock. Inside it the transaction commits and the same
change is applied to the index, so that two writes to one record reach the index in the order in
which they reached the truth. If the index fails after the commit, the write stands: its outbox
row stays and is applied again, by the keeper or at the next start.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from sqlalchemy import Connection

from engine.domain.memory import Memory, Status
from engine.errors import IndexUnavailable
from engine.index.projection import Projection, TermStatistics, statistics
from engine.index.protocol import Index
from engine.store import outbox, terms
from engine.store.database import Database

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Change:
    """What one transaction did, collected for the index: records to write and records to drop."""

    written: dict[str, Projection] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def write(self, projection: Projection) -> None:
        self.dropped.discard(projection.record_id)
        self.written[projection.record_id] = projection

    def drop(self, record_id: str) -> None:
        self.written.pop(record_id, None)
        self.dropped.add(record_id)


def counted(memory: Memory) -> bool:
    """Whether a record takes part in its space's statistics and has points in the index."""
    return memory.status is not Status.DELETED


class Applier:
    """Serialises writes of this process and keeps truth, statistics and index in step."""

    def __init__(self, database: Database, index: Index) -> None:
        self._database = database
        self.index = index
        self.mirror: Index | None = None
        """A second index that gets every change too, while it is being filled."""
        self._lock = threading.RLock()
        self._applied: list[int] = []
        self.unapplied = threading.Event()
        """Set when an outbox row could not be applied and the keeper must try again."""

    @contextmanager
    def change(self) -> Iterator[tuple[Connection, Change]]:
        """A transaction and its change. On leaving: commit, then apply to the index."""
        with self._lock:
            change = Change()
            with self._database.writing() as connection:
                yield connection, change
                touched = sorted(change.written.keys() | change.dropped)
                sequences = outbox.append(connection, touched) if touched else []
            if touched:
                self._apply(change, sequences)

    def _apply(self, change: Change, sequences: Sequence[int]) -> None:
        try:
            for index in filter(None, (self.index, self.mirror)):
                _write(index, change)
        except IndexUnavailable as error:
            # The truth is committed; answering with an error would invite a second write.
            log.warning("index_apply_failed", records=len(sequences), error=str(error))
            self.unapplied.set()
            return
        self._applied.extend(sequences)

    def flush(self) -> int:
        """Make applied changes safe against power loss, then forget their outbox rows. Returns how many."""
        with self._lock:
            sequences, self._applied = self._applied, []
        if not sequences:
            return 0
        try:
            self.index.flush()
            with self._database.writing() as connection:
                outbox.clear(connection, sequences)
        except BaseException:
            with self._lock:
                self._applied = sequences + self._applied
            raise
        return len(sequences)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No write is under way in this block."""
        with self._lock:
            yield


def _write(index: Index, change: Change) -> None:
    if change.dropped:
        index.delete_records(sorted(change.dropped))
    if change.written:
        points = [point for projection in change.written.values() for point in projection.points]
        index.replace_records(list(change.written), points)


def count_and_index(connection: Connection, change: Change, old: Memory, new: Memory, projection: Projection) -> None:
    """Let statistics and index follow from one state of a record to the next."""
    if counted(old):
        count_out(connection, old)
    if counted(new):
        count_in(connection, [(new, projection.terms)])
        change.write(projection)
    else:
        change.drop(new.id)


def count_in(connection: Connection, found: Sequence[tuple[Memory, TermStatistics]]) -> None:
    """Add records to the statistics of their spaces."""
    by_space: dict[str, list[tuple[Mapping[str, int], int]]] = {}
    for memory, statistics_of in found:
        by_space.setdefault(memory.space_id, []).append((statistics_of.counts, statistics_of.length))
    for space_id, counts in by_space.items():
        terms.add(connection, space_id, counts)


def count_out(connection: Connection, memory: Memory) -> None:
    """Take a record out of its space's statistics; its terms are analysed again, not stored."""
    found = statistics(memory.content, memory.path)
    terms.remove(connection, memory.space_id, [(found.counts, found.length)])
