"""Changing records that exist: update, forget, restore.

`forget` is soft (the row stays and can be restored), hard (the row and its versions go) or redact
(the text is replaced for good, the record stays with its place, type, status and times; its former
versions, metadata, provenance, source and key go). After each of them no surface returns the old text,
not one call later: the truth decides, and every read asks it. After the last two no table holds it
either; see `traces` for what was ingested.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from engine.domain.access import Principal, Scope
from engine.domain.memory import ForgetMode, Memory, MemoryPatch, Status, WriteStatus, Written
from engine.embedding.protocol import Embedder
from engine.errors import Conflict, InvalidRequest, NotFound
from engine.index.projection import Projection, project
from engine.store import audit, memories
from engine.store.database import Database
from engine.store.ids import parse_id
from engine.writing.applier import Applier, Change, count_and_index, count_out, counted
from engine.writing.drafts import check_content, check_json, check_path, check_share, check_time
from engine.writing.replay import Replay
from engine.writing.rights import NOT_FOUND, require_scope, writable_memory
from engine.writing.traces import REDACTED, erase

T = TypeVar("T")


class Changer:
    """Updates, forgets and restores single records."""

    def __init__(self, database: Database, embedder: Embedder, applier: Applier) -> None:
        self._database = database
        self._embedder = embedder
        self._applier = applier

    def update(
        self, principal: Principal, memory_id: str, patch: MemoryPatch, now: datetime, replay: Replay | None = None
    ) -> Memory:
        """The record after the patch, one version on; an empty patch changes nothing.

        Raises:
            NotFound: missing, deleted or foreign.
            Conflict: `expected_version` is not the present one.
        """
        require_scope(principal, Scope.WRITE)
        memory_id = parse_id(memory_id)
        with self._database.reading() as connection:
            if replay and (answer := replay.answer(connection, principal)):
                return answer[0].memory
            old = _visible(writable_memory(connection, principal, memory_id), now)
        new = _patched(old, patch, now)
        projection = project([new], self._embedder)[0]
        with self._applier.change() as (connection, change):
            if replay and (answer := replay.answer(connection, principal)):
                return answer[0].memory
            current = _visible(writable_memory(connection, principal, memory_id), now)
            if current.version != old.version:
                # Someone was faster: patch what is there now, and embed again if the text moved.
                new = _patched(current, patch, now)
                projection = project([new], self._embedder)[0]
            if new is not current:
                _swap(connection, change, current, new, projection)
                _audit(connection, principal, "update", new, now)
            if replay:
                replay.keep(connection, principal, [Written(new, WriteStatus.UPDATED)], now)
            return new

    def forget(
        self,
        principal: Principal,
        memory_id: str,
        mode: ForgetMode,
        now: datetime,
        *,
        reason: str | None = None,
        replacement: str | None = None,
    ) -> Memory | None:
        """The record as it now is, or `None` when it is gone for good.

        Raises:
            NotFound: missing or foreign; for a soft delete also one that is deleted already.
            Conflict: for a delete for good and a redaction: its source is still being taken in.
        """
        require_scope(principal, Scope.DELETE, Scope.WRITE)
        memory_id = parse_id(memory_id)
        if mode is ForgetMode.REDACT:
            return self._redact(principal, memory_id, replacement or REDACTED, now, reason)
        with self._applier.change() as (connection, change):
            old = writable_memory(connection, principal, memory_id)
            if mode is ForgetMode.SOFT and (old.status is Status.DELETED or _expired(old, now)):
                raise NotFound(NOT_FOUND)
            new = replace(old, status=Status.DELETED, updated_at=max(now, old.updated_at), version=old.version + 1)
            if mode is ForgetMode.SOFT:
                memories.replace(connection, old, new)
            else:
                erase(connection, change, self._embedder, old, now)
                if not memories.delete(connection, old.id):
                    raise NotFound(NOT_FOUND)
            if counted(old):
                count_out(connection, old)
            change.drop(old.id)
            _audit(connection, principal, mode.value, old, now, reason)
            return new if mode is ForgetMode.SOFT else None

    def restore(self, principal: Principal, memory_id: str, now: datetime) -> Memory:
        """A softly deleted record, back under its id; an active one is returned as it is.

        Raises:
            NotFound: missing, removed for good, or foreign.
            Conflict: it has expired; restoring it would not show it.
        """
        require_scope(principal, Scope.RESTORE, Scope.WRITE)
        memory_id = parse_id(memory_id)
        with self._database.reading() as connection:
            old = writable_memory(connection, principal, memory_id)
        if _expired(old, now):
            raise Conflict("that memory has expired; store it again instead")
        if old.status is not Status.DELETED:
            return old
        new = replace(old, status=Status.ACTIVE, updated_at=max(now, old.updated_at), version=old.version + 1)
        projection = project([new], self._embedder)[0]
        with self._applier.change() as (connection, change):
            current = writable_memory(connection, principal, memory_id)
            if current.version != old.version:
                raise Conflict("that memory changed at the same moment; try again")
            _swap(connection, change, current, new, projection)
            _audit(connection, principal, "restore", new, now)
            return new

    def _redact(
        self, principal: Principal, memory_id: str, replacement: str, now: datetime, reason: str | None
    ) -> Memory:
        check_content(replacement)
        with self._database.reading() as connection:
            old = writable_memory(connection, principal, memory_id)
        projection = project([replace(old, content=replacement)], self._embedder)[0]
        with self._applier.change() as (connection, change):
            current = writable_memory(connection, principal, memory_id)
            bare = replace(current, content=replacement, metadata={}, provenance={}, semantic_key=None, source=None)
            if bare == current and not memories.versions(connection, current.id):
                return current
            erase(connection, change, self._embedder, current, now)
            new = replace(
                bare,
                updated_at=max(now, current.updated_at),
                version=current.version + 1,
            )
            memories.redact(connection, current, new)
            count_and_index(connection, change, current, new, projection)
            _audit(connection, principal, ForgetMode.REDACT.value, new, now, reason)
            return new


def _swap(connection: Connection, change: Change, old: Memory, new: Memory, projection: Projection) -> None:
    memories.replace(connection, old, new)
    count_and_index(connection, change, old, new, projection)


def _audit(
    connection: Connection, principal: Principal, action: str, memory: Memory, now: datetime, reason: str | None = None
) -> None:
    detail = {"reason": reason} if reason else {}
    audit.append(connection, principal, action, now, target=memory.id, space_id=memory.space_id, detail=detail)


def _expired(memory: Memory, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= now


def _visible(memory: Memory, now: datetime) -> Memory:
    if memory.status is Status.DELETED or _expired(memory, now):
        raise NotFound(NOT_FOUND)
    return memory


def _patched(old: Memory, patch: MemoryPatch, now: datetime) -> Memory:
    if patch.expected_version is not None and patch.expected_version != old.version:
        raise Conflict(f"that memory is at version {old.version}, not {patch.expected_version}; read it again")
    if patch.status is Status.DELETED:
        raise InvalidRequest("use forget to delete a memory", field="status")
    metadata = old.metadata
    if patch.metadata is not None:
        given = check_json(patch.metadata, "metadata")
        metadata = {**old.metadata, **given} if patch.merge_metadata else given
    provenance = old.provenance
    if patch.provenance is not None:
        given = check_json(patch.provenance, "provenance")
        provenance = {**old.provenance, **given} if patch.merge_provenance else given
    expires_at = None if patch.clear_expiry else _or(check_time(patch.expires_at, "expires_at"), old.expires_at)
    new = replace(
        old,
        content=old.content if patch.content is None else check_content(patch.content),
        path=old.path if patch.path is None else check_path(patch.path),
        bucket=_or(patch.bucket, old.bucket),
        scope=_or(patch.scope, old.scope),
        memory_type=_or(patch.memory_type, old.memory_type),
        status=_or(patch.status, old.status),
        importance=_or(check_share(patch.importance, "importance"), old.importance),
        confidence=_or(check_share(patch.confidence, "confidence"), old.confidence),
        semantic_key=_or(patch.semantic_key, old.semantic_key),
        item_status=_or(patch.item_status, old.item_status),
        due_at=_or(check_time(patch.due_at, "due_at"), old.due_at),
        event_time=_or(check_time(patch.event_time, "event_time"), old.event_time),
        expires_at=expires_at,
        metadata=metadata,
        provenance=provenance,
    )
    if new == old:
        return old
    return replace(new, updated_at=max(now, old.updated_at), version=old.version + 1)


def _or(value: T | None, otherwise: T) -> T:
    return otherwise if value is None else value
