"""Single values that the store remembers about itself."""

from __future__ import annotations

from sqlalchemy import Connection, select

from engine.store.schema import meta
from engine.store.upsert import insert_into


def get(connection: Connection, key: str) -> str | None:
    """The value of a key, or `None`."""
    return connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar_one_or_none()


def put(connection: Connection, key: str, value: str) -> None:
    """Set the value of a key."""
    upsert = insert_into(connection, meta)
    connection.execute(
        upsert.on_conflict_do_update(index_elements=["key"], set_={"value": upsert.excluded.value}),
        {"key": key, "value": value},
    )
