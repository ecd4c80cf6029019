"""How many questions a tenant asked on which day (UTC)."""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa
from sqlalchemy import Connection

from engine.store.schema import usage_days
from engine.store.upsert import insert_into


def count_queries(connection: Connection, tenant_id: str, day: date, number: int) -> None:
    """Add to a day's count."""
    row = {"tenant_id": tenant_id, "day": day.isoformat(), "queries": number}
    statement = insert_into(connection, usage_days).values(row)
    more = {"queries": usage_days.c.queries + statement.excluded.queries}
    connection.execute(statement.on_conflict_do_update(index_elements=["tenant_id", "day"], set_=more))


def queries(connection: Connection, tenant_id: str, first: date, last: date) -> int:
    """Questions of a tenant from the first day to the last, both included."""
    query = sa.select(sa.func.coalesce(sa.func.sum(usage_days.c.queries), 0)).where(
        usage_days.c.tenant_id == tenant_id,
        usage_days.c.day >= first.isoformat(),
        usage_days.c.day <= last.isoformat(),
    )
    return int(connection.execute(query).scalar_one())
