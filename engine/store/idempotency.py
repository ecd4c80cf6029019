"""Answers of writes that carried a key, so that a repeated write gets the first answer again.

An entry belongs to one actor and one operation. The caller computes the `fingerprint` of a request
(what must be equal for it to be the same request) and chooses what of the answer is kept; ids
rather than texts, since a text that is forgotten later must not come back from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from engine.errors import Conflict
from engine.store.columns import digest
from engine.store.database import hold
from engine.store.schema import idempotency_keys
from engine.store.upsert import insert_into


def remembered(
    connection: Connection, actor: str, operation: str, key: str, fingerprint: str
) -> Mapping[str, Any] | None:
    """The stored answer, or `None` for a new key. Raises `Conflict` if the key came with another request.

    In a write transaction a second request with the same key waits here until this one ends.
    """
    hold(connection, "idempotency", actor, operation, key)
    table = idempotency_keys.c
    query = sa.select(table.fingerprint, table.response).where(
        table.actor == actor, table.operation == operation, table.key_digest == digest(key)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    if row.fingerprint != fingerprint:
        raise Conflict("This idempotency key was used for another request.")
    response: Mapping[str, Any] = row.response
    return response


def store(
    connection: Connection,
    actor: str,
    operation: str,
    key: str,
    fingerprint: str,
    response: Mapping[str, Any],
    now: datetime,
) -> None:
    """Keep the answer of a request, in the place of an older one whose records are gone for good."""
    upsert = insert_into(connection, idempotency_keys)
    newer = {name: upsert.excluded[name] for name in ("fingerprint", "response", "created_at")}
    connection.execute(
        upsert.on_conflict_do_update(index_elements=["actor", "operation", "key_digest"], set_=newer),
        {
            "actor": actor,
            "operation": operation,
            "key_digest": digest(key),
            "fingerprint": fingerprint,
            "response": dict(response),
            "created_at": now,
        },
    )


def drop_before(connection: Connection, moment: datetime) -> int:
    """Forget answers older than `moment`; how many they were."""
    result = connection.execute(sa.delete(idempotency_keys).where(idempotency_keys.c.created_at < moment))
    return result.rowcount
