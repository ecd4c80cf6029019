"""What was written, deleted or permitted, by whom and when. Rows are added and never changed.

The database itself refuses an update or a delete. No row holds a record's text or a token's secret:
an audit outlives what was forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from engine.domain.access import Principal
from engine.store.ids import new_id
from engine.store.schema import audit


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
    entry_id = audit_id or new_id()
    connection.execute(
        sa.insert(audit),
        {
            "id": entry_id,
            "at": now,
            "tenant_id": principal.tenant_id,
            "user_id": principal.user_id,
            "token_id": principal.token_id,
            "action": action,
            "target": target,
            "space_id": space_id,
            "detail": dict(detail or {}),
        },
    )
    return entry_id


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
