"""What was written, deleted or permitted, by whom and when. Rows are added and never changed.

The database itself refuses an update or a delete. Events of one request carry the id that its answer
carries (`answer_id`), so that a caller's receipt leads to what it did. No row holds a record's text
or a token's secret: an audit outlives what was forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from engine.domain.access import Principal
from engine.domain.memory import Status
from engine.store.ids import new_id
from engine.store.schema import audit, memories

answer_id: ContextVar[str | None] = ContextVar("memvouch_answer_id", default=None)
"""The id that the running request's answer carries; set by whoever serves requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One event. `target` is the id of what it was about; `detail` names fields, never their texts."""

    sequence: int
    id: str
    at: datetime
    tenant_id: str
    user_id: str
    token_id: str | None
    action: str
    target: str | None
    space_id: str | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """Something that was done to a record. `kind`, `path` and `content` are set while the record lives."""

    id: str
    at: datetime
    action: str
    user_id: str
    target: str | None
    space_id: str | None
    kind: str | None
    path: str | None
    content: str | None


def append(
    connection: Connection,
    principal: Principal,
    action: str,
    now: datetime,
    *,
    target: str | None = None,
    space_id: str | None = None,
    detail: Mapping[str, Any] | None = None,
    audit_id: str | None = None,
) -> str:
    """Add an event such as `memory.forget`; its id, which is `audit_id` if given."""
    row = _row(principal, action, now, target, space_id, detail) | ({"id": audit_id} if audit_id else {})
    connection.execute(sa.insert(audit), row)
    return str(row["id"])


def append_many(
    connection: Connection, principal: Principal, action: str, now: datetime, records: Iterable[tuple[str, str]]
) -> None:
    """Add one event for each record, given by its id and its space's, in this order."""
    rows = [_row(principal, action, now, target, space_id, None) for target, space_id in records]
    if rows:
        connection.execute(sa.insert(audit), rows)


def entries(
    connection: Connection,
    tenant_id: str,
    *,
    target: str | None = None,
    limit: int = 100,
    before_sequence: int | None = None,
) -> list[AuditEntry]:
    """Events of a tenant, newest first; `before_sequence` turns the page."""
    query = sa.select(audit).where(audit.c.tenant_id == tenant_id).order_by(audit.c.sequence.desc()).limit(limit)
    if target is not None:
        query = query.where(audit.c.target == target)
    if before_sequence is not None:
        query = query.where(audit.c.sequence < before_sequence)
    return [AuditEntry(**row._mapping) for row in connection.execute(query)]


def deeds(
    connection: Connection,
    tenant_id: str,
    space_ids: Collection[str],
    now: datetime,
    *,
    actions: Collection[str],
    kinds: Collection[str] | None = None,
    other_than: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 100,
) -> tuple[list[Deed], int]:
    """What was done in these spaces, newest first, and how much in all.

    `kinds` and the one kind `other_than` look at the record that it was done to; a record that is
    gone has none. The window is `[since, until)`.
    """
    gone = sa.or_(memories.c.status == Status.DELETED.value, memories.c.expires_at <= now)
    conditions = [
        audit.c.tenant_id == tenant_id,
        audit.c.space_id.in_(list(space_ids)),
        audit.c.action.in_(list(actions)),
    ]
    if kinds is not None:
        conditions.append(memories.c.kind.in_(list(kinds)))
    if other_than is not None:
        conditions.append(sa.or_(memories.c.kind.is_(None), memories.c.kind != other_than))
    if since is not None:
        conditions.append(audit.c.at >= since)
    if until is not None:
        conditions.append(audit.c.at < until)
    rows = sa.outerjoin(audit, memories, audit.c.target == memories.c.id)
    shown = [sa.case((gone, None), else_=memories.c[name]).label(name) for name in ("path", "content")]
    columns = [audit.c[name] for name in ("id", "at", "action", "user_id", "target", "space_id")]
    query = (
        sa.select(*columns, memories.c.kind, *shown)
        .select_from(rows)
        .where(*conditions)
        .order_by(audit.c.sequence.desc())
        .limit(limit)
    )
    total = connection.execute(sa.select(sa.func.count()).select_from(rows).where(*conditions)).scalar_one()
    return [Deed(**row._mapping) for row in connection.execute(query)], total


def _row(
    principal: Principal,
    action: str,
    now: datetime,
    target: str | None,
    space_id: str | None,
    detail: Mapping[str, Any] | None,
) -> dict[str, Any]:
    answering = answer_id.get()
    return {
        "id": new_id(),
        "at": now,
        "tenant_id": principal.tenant_id,
        "user_id": principal.user_id,
        "token_id": principal.token_id,
        "action": action,
        "target": target,
        "space_id": space_id,
        "detail": {**(detail or {}), **({"answer_id": answering} if answering else {})},
    }
