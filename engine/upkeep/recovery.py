"""What a start has to finish: outbox rows that the last process left behind.

A row means that a record may differ between truth and index. The truth is read, projected and
written to the index again; doing so twice does no harm. Rows whose changes had reached the index
before a crash look the same and cost one embedding each.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from engine.domain.memory import Memory, Status
from engine.embedding.protocol import Embedder
from engine.index.projection import project
from engine.index.protocol import Index
from engine.store import memories, outbox
from engine.store.database import Database

BATCH = 256


def replay_outbox(database: Database, index: Index, embedder: Embedder, now: datetime) -> int:
    """Apply all pending rows, flush, clear them. Returns the number of rows."""
    done = 0
    after = 0
    while True:
        with database.reading() as connection:
            rows = outbox.pending(connection, BATCH, after)
            record_ids = list(dict.fromkeys(row.record_id for row in rows))
            live = _live(connection, record_ids, now)
        if not rows:
            return done
        gone = [record_id for record_id in record_ids if record_id not in live]
        if gone:
            index.delete_records(gone)
        if live:
            points = [point for each in project(list(live.values()), embedder) for point in each.points]
            index.replace_records(list(live), points)
        index.flush()
        after = rows[-1].sequence
        with database.writing() as connection:
            outbox.clear(connection, [row.sequence for row in rows])
        done += len(rows)


def _live(connection: Connection, record_ids: list[str], now: datetime) -> dict[str, Memory]:
    found = memories.get_many(connection, record_ids)
    return {record_id: memory for record_id, memory in found.items() if indexed(memory, now)}


def indexed(memory: Memory, now: datetime) -> bool:
    """Whether the index should hold points of this record."""
    return memory.status is not Status.DELETED and (memory.expires_at is None or memory.expires_at > now)
