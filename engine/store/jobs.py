"""Jobs: work that outlives the request that asked for it, as rows.

A worker claims the oldest waiting job in one statement, so that no two take the same. A claim is a
lease: whoever works on the job renews it with every step, and a job whose lease has run out waits
again. A final status stays.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from engine.domain.source import Job, JobStatus
from engine.store.schema import jobs

LEASE = timedelta(seconds=120)
_OPEN = (JobStatus.PENDING.value, JobStatus.PROCESSING.value)


def add(connection: Connection, job: Job) -> None:
    """Add a job that waits."""
    values = {name: getattr(job, name) for name in jobs.c.keys()}  # noqa: SIM118
    connection.execute(sa.insert(jobs).values({**values, "status": job.status.value}))


def get(connection: Connection, job_id: str) -> Job | None:
    """A job, without asking whose it is."""
    row = connection.execute(sa.select(jobs).where(jobs.c.id == job_id)).one_or_none()
    return None if row is None else _job(row)


def has_waiting(connection: Connection, now: datetime) -> bool:
    """Whether there is a job to claim; asked without a write transaction."""
    return connection.execute(sa.select(jobs.c.id).where(_claimable(now)).limit(1)).first() is not None


def claim(connection: Connection, now: datetime) -> Job | None:
    """Take the oldest job that waits; `None` when there is none."""
    oldest = (
        sa.select(jobs.c.id)
        .where(_claimable(now))
        .order_by(jobs.c.created_at, jobs.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    job_id = connection.execute(oldest).scalar()
    if job_id is None:
        return None
    taken = {
        "status": JobStatus.PROCESSING.value,
        "started_at": sa.func.coalesce(jobs.c.started_at, sa.bindparam("now", now, type_=jobs.c.started_at.type)),
        "attempts": jobs.c.attempts + 1,
        "updated_at": now,
    }
    connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(taken))
    return get(connection, job_id)


def release_all(connection: Connection) -> None:
    """Let every job under work wait again: for a store that no other process can be working on."""
    released = sa.update(jobs).where(jobs.c.status == JobStatus.PROCESSING.value)
    connection.execute(released.values(status=JobStatus.PENDING.value, stage=None))


def update(connection: Connection, job_id: str, now: datetime, **values: Any) -> bool:
    """Change columns of a job that is not final; whether it was there and open."""
    changed = sa.update(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(_OPEN))
    return connection.execute(changed.values(updated_at=now, **values)).rowcount == 1


def _claimable(now: datetime) -> sa.ColumnElement[bool]:
    stale = (jobs.c.status == JobStatus.PROCESSING.value) & (jobs.c.updated_at < now - LEASE)
    waiting = (jobs.c.status == JobStatus.PENDING.value) & (jobs.c.updated_at <= now)
    return sa.or_(waiting, stale)


def _job(row: Row[Any]) -> Job:
    return Job(**{**row._mapping, "status": JobStatus(row.status)})
