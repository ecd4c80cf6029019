"""Answers of deletes that carried an idempotency key, so that a repeat gets the first one again.

A delete is safe to repeat: the second one finds nothing to delete. But it would answer with an error
about its own first success. The answer is kept after the change, in a
transaction of its own; if a crash comes between the two, the repeat gets that error after all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.domain.access import Principal
from engine.store import idempotency
from engine.store.database import Database


class Answers:
    """What was answered under which key. A key belongs to one caller and one operation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def first(self, principal: Principal, operation: str, key: str, *parts: str | None) -> Mapping[str, Any] | None:
        """The answer that was kept; `None` for a new key. Raises `Conflict` if `parts` differ from the first time."""
        with self._database.reading() as connection:
            return idempotency.remembered(connection, _actor(principal), operation, key, _fingerprint(parts))

    def keep(
        self, principal: Principal, operation: str, key: str, answer: Mapping[str, Any], *parts: str | None
    ) -> None:
        """Keep an answer, unless a request at the same moment has kept the same one."""
        fingerprint, actor = _fingerprint(parts), _actor(principal)
        with self._database.writing() as connection:
            if idempotency.remembered(connection, actor, operation, key, fingerprint) is None:
                idempotency.store(connection, actor, operation, key, fingerprint, answer, datetime.now(UTC))


def _actor(principal: Principal) -> str:
    return principal.token_id or principal.user_id


def _fingerprint(parts: tuple[str | None, ...]) -> str:
    return hashlib.sha256("\0".join(part or "" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()
