"""The owner token of a data folder: made on the first run, kept in a file that only its owner reads.

A file that no longer holds a valid token (revoked, expired, of another store) is replaced; a valid
one is left alone, so clients that were set up with it go on working.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from engine.domain.access import ALL_SCOPES
from engine.errors import StoreUnavailable, Unauthenticated
from engine.store import spaces, tokens
from engine.store.database import Database

OWNER_TOKEN_FILE = "owner.token"  # noqa: S105  a file name
OWNER_TOKEN_NAME = "owner"  # noqa: S105  a token's name


def owner_token(database: Database, data_dir: Path) -> str:
    """The secret of the owner token; written to `owner.token` (mode 0600) if it is not there yet."""
    path = data_dir / OWNER_TOKEN_FILE
    now = datetime.now(UTC)
    kept = read_owner_token(data_dir)
    if kept is not None:
        with database.reading() as connection:
            try:
                tokens.authenticate(connection, kept, now)
            except Unauthenticated:
                kept = None
    if kept is not None:
        return kept
    with database.writing() as connection:
        owner = spaces.ensure_owner(connection, now)
        issued = tokens.create(
            connection,
            tenant_id=owner.tenant_id,
            user_id=owner.user_id,
            name=OWNER_TOKEN_NAME,
            now=now,
            scopes=ALL_SCOPES,
            default_space_id=owner.space.id,
        )
        _write_private(path, issued.secret)
    return issued.secret


def read_owner_token(data_dir: Path) -> str | None:
    """The secret in the folder's `owner.token`, if there is one."""
    try:
        return (data_dir / OWNER_TOKEN_FILE).read_text(encoding="ascii").strip() or None
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    except OSError as error:
        raise StoreUnavailable(f"The owner token cannot be read: {error.strerror}.") from error


def _write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600 in one step, so that nobody ever reads half of it."""
    draft = path.with_suffix(".new")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"The owner token cannot be written: {error.strerror}.") from error
