"""The distinct paths of a space, with the number of records that lie at each.

`memories` keeps the counts as it writes. A path pattern is resolved here once, so that the index
can apply it as an exact set.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, delete, func, select, update

from engine.store.columns import digest
from engine.store.filters import StoreFilter, path_conditions, pattern_condition
from engine.store.schema import space_paths
from engine.store.upsert import insert_into
from engine.text.patterns import Pattern


def matching_path_keys(connection: Connection, space_id: str, pattern: Pattern) -> frozenset[str]:
    """Folded paths of the space that a pattern matches."""
    query = select(space_paths.c.path_key).where(
        space_paths.c.space_id == space_id, pattern_condition(pattern, space_paths.c.path_key)
    )
    return frozenset(connection.execute(query).scalars())


def admitted_path_keys(connection: Connection, space_id: str, where: StoreFilter) -> frozenset[str] | None:
    """Folded paths of the space that the whole filter admits; `None` if it sets no condition on paths."""
    if not where.limits_paths:
        return None
    query = select(space_paths.c.path_key).where(
        space_paths.c.space_id == space_id, *path_conditions(where, space_paths.c.path_key)
    )
    return frozenset(connection.execute(query).scalars())


def count(connection: Connection, space_id: str) -> int:
    """How many distinct paths the space has."""
    query = select(func.count()).select_from(space_paths).where(space_paths.c.space_id == space_id)
    return connection.execute(query).scalar_one()


def shift(connection: Connection, changes: Mapping[tuple[str, str], int]) -> None:
    """Change the number of records at (space id, path key) by the given differences."""
    more = {place: change for place, change in sorted(changes.items()) if change > 0}
    less = {place: change for place, change in sorted(changes.items()) if change < 0}
    if more:
        upsert = insert_into(connection, space_paths)
        total = space_paths.c.records + upsert.excluded.records
        connection.execute(
            upsert.on_conflict_do_update(index_elements=["space_id", "path_digest"], set_={"records": total}),
            [
                {"space_id": space_id, "path_digest": digest(key), "path_key": key, "records": change}
                for (space_id, key), change in more.items()
            ],
        )
    if less:
        here = (space_paths.c.space_id == bindparam("of_space")) & (space_paths.c.path_digest == bindparam("of_path"))
        rows = [
            {"of_space": space_id, "of_path": digest(key), "change": change} for (space_id, key), change in less.items()
        ]
        shifted = space_paths.c.records + bindparam("change")
        connection.execute(update(space_paths).where(here).values(records=shifted), rows)
        gone = delete(space_paths).where(here, space_paths.c.records <= 0)
        connection.execute(gone, [{name: row[name] for name in ("of_space", "of_path")} for row in rows])
