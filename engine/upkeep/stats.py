"""How much is stored, by space, type and path."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from engine.domain.access import ReadableSpace
from engine.store.figures import distribution, figures


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceStats:
    """Counts of one space; `by_*` map a value to its number of records, largest first."""

    space_id: str
    name: str
    records: int
    content_bytes: int
    by_type: dict[str, int]
    by_kind: dict[str, int]
    by_bucket: dict[str, int]
    by_path: dict[str, int]
    oldest: datetime | None
    newest: datetime | None


def collect(
    connection: Connection, spaces: list[ReadableSpace], now: datetime, top_paths: int = 20
) -> list[SpaceStats]:
    """Statistics of each space, in the given order."""
    return [_collect(connection, each, now, top_paths) for each in spaces]


def _collect(connection: Connection, space: ReadableSpace, now: datetime, top_paths: int) -> SpaceStats:
    found = figures(connection, space.space.id, now)
    return SpaceStats(
        space_id=space.space.id,
        name=space.space.name,
        records=found.records,
        content_bytes=found.content_bytes,
        by_type=distribution(connection, space.space.id, "memory_type", now),
        by_kind=distribution(connection, space.space.id, "kind", now),
        by_bucket=distribution(connection, space.space.id, "bucket", now),
        by_path=distribution(connection, space.space.id, "path", now, limit=top_paths),
        oldest=found.oldest,
        newest=found.newest,
    )
