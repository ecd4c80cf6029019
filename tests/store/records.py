"""Records and places for the tests of the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from engine.domain.access import Principal
from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.store import memories
from engine.store.database import Database
from engine.store.ids import new_id

NOW = datetime(2026, 3, 14, 15, 9, 26, 535897, tzinfo=UTC)


@dataclass(frozen=True)
class House:
    """An open store with one owner and one space."""

    database: Database
    principal: Principal
    space_id: str

    def put(self, **fields: Any) -> Memory:
        """Store one record in the space."""
        record = memory(**{"space_id": self.space_id, **fields})
        with self.database.writing() as connection:
            memories.insert(connection, record)
        return record


_PLAIN = Memory(
    id="",
    space_id="",
    content="The kettle is descaled on Mondays.",
    path="kitchen",
    memory_type=MemoryType.SEMANTIC,
    kind=Kind.MEMORY,
    status=Status.ACTIVE,
    bucket="work",
    scope=None,
    team_id=None,
    importance=None,
    confidence=None,
    semantic_key=None,
    state_key=None,
    source=None,
    source_id=None,
    agent_id=None,
    agent_instance_hash=None,
    item_status=None,
    due_at=None,
    event_time=None,
    created_at=NOW,
    updated_at=NOW,
    expires_at=None,
    version=1,
    access_count=0,
    last_accessed_at=None,
    metadata={},
    provenance={},
)


def memory(**fields: Any) -> Memory:
    """A record with a new id and the given fields."""
    return replace(_PLAIN, **{"id": new_id(), **fields})
