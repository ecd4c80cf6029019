"""The one place where a driver's failure becomes an error of ours.

A store that does not answer (connection refused, disk full, still locked after the wait) is
`StoreUnavailable`; a damaged file is `CorruptData`; a value that the database cannot hold is
`InvalidRequest`; a serialization failure or a deadlock is `StoreUnavailable` too, since trying
again may help. Anything else, such as a faulty statement, is a defect of ours and passes as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from engine.errors import CorruptData, InvalidRequest, MemvouchError, StoreUnavailable
from engine.store.turnstile import TurnTimeoutError

_SQLITE_PRIMARY_CODE = 0xFF
_SQLITE_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_SQLITE_OURS = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE}
_POSTGRES_LIMIT_EXCEEDED = "54"


@contextmanager
def translated() -> Iterator[None]:
    """Run a block; raise this package's errors instead of the driver's."""
    try:
        yield
    except TurnTimeoutError as error:
        raise StoreUnavailable("The store is busy: other writes did not end in time.") from error
    except exc.TimeoutError as error:
        raise StoreUnavailable("The store is busy: no connection became free in time.") from error
    except exc.DBAPIError as error:
        ours = _translate(error)
        if ours is None:
            raise
        raise ours from error
    except UnicodeEncodeError as error:
        raise InvalidRequest("The text holds half of a surrogate pair and cannot be stored.") from error


def _translate(error: exc.DBAPIError) -> MemvouchError | None:
    reason = str(error.orig).strip().partition("\n")[0] or type(error.orig).__name__
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        primary = code & _SQLITE_PRIMARY_CODE
        if primary in _SQLITE_DAMAGED:
            return CorruptData(f"The store's file is damaged ({reason}). Restore it from a backup.")
        if primary in _SQLITE_OURS:
            return None
    if isinstance(error, exc.DataError):
        return InvalidRequest("A value cannot be stored, such as a NUL character or a number out of range.")
    if (getattr(error.orig, "sqlstate", None) or "").startswith(_POSTGRES_LIMIT_EXCEEDED):
        return InvalidRequest("A value is too long for the store.")
    if isinstance(error, exc.OperationalError | exc.InterfaceError | exc.InternalError):
        return StoreUnavailable(f"The store does not answer: {reason}")
    return None
