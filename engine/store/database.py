"""The connection to the store: who may write when, and what a commit promises.

SQLite: WAL, so that readers never wait for a writer; `synchronous=FULL`, so that a commit survives
power loss; `secure_delete`, so that what was forgotten is overwritten in the file. A reader sees the
state at its first statement. A writer takes the file's lock at once (`BEGIN IMMEDIATE`): a reader
that turns into a writer would fail instead of waiting. Threads of one process queue in order before
they ask the file; other processes wait up to the busy timeout.

PostgreSQL: `READ COMMITTED`. What must not happen twice at a time is serialised by `hold`, a lock that
ends with the transaction; on SQLite the one writer needs none. Writers of one space pass one by one
(`hold_space`): they would meet at its totals anyway, and so they never deadlock over its terms, and
a semantic key that one of them did not find cannot be added by another meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError

from engine.errors import SetupError, StoreUnavailable
from engine.store import migrations
from engine.store.columns import digest
from engine.store.faults import translated
from engine.store.turnstile import Turnstile

BUSY_TIMEOUT_SECONDS = 10
TURN_TIMEOUT_SECONDS = 60
POOL_SIZE = 16
_CONNECT_TIMEOUT_SECONDS = 10
_WRITING = "memvouch_writing"
_MIGRATION_LOCK = ("migration",)
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "fullfsync=ON",
    "foreign_keys=ON",
    "secure_delete=ON",
    "temp_store=MEMORY",
    "cache_size=-16384",
)


class Database:
    """One store. Safe to share between threads; each transaction has a connection of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turnstile = Turnstile()
        self.dialect: str = engine.dialect.name

    @classmethod
    def open(cls, url: str | URL, *, busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS) -> Self:
        """Open a store by SQLAlchemy URL (`sqlite:///file` or `postgresql://...`) and bring it up to date.

        A new SQLite file and its folder are readable by their owner only. `busy_timeout_seconds` is how
        long a SQLite file that another process has locked is waited for. Raises `SetupError` for a
        URL that cannot work or a store of a newer version, `CorruptData`, `StoreUnavailable`.
        """
        parsed = _parse(url)
        is_sqlite = parsed.get_backend_name() == "sqlite"
        database = cls(_sqlite_engine(parsed, busy_timeout_seconds) if is_sqlite else _postgres_engine(parsed))
        try:
            database._bring_up_to_date()
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for reads. Nothing that it does is kept. Raises `StoreUnavailable`."""
        with translated(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction, committed when the block ends and rolled back when it raises.

        Does not nest. Raises `StoreUnavailable`, also when the commit fails.
        """
        with translated():
            if self.dialect == "sqlite":
                with self._turnstile.turn(TURN_TIMEOUT_SECONDS), self._transaction() as connection:
                    yield connection
            else:
                with self._transaction() as connection:
                    yield connection

    def close(self) -> None:
        """Close all idle connections. Transactions in other threads end on their own."""
        self._engine.dispose()

    def _bring_up_to_date(self) -> None:
        with self.reading() as connection:
            if migrations.revision(connection) == migrations.HEAD:
                return
        with self.writing() as connection:
            hold(connection, *_MIGRATION_LOCK)
            migrations.upgrade(connection)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._engine.connect().execution_options(**{_WRITING: True}) as connection, connection.begin():
            yield connection


def is_writing(connection: Connection) -> bool:
    """Whether the connection was opened by `writing()`."""
    return bool(connection.get_execution_options().get(_WRITING, False))


def hold(connection: Connection, *parts: str | None) -> None:
    """In a write transaction: let no other one that holds the same parts run until this one ends."""
    if connection.dialect.name == "postgresql" and is_writing(connection):
        number = int(digest(*parts)[:16], 16) - (1 << 63)
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


def hold_space(connection: Connection, space_id: str) -> None:
    """Let no other transaction write to the space until this one ends."""
    hold(connection, "space", space_id)


def _parse(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SetupError("The store's address is not a SQLAlchemy URL such as sqlite:////data/memvouch.db.") from error
    match parsed.get_backend_name():
        case "sqlite":
            if parsed.database in (None, "", ":memory:") or str(parsed.database).startswith("file:"):
                raise SetupError("A SQLite store must be a plain file: sqlite:////folder/memvouch.db.")
            return parsed
        case "postgresql" | "postgres":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise SetupError(f"Memvouch stores in SQLite or PostgreSQL, not in {other}.")


def _sqlite_engine(url: URL, busy_timeout_seconds: float) -> Engine:
    _create_private(Path(str(url.database)))
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=POOL_SIZE,
        max_overflow=POOL_SIZE,
        connect_args={"timeout": busy_timeout_seconds, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _configure(dbapi_connection: Any, record: object) -> None:
        # The driver would open transactions behind our back, and only deferred ones.
        dbapi_connection.isolation_level = None
        for pragma in _PRAGMAS:
            dbapi_connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing(connection) else "BEGIN")

    return engine


def _create_private(path: Path) -> None:
    """Create an empty file that only its owner may read; SQLite gives its WAL the same mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreUnavailable(f"The store's file {path} cannot be opened: {error.strerror}.") from error


def _postgres_engine(url: URL) -> Engine:
    try:
        return create_engine(
            url,
            hide_parameters=True,
            pool_size=POOL_SIZE,
            max_overflow=POOL_SIZE,
            pool_pre_ping=True,
            connect_args={} if "connect_timeout" in url.query else {"connect_timeout": _CONNECT_TIMEOUT_SECONDS},
        )
    except ModuleNotFoundError as error:
        raise SetupError("PostgreSQL needs its driver: pip install 'memvouch[postgres]'.") from error
