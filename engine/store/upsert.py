"""`INSERT ... ON CONFLICT`, which SQLite and PostgreSQL share and SQLAlchemy spells once for each."""

from __future__ import annotations

from typing import TypeAlias

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

Upsert: TypeAlias = postgresql.Insert | sqlite.Insert


def insert_into(connection: Connection, table: Table) -> Upsert:
    """An `Insert` of the connection's dialect, with `on_conflict_do_update` and `excluded`."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)
