"""Same idempotency key, same answer.

The key is scoped to the caller and the operation. What is compared is a fingerprint of the parts
that make it the same request for a person: content, path and target. Fields that a client fills in
differently when it sends a queued write again (unset against empty, defaults against nothing) are
no part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from engine.domain.access import Principal
from engine.domain.memory import Memory, Status, WriteStatus, Written
from engine.errors import InvalidRequest
from engine.store import access, idempotency, memories

KEY_LIMIT_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class Replay:
    """The idempotency of one request."""

    operation: str
    key: str
    fingerprint: str

    @classmethod
    def of(cls, operation: str, key: str | None, *parts: object) -> Replay | None:
        """`None` without a key. `parts` are what makes two requests the same."""
        if key is None or not key.strip():
            return None
        if len(key) > KEY_LIMIT_CHARACTERS:
            raise InvalidRequest(
                f"idempotency key is longer than {KEY_LIMIT_CHARACTERS} characters", field="idempotency_key"
            )
        text = json.dumps([part or None for part in parts], ensure_ascii=False, sort_keys=True, default=str)
        return cls(operation, key.strip(), hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())

    def answer(self, connection: Connection, principal: Principal) -> list[Written] | None:
        """The first answer, with the records as they now are; `None` if the key is new.

        Raises `Conflict` when the key was used for something else. A record that was removed for
        good since, or that the caller may not write to any more, makes the request count as new:
        it is then allowed or refused like any other.
        """
        kept = idempotency.remembered(connection, _actor(principal), self.operation, self.key, self.fingerprint)
        if kept is None:
            return None
        found = memories.get_many(connection, [each["id"] for each in kept["written"]])
        writable = {each.space.id for each in access.readable(connection, principal) if each.can_write}
        if any(each["id"] not in found or found[each["id"]].space_id not in writable for each in kept["written"]):
            return None
        return [Written(_as_readable(found[each["id"]]), WriteStatus(each["status"])) for each in kept["written"]]

    def keep(self, connection: Connection, principal: Principal, written: Sequence[Written], now: datetime) -> None:
        """Remember the answer; part of the write's own transaction."""
        answer = {"written": [{"id": each.memory.id, "status": each.status.value} for each in written]}
        idempotency.store(connection, _actor(principal), self.operation, self.key, self.fingerprint, answer, now)


def _as_readable(memory: Memory) -> Memory:
    """The record without its text once it was forgotten: a repeated key must not bring the text back."""
    return replace(memory, content="", metadata={}) if memory.status is Status.DELETED else memory


def _actor(principal: Principal) -> str:
    return principal.token_id or principal.user_id
