"""Column types that mean the same on SQLite and PostgreSQL.

Times are whole microseconds since 1970 in a 64-bit integer: exact, ordered and indexed alike on
both. Keys compare by code point (PostgreSQL: collation "C"), so that orders, ranges and LIKE do
not depend on a server's locale. PostgreSQL refuses an index entry of more than about 2,700 bytes;
whatever may be longer is therefore indexed by a digest of fixed size.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Dialect, Integer, Text
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DIGEST_BYTES = 16

KeyText = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that is looked up or ordered by code point."""

Sequence = BigInteger().with_variant(Integer(), "sqlite")
"""A number that the database hands out in ascending order."""


def to_microseconds(moment: datetime) -> int:
    """Whole microseconds since the epoch. Raises `ValueError` for a naive time."""
    if moment.tzinfo is None:
        raise ValueError("a stored time must carry its zone")
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(value: int) -> datetime:
    """The UTC time that `to_microseconds` was given."""
    return _EPOCH + timedelta(microseconds=value)


class Moment(TypeDecorator[datetime]):
    """An aware time, stored as whole microseconds since the epoch and returned in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else to_microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else from_microseconds(value)


def digest(*parts: str | None) -> str:
    """128 bits of BLAKE2b over the parts as 32 hex digits; `None` and `""` differ, boundaries count."""
    state = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        if part is None:
            state.update(b"\x00")
        else:
            encoded = part.encode("utf-8")
            state.update(b"\x01%d:" % len(encoded) + encoded)
    return state.hexdigest()
