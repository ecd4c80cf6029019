"""Storing memories: new ones, repeated ones and new versions of known ones.

For every draft the first rule that applies decides:

1. same `Idempotency-Key`, caller and operation: the first answer again, nothing is written;
2. `id` names a record of the space: that record is updated;
3. `state_key` or `semantic_key` names a live record of the same space, bucket and scope: equal
   content is left alone, other content becomes its next version;
4. `dedupe` and an equal text (case, spacing and punctuation aside) lies at the same place: it is
   left alone;
5. otherwise a record is created.

The rules are asked twice: before embedding, to spare the work, and again inside the transaction,
where the answer counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from engine.domain.access import Principal, Scope
from engine.domain.memory import Memory, NewMemory, Status, WriteStatus, Written
from engine.embedding.protocol import Embedder
from engine.errors import Conflict, InvalidRequest
from engine.index.projection import Projection, project
from engine.store import audit, memories, namesakes
from engine.store.database import Database
from engine.store.namesakes import Name
from engine.text.folding import path_key
from engine.writing.applier import Applier, Change, count_in, count_out, counted
from engine.writing.drafts import build
from engine.writing.replay import Replay
from engine.writing.rights import require_scope, writable_spaces

BATCH_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class _Draft:
    """A draft with its space and the record that it would create."""

    new: NewMemory
    record: Memory
    name: Name | None
    """By what the record that the draft is about is found; `None` if by its id, or if it is a new one."""

    @classmethod
    def of(cls, new: NewMemory, record: Memory) -> _Draft:
        here = (record.space_id, record.bucket, record.scope)
        name = None
        if new.id is None and new.state_key is not None:
            name = namesakes.by_state_key(*here, new.state_key)
        elif new.id is None and new.semantic_key is not None:
            name = namesakes.by_semantic_key(*here, new.semantic_key)
        elif new.id is None and new.dedupe:
            name = namesakes.by_content(*here, record.path, record.content)
        return cls(new, record, name)


class Rememberer:
    """Writes drafts, one by one or many in one transaction."""

    def __init__(self, database: Database, embedder: Embedder, applier: Applier) -> None:
        self._database = database
        self._embedder = embedder
        self._applier = applier

    def remember(
        self, principal: Principal, news: Sequence[NewMemory], now: datetime, replay: Replay | None = None
    ) -> list[Written]:
        """Write all drafts or none; answers stand in the order of the drafts.

        Raises:
            InvalidRequest, ContentTooLarge: a draft is at fault; nothing was written.
            NotFound, Forbidden: a space that the caller may not write to.
            Conflict: an idempotency key was used before for something else, or an id is taken.
        """
        require_scope(principal, Scope.WRITE)
        if len(news) > BATCH_LIMIT:
            raise InvalidRequest(f"at most {BATCH_LIMIT} memories can be written at once")
        drafts, unchanged = self._prepare(principal, news, now, replay)
        if unchanged is not None:
            return unchanged
        projections = {
            draft.record.id: projection
            for draft, projection in zip(
                drafts, project([draft.record for draft in drafts], self._embedder), strict=True
            )
        }
        with self._applier.change() as (connection, change):
            if replay and (answer := replay.answer(connection, principal)) is not None:
                return answer
            batch = _Batch(connection, change, drafts, now)
            written = [self._write(batch, draft, projections[draft.record.id], now) for draft in drafts]
            batch.insert()
            _audit(connection, principal, written, now)
            if replay:
                replay.keep(connection, principal, written, now)
            return written

    def _prepare(
        self, principal: Principal, news: Sequence[NewMemory], now: datetime, replay: Replay | None
    ) -> tuple[list[_Draft], list[Written] | None]:
        with self._database.reading() as connection:
            if replay and (answer := replay.answer(connection, principal)) is not None:
                return [], answer
            spaces = writable_spaces(connection, principal, [new.space for new in news])
            drafts = [
                _Draft.of(new, build(new, space, principal, now)) for new, space in zip(news, spaces, strict=True)
            ]
            stored = _Stored(connection, drafts, now)
            found = [stored.about(draft) for draft in drafts]
            same = [old for old, draft in zip(found, drafts, strict=True) if old is not None and _same(old, draft)]
            if replay is None and len(same) == len(drafts):
                return [], [Written(old, WriteStatus.UNCHANGED) for old in same]
        return drafts, None

    def _write(self, batch: _Batch, draft: _Draft, projection: Projection, now: datetime) -> Written:
        old = batch.about(draft)
        record = draft.record
        if old is None:
            if record.id in batch.known:
                # The id belongs to another space, perhaps a foreign one: say no more than "taken".
                raise Conflict("that id cannot be used; leave it out or choose another")
            batch.add(record, projection)
            return Written(record, WriteStatus.CREATED)
        if _same(old, draft):
            return Written(old, WriteStatus.UNCHANGED)
        new = _next_version(old, record, now)
        batch.replace(old, new, projection)
        return Written(new, WriteStatus.UPDATED)


class _Stored:
    """The records that drafts are about, looked up together."""

    def __init__(self, connection: Connection, drafts: Sequence[_Draft], now: datetime) -> None:
        self.connection = connection
        ids = {draft.record.id for draft in drafts if draft.new.id is not None}
        self.known = memories.get_many(connection, ids) if ids else {}
        self._now = now
        self._named = {draft.name for draft in drafts if draft.name is not None}
        self._found = namesakes.find(connection, self._named, now)

    def about(self, draft: _Draft) -> Memory | None:
        """The record that a draft is about, as it was when it was looked up."""
        if draft.new.id is not None:
            old = self.known.get(draft.record.id)
            return old if old is not None and old.space_id == draft.record.space_id else None
        return None if draft.name is None else self._found.get(draft.name)


class _Batch(_Stored):
    """The writes of one transaction; new records are gathered and inserted together."""

    def __init__(self, connection: Connection, change: Change, drafts: Sequence[_Draft], now: datetime) -> None:
        super().__init__(connection, drafts, now)
        self._change = change
        self._fresh: dict[str, tuple[Memory, Projection]] = {}
        self._moved: set[Name] = set()

    def about(self, draft: _Draft) -> Memory | None:
        """The same, after what earlier drafts of the batch have written."""
        if draft.name is None or draft.name not in self._moved:
            return super().about(draft)
        self.insert()
        return namesakes.find(self.connection, [draft.name], self._now).get(draft.name)

    def add(self, record: Memory, projection: Projection) -> None:
        self._fresh[record.id] = (record, projection)
        self.known[record.id] = record
        self._move(record)

    def replace(self, old: Memory, new: Memory, projection: Projection) -> None:
        self.insert()
        memories.replace(self.connection, old, new)
        if counted(old):
            count_out(self.connection, old)
        count_in(self.connection, [(new, projection.terms)])
        self._change.write(_moved(projection, new))
        self.known[new.id] = new
        self._move(old, new)

    def insert(self) -> None:
        """Write what was gathered, so that the next look-up sees it."""
        if not self._fresh:
            return
        records = [record for record, _ in self._fresh.values()]
        memories.insert_many(self.connection, records)
        count_in(self.connection, [(record, projection.terms) for record, projection in self._fresh.values()])
        for _, projection in self._fresh.values():
            self._change.write(projection)
        self._fresh.clear()

    def _move(self, *written: Memory) -> None:
        """Note names that have to be looked up again."""
        if self._named:
            self._moved.update(*map(namesakes.of, written))


def _same(old: Memory, draft: _Draft) -> bool:
    """Whether writing the draft over `old` would change nothing that a reader sees."""
    if draft.new.state_key is not None or old.status is not Status.ACTIVE:
        return False
    if draft.new.id is None and draft.new.semantic_key is None:
        return True
    return old.content == draft.record.content and path_key(old.path) == path_key(draft.record.path)


def _next_version(old: Memory, record: Memory, now: datetime) -> Memory:
    merged: Mapping[str, object] = {**old.metadata, **record.metadata}
    return replace(
        record,
        id=old.id,
        created_at=old.created_at,
        updated_at=max(now, old.updated_at),
        version=old.version + 1,
        semantic_key=record.semantic_key or old.semantic_key,
        access_count=old.access_count,
        last_accessed_at=old.last_accessed_at,
        metadata=record.metadata if record.state_key else merged,
    )


def _moved(projection: Projection, record: Memory) -> Projection:
    """The projection of a draft, carried over to the record that it became a version of."""
    points = tuple(
        replace(point, record_id=record.id, created_at=record.created_at, updated_at=record.updated_at)
        for point in projection.points
    )
    return Projection(record.id, points, projection.terms)


def _audit(connection: Connection, principal: Principal, written: Sequence[Written], now: datetime) -> None:
    changed = [each.memory for each in written if each.status is not WriteStatus.UNCHANGED]
    audit.append_many(connection, principal, "remember", now, [(memory.id, memory.space_id) for memory in changed])
