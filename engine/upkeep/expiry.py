"""Removing what has expired.

Reads never show an expired record: every query compares `expires_at` with its own clock. The sweep
only cleans up behind that. A record with an end was meant to go, so it goes for good: row, former
versions, statistics and points.
"""

from __future__ import annotations

from datetime import datetime

from engine.store import memories
from engine.store.database import Database
from engine.writing.applier import Applier, count_out, counted

BATCH = 500


def sweep_expired(database: Database, applier: Applier, now: datetime) -> int:
    """Remove what has expired by `now`. Returns how many records."""
    swept = 0
    while True:
        with database.reading() as connection:
            if not memories.expired_ids(connection, now, BATCH):
                return swept
        with applier.change() as (connection, change):
            expired = memories.get_many(connection, memories.expired_ids(connection, now, BATCH))
            for memory in expired.values():
                # Deleted first: where several replicas sweep one store, only one of them counts it out.
                if memories.delete(connection, memory.id) and counted(memory):
                    count_out(connection, memory)
                change.drop(memory.id)
            swept += len(expired)
