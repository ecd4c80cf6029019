"""Record ids: UUIDv7 (RFC 9562, section 5.7), ascending within a process.

Layout: 48 bits of Unix time in milliseconds, 4 bits version, 12 bits counter, 2 bits variant,
62 random bits. The counter starts at a random value below 2048 in each new millisecond and is
incremented inside one (method 1 of section 6.2); when it runs over, or the clock steps back, the
last millisecond is carried on, so ids never descend.
"""

from __future__ import annotations

import re
import secrets
import time
import uuid
from threading import Lock

from engine.errors import InvalidIdentifier

_COUNTER_LIMIT = 1 << 12
_COUNTER_START_LIMIT = 1 << 11
_FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}", re.IGNORECASE)


class _Sequence:
    """The process-wide position: the last millisecond that was used and its counter."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._millisecond = 0
        self._counter = 0

    def next(self) -> tuple[int, int]:
        """Millisecond and counter of the next id; the pair is higher than any before it."""
        with self._lock:
            now = time.time_ns() // 1_000_000
            if now > self._millisecond:
                self._millisecond, self._counter = now, secrets.randbelow(_COUNTER_START_LIMIT)
            elif self._counter + 1 < _COUNTER_LIMIT:
                self._counter += 1
            else:
                self._millisecond, self._counter = self._millisecond + 1, secrets.randbelow(_COUNTER_START_LIMIT)
            return self._millisecond, self._counter


_sequence = _Sequence()


def new_id() -> str:
    """A fresh UUIDv7 in its canonical lower-case form, higher than every one made before here."""
    millisecond, counter = _sequence.next()
    number = (millisecond & (1 << 48) - 1) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=number))


def parse_id(text: str) -> str:
    """The canonical lower-case form of a UUID of any version, given with hyphens or as 32 hex digits.

    Raises `InvalidIdentifier` for everything else.
    """
    trimmed = text.strip()
    if not _FORM.fullmatch(trimmed):
        raise InvalidIdentifier("An id must be a UUID such as 0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b.", field="id")
    return str(uuid.UUID(trimmed))
