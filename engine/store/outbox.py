"""Records that the index has to look at again.

A write appends its record ids in its own transaction. Whoever applies them re-reads each record from
the store, writes or removes its points, and clears the rows once the index has made that durable.
Applying a row twice, or late, does no harm: what counts is the record as it is when it is re-read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select

from engine.store.schema import memories, outbox

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One pending record; `sequence` ascends in the order of appending."""

    sequence: int
    record_id: str


def append(connection: Connection, record_ids: Iterable[str]) -> list[int]:
    """Ask for these records. Returns the rows' sequences, ascending, to clear them by."""
    rows = [{"record_id": record_id} for record_id in record_ids]
    if not rows:
        return []
    # Asked for in the order of the records, SQLite would insert them one by one.
    return sorted(connection.execute(insert(outbox).returning(outbox.c.sequence), rows).scalars())


def append_space(connection: Connection, space_id: str) -> None:
    """Ask for every record of a space."""
    ids = select(memories.c.id).where(memories.c.space_id == space_id).order_by(memories.c.id)
    connection.execute(insert(outbox).from_select(["record_id"], ids))


def pending(connection: Connection, limit: int, after: int = 0) -> list[OutboxRow]:
    """Up to `limit` rows with a sequence above `after`, oldest first.

    On PostgreSQL a lower sequence may be committed after a higher one: start again from 0 to see it.
    """
    query = select(outbox).where(outbox.c.sequence > after).order_by(outbox.c.sequence).limit(limit)
    return [OutboxRow(row.sequence, row.record_id) for row in connection.execute(query)]


def claim(connection: Connection, limit: int) -> list[OutboxRow]:
    """Like `pending`, but rows that another transaction has claimed are skipped until it ends."""
    query = select(outbox).order_by(outbox.c.sequence).limit(limit).with_for_update(skip_locked=True)
    return [OutboxRow(row.sequence, row.record_id) for row in connection.execute(query)]


def clear(connection: Connection, sequences: Sequence[int]) -> None:
    """Remove these rows; unknown ones are fine."""
    for start in range(0, len(sequences), _CHUNK):
        chunk = sequences[start : start + _CHUNK]
        connection.execute(delete(outbox).where(outbox.c.sequence.in_(chunk)))


def count(connection: Connection) -> int:
    """How many rows wait."""
    return connection.execute(select(func.count()).select_from(outbox)).scalar_one()
