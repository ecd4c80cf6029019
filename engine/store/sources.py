"""Sources: what was sent to be turned into memories, kept as it came.

Reads for a caller take the ids of spaces that the caller has been found to read; a source of another
space is as if it were not there. A message of a session is claimed by its digest, so that a session
that is sent again brings only what is new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Row

from engine.domain.source import ContentType, Message, Source, SourceStatus
from engine.store.schema import memories, source_messages, sources

_CHUNK = 500


def add(connection: Connection, new: Sequence[Source]) -> None:
    """Add sources in order; their `number` is handed out by the database, the given one is ignored."""
    for source in new:
        connection.execute(sa.insert(sources).values(_values(source)))


def get(connection: Connection, source_id: str) -> Source | None:
    """A source, without asking who may read it."""
    row = connection.execute(sa.select(sources).where(sources.c.id == source_id)).one_or_none()
    return None if row is None else _source(row)


def of_job(connection: Connection, job_id: str) -> list[Source]:
    """The sources of a job in the order in which they were sent."""
    rows = connection.execute(sa.select(sources).where(sources.c.job_id == job_id).order_by(sources.c.number))
    return [_source(row) for row in rows]


def page(
    connection: Connection,
    space_ids: Collection[str],
    *,
    content_type: str | None = None,
    status: str | None = None,
    limit: int = 100,
    offset: int = 0,
) -> tuple[list[Source], int]:
    """A page of the sources of these spaces, newest first, and how many there are in all."""
    admitted: list[ColumnElement[bool]] = [sources.c.space_id.in_(list(space_ids))]
    if content_type is not None:
        admitted.append(sources.c.content_type == content_type)
    if status is not None:
        admitted.append(sources.c.status == status)
    newest = (sources.c.created_at.desc(), sources.c.number.desc())
    rows = connection.execute(sa.select(sources).where(*admitted).order_by(*newest).limit(limit).offset(offset))
    total = connection.execute(sa.select(sa.func.count()).select_from(sources).where(*admitted)).scalar_one()
    return [_source(row) for row in rows], total


def texts(connection: Connection, space_id: str, source_ids: Collection[str]) -> dict[str, str]:
    """The whole texts of those of the sources that the space has."""
    named = sources.c.id.in_(sorted(set(source_ids)))
    query = sa.select(sources.c.id, sources.c.content).where(sources.c.space_id == space_id, named)
    return {row.id: row.content for row in connection.execute(query)}


def find_recent(
    connection: Connection, space_id: str, fingerprints: Collection[str], since: datetime
) -> dict[str, Source]:
    """By fingerprint, the newest source of the space that was sent since then and has not failed."""
    query = (
        sa.select(sources)
        .where(
            sources.c.space_id == space_id,
            sources.c.fingerprint.in_(sorted(set(fingerprints))),
            sources.c.created_at >= since,
            sources.c.status != SourceStatus.FAILED.value,
        )
        .order_by(sources.c.number)
    )
    return {row.fingerprint: _source(row) for row in connection.execute(query)}


def update(connection: Connection, source_id: str, now: datetime, **values: Any) -> bool:
    """Change columns of a source; whether it was there."""
    changed = sa.update(sources).where(sources.c.id == source_id).values(updated_at=now, **values)
    return connection.execute(changed).rowcount == 1


def rewrite(connection: Connection, source: Source, now: datetime) -> None:
    """Write a source's texts (content, messages, meta) over the stored ones."""
    values = _values(source)
    update(connection, source.id, now, **{name: values[name] for name in ("content", "messages", "meta")})


def of_session(connection: Connection, space_id: str, session_id: str) -> list[Source]:
    """The sources of a session in the order in which they were sent."""
    here = (sources.c.space_id == space_id) & (sources.c.session_id == session_id)
    return [_source(row) for row in connection.execute(sa.select(sources).where(here).order_by(sources.c.number))]


def delete(connection: Connection, source_id: str) -> None:
    """Remove a source and its claims; its memories are for the caller."""
    connection.execute(sa.delete(source_messages).where(source_messages.c.source_id == source_id))
    connection.execute(sa.delete(sources).where(sources.c.id == source_id))


def memory_ids(connection: Connection, space_id: str, source_id: str) -> list[str]:
    """Ids of all records that came from a source, in any status."""
    query = sa.select(memories.c.id).where(memories.c.space_id == space_id, memories.c.source_id == source_id)
    return list(connection.execute(query.order_by(memories.c.id)).scalars())


def claimed(connection: Connection, space_id: str, digests: Collection[str]) -> dict[str, str]:
    """Those of the message digests that the space has seen, with the source that brought each."""
    found: dict[str, str] = {}
    wanted = sorted(set(digests))
    for start in range(0, len(wanted), _CHUNK):
        query = sa.select(source_messages.c.digest, source_messages.c.source_id).where(
            source_messages.c.space_id == space_id,
            source_messages.c.digest.in_(wanted[start : start + _CHUNK]),
        )
        found.update((row.digest, row.source_id) for row in connection.execute(query))
    return found


def claim(connection: Connection, space_id: str, source_id: str, digests: Sequence[str]) -> None:
    """Note that a source has brought these messages."""
    rows = [{"space_id": space_id, "digest": digest, "source_id": source_id} for digest in digests]
    if rows:
        connection.execute(sa.insert(source_messages), rows)


def tokens_read(connection: Connection, tenant_id: str, since: datetime, until: datetime) -> int:
    """Tokens of the tenant's sources that came in `[since, until)`."""
    query = sa.select(sa.func.coalesce(sa.func.sum(sources.c.token_count), 0)).where(
        sources.c.tenant_id == tenant_id, sources.c.created_at >= since, sources.c.created_at < until
    )
    return int(connection.execute(query).scalar_one())


def _values(source: Source) -> Mapping[str, Any]:
    values = {name: getattr(source, name) for name in sources.c.keys() if name != "number"}  # noqa: SIM118
    values["messages"] = [
        {"role": each.role, "content": each.content, "position": each.position, "fresh": each.fresh}
        for each in source.messages
    ]
    values["meta"] = dict(source.meta)
    values["content_type"] = source.content_type.value
    values["status"] = source.status.value
    return values


def _source(row: Row[Any]) -> Source:
    values = dict(row._mapping)
    values["messages"] = tuple(Message(**each) for each in row.messages)
    values["content_type"] = ContentType(row.content_type)
    values["status"] = SourceStatus(row.status)
    return Source(**values)
