"""Alembic migrations, run when a store is opened.

Alembic itself takes a third of a second to import, so a store that is up to date is recognised by
its stored revision alone.
"""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text

from engine.errors import SetupError

HEAD = "0004"
"""The newest revision in `versions`; a test compares."""

KNOWN = frozenset({"0001", "0003", HEAD})
"""Every revision that this version can bring up to `HEAD`."""


def revision(connection: Connection) -> str | None:
    """The revision of a store; `None` for a new one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection) -> None:
    """Bring a store up to `HEAD` inside the caller's write transaction.

    Raises `SetupError` for a store that a newer version wrote.
    """
    present = revision(connection)
    if present == HEAD:
        return
    if present is not None and present not in KNOWN:
        raise SetupError(f"This store was written by a newer Memvouch (revision {present}). Upgrade Memvouch.")
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "engine.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
