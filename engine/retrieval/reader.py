"""Reads without ranking: single records, versions, pages, spaces; and how often records are read."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from engine.domain.access import Principal, ReadableSpace, Scope
from engine.domain.memory import Memory, MemoryVersion
from engine.domain.outcome import Matches, Outcome, Page
from engine.domain.query import ListQuery, TimeOrder
from engine.errors import Forbidden, InvalidRequest, NotFound
from engine.retrieval.search import readable_spaces
from engine.store import access, filters, memories
from engine.store.database import Database
from engine.store.filters import ANY_LIVE

MAX_PAGE = 5000
NOT_FOUND = "Memory not found"


class Reader:
    """Authorised reads. Accesses are counted in memory and written by the keeper."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._accesses: Counter[str] = Counter()
        self._lock = threading.Lock()

    def spaces(self, principal: Principal) -> list[ReadableSpace]:
        _require_read(principal)
        with self._database.reading() as connection:
            return access.readable(connection, principal)

    def space(self, principal: Principal, ref: str) -> ReadableSpace:
        _require_read(principal)
        with self._database.reading() as connection:
            return access.resolve(connection, principal, [ref])[0]

    def get(self, principal: Principal, memory_id: str, now: datetime) -> Memory:
        """A live record of any kind; `NotFound` reads the same for missing and foreign."""
        _require_read(principal)
        with self._database.reading() as connection:
            memory = _live(connection, principal, memory_id, now)
        self.seen_ids([memory.id])
        return memory

    def versions(self, principal: Principal, memory_id: str, now: datetime) -> list[MemoryVersion]:
        _require_read(principal)
        with self._database.reading() as connection:
            return memories.versions(connection, _live(connection, principal, memory_id, now).id)

    def page(self, principal: Principal, query: ListQuery, now: datetime) -> Page:
        """A page; `next_offset` is `None` on the last one. `limit` is 1..5000."""
        _require_read(principal)
        if not 1 <= query.limit <= MAX_PAGE:
            raise InvalidRequest(f"limit must lie between 1 and {MAX_PAGE}", field="limit")
        if query.offset < 0:
            raise InvalidRequest("offset must not be negative", field="offset")
        with self._database.reading() as connection:
            spaces = readable_spaces(connection, principal, query.spaces)
            found, total = memories.page(
                connection,
                [each.space.id for each in spaces],
                filters.compile(query.filters),
                now,
                limit=query.limit,
                offset=query.offset,
                order_by=str(query.order_by),
                descending=query.order is TimeOrder.DESCENDING,
            )
        end = query.offset + len(found)
        return Page(memories=tuple(found), total=total, next_offset=end if end < total else None)

    def seen(self, outcome: Outcome) -> None:
        """Count the hits of an answer as accesses."""
        if isinstance(outcome, Matches):
            self.seen_ids([hit.memory.id for hit in outcome.hits])

    def seen_ids(self, memory_ids: Sequence[str]) -> None:
        with self._lock:
            self._accesses.update(memory_ids)

    def record_accesses(self, now: datetime) -> None:
        """Write the counted accesses down."""
        with self._lock:
            counted, self._accesses = self._accesses, Counter()
        if counted:
            with self._database.writing() as connection:
                memories.touch(connection, counted, now)


def _require_read(principal: Principal) -> None:
    if not principal.has(Scope.READ):
        raise Forbidden("this token lacks the scope memory:read")


def _live(connection: Connection, principal: Principal, memory_id: str, now: datetime) -> Memory:
    found = memories.authorized(connection, principal, [memory_id], ANY_LIVE, now)
    if memory_id not in found:
        raise NotFound(NOT_FOUND)
    return found[memory_id]
