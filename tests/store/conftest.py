"""Every test that takes `database` runs on SQLite and on PostgreSQL, each time on a fresh store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, text

from engine.domain.access import Principal
from engine.store import spaces
from engine.store.database import Database
from engine.store.schema import metadata
from tests.services.postgres import PostgresServer, postgres
from tests.store.records import NOW, House

__all__ = ["postgres"]

DIALECTS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store as migrations leave it; tests copy it, since migrating takes a while."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    Database.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def migrated_database(postgres: PostgresServer) -> URL:
    """The same on PostgreSQL; it is emptied after each test."""
    url = postgres.new_database()
    Database.open(url).close()
    return url


@pytest.fixture
def sqlite_file(migrated_file: Path, tmp_path: Path) -> Path:
    """A migrated, empty SQLite store, for what concerns SQLite alone."""
    path = tmp_path / "store.db"
    shutil.copy(migrated_file, path)
    return path


@pytest.fixture(params=DIALECTS)
def store_url(request: pytest.FixtureRequest) -> Iterator[URL]:
    """The address of a migrated, empty store."""
    if request.param == "sqlite":
        yield URL.create("sqlite", database=str(request.getfixturevalue("sqlite_file")))
        return
    url: URL = request.getfixturevalue("migrated_database")
    yield url
    engine = create_engine(url)
    with engine.begin() as connection:
        tables = ", ".join(table.name for table in metadata.sorted_tables)
        connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY CASCADE"))
    engine.dispose()


@pytest.fixture(params=DIALECTS)
def new_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[URL]:
    """The address of a store that nobody has opened yet."""
    if request.param == "sqlite":
        yield URL.create("sqlite", database=str(tmp_path / "new.db"))
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url = server.new_database()
    yield url
    server.drop_database(url)


@pytest.fixture
def database(store_url: URL) -> Iterator[Database]:
    """A migrated, empty store, opened."""
    opened = Database.open(store_url)
    yield opened
    opened.close()


@pytest.fixture
def house(database: Database) -> House:
    """A store with the local owner and its default space."""
    with database.writing() as connection:
        owner = spaces.ensure_owner(connection, NOW)
    return House(
        database=database,
        principal=Principal(tenant_id=owner.tenant_id, user_id=owner.user_id),
        space_id=owner.space.id,
    )
