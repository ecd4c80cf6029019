"""What a caller may know of its own tenant: name, members, use; and the counting of questions.

Questions are counted in memory and written down now and then, so that no search waits for a write.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from engine.domain.access import Principal, Scope
from engine.store import access, accounts, sources, usage
from engine.store.database import Database

_KNOWN_NAMES = 1000


@dataclass(frozen=True, slots=True)
class Organisation:
    """A tenant as one of its users sees it."""

    id: str
    name: str
    created_at: datetime
    member_count: int
    role: str
    user_name: str
    user_created_at: datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """What a tenant used from one day to another, both included."""

    queries: int
    spaces: int
    tokens: int


class Organisations:
    """Reads about tenants, and the counter of questions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, date]] = Counter()
        self._names: dict[str, str] = {}

    def of(self, principal: Principal) -> Organisation:
        """The caller's tenant."""
        with self._database.reading() as connection:
            tenant = accounts.get_tenant(connection, principal.tenant_id)
            members = accounts.list_users(connection, principal.tenant_id)
        user = next(each for each in members if each.id == principal.user_id)
        is_first = members[0].id == principal.user_id
        role = "owner" if is_first else "admin" if Scope.ADMIN in principal.scopes else "member"
        return Organisation(tenant.id, tenant.name, tenant.created_at, len(members), role, user.name, user.created_at)

    def user_name(self, tenant_id: str, user_id: str) -> str:
        """The name of a user of the tenant."""
        if user_id not in self._names:
            with self._database.reading() as connection:
                name = accounts.get_user(connection, tenant_id, user_id).name
            if len(self._names) >= _KNOWN_NAMES:
                self._names.clear()
            self._names[user_id] = name
        return self._names[user_id]

    def count_query(self, tenant_id: str) -> None:
        """Count one question of today."""
        with self._lock:
            self._asked[tenant_id, datetime.now(UTC).date()] += 1

    def note(self) -> None:
        """Write down what was counted since the last time."""
        with self._lock:
            asked, self._asked = self._asked, Counter()
        if not asked:
            return
        try:
            with self._database.writing() as connection:
                for (tenant_id, day), number in asked.items():
                    usage.count_queries(connection, tenant_id, day, number)
        except BaseException:
            with self._lock:
                self._asked += asked
            raise

    def usage(self, principal: Principal, first: date, last: date) -> Usage:
        """Questions asked and tokens read in the days, and the spaces that the caller sees now."""
        self.note()
        since = datetime.combine(first, time(), UTC)
        until = datetime.combine(last, time(), UTC) + timedelta(days=1)
        with self._database.reading() as connection:
            return Usage(
                queries=usage.queries(connection, principal.tenant_id, first, last),
                spaces=len(access.readable(connection, principal)),
                tokens=sources.tokens_read(connection, principal.tenant_id, since, until),
            )
