from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, MetaData, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from engine.errors import SetupError
from engine.store import audit, migrations
from engine.store.database import Database
from engine.store.schema import metadata
from tests.services.postgres import PostgresServer
from tests.store.records import NOW, House


def test_the_migrated_schema_equals_the_metadata(database: Database) -> None:
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_migrations_build_the_same_sqlite_tables_as_the_metadata(migrated_file: Path, tmp_path: Path) -> None:
    def statements(url: URL) -> dict[str, list[str]]:
        engine = create_engine(url)
        with engine.connect() as connection:
            rows = connection.execute(
                text("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL")
            ).all()
        engine.dispose()
        # The order of constraints in a table is of no matter.
        parts = {name: sorted(line.strip(" ,\t") for line in sql.splitlines()) for name, sql in rows}
        return {name: lines for name, lines in parts.items() if not name.startswith("alembic_")}

    created = URL.create("sqlite", database=str(tmp_path / "created.db"))
    engine = create_engine(created)
    metadata.create_all(engine)
    engine.dispose()
    assert statements(URL.create("sqlite", database=str(migrated_file))) == statements(created)


def test_migrations_build_the_same_postgres_columns_and_indexes_as_the_metadata(
    postgres: PostgresServer, migrated_database: URL
) -> None:
    def shape(connection: Connection) -> dict[str, Any]:
        inspector = inspect(connection)
        columns = connection.execute(
            text(
                "SELECT table_name, column_name, data_type, collation_name, is_nullable "
                "FROM information_schema.columns WHERE table_schema = 'public' AND table_name != 'alembic_version'"
            )
        )
        indexes = connection.execute(text("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'"))
        return {
            "columns": sorted(tuple(row) for row in columns),
            "indexes": sorted(sql for sql in indexes.scalars() if "alembic" not in sql),
            "keys": {
                table: sorted(str(key) for key in inspector.get_foreign_keys(table))
                for table in inspector.get_table_names()
                if table != "alembic_version"
            },
        }

    created = postgres.new_database()
    shapes = []
    for url, build in ((created, True), (migrated_database, False)):
        engine = create_engine(url)
        with engine.begin() as connection:
            if build:
                metadata.create_all(connection)
            shapes.append(shape(connection))
        engine.dispose()
    postgres.drop_database(created)
    assert shapes[0] == shapes[1]
    assert shapes[0]["columns"]


def test_the_known_head_is_the_newest_script() -> None:
    config = Config()
    config.set_main_option("script_location", "engine.store:migrations")
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [migrations.HEAD]
    assert {script.revision for script in scripts.walk_revisions()} == migrations.KNOWN


def test_a_store_of_a_newer_version_is_refused_untouched(new_store_url: URL) -> None:
    database = Database.open(new_store_url)
    with database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SetupError, match="newer"):
        Database.open(new_store_url)
    with database.reading() as connection:
        assert migrations.revision(connection) == "9999"
    database.close()


def test_processes_that_open_a_new_store_at_once_migrate_it_once(new_store_url: URL) -> None:
    url = new_store_url.render_as_string(hide_password=False)
    code = f"from engine.store.database import Database; Database.open({url!r}).close()"
    command = [sys.executable, "-W", "error", "-c", code]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    database = Database.open(url)
    with database.reading() as connection:
        assert migrations.revision(connection) == migrations.HEAD
    database.close()


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE memories (note TEXT)"))
    with pytest.raises(DBAPIError):
        Database.open(f"sqlite:///{path}")
    reflected = MetaData()
    reflected.reflect(engine)
    engine.dispose()
    assert set(reflected.tables) == {"memories"}


@pytest.mark.parametrize("statement", ["UPDATE audit SET action = 'nothing'", "DELETE FROM audit"])
def test_the_database_refuses_to_change_the_audit(house: House, statement: str) -> None:
    with house.database.writing() as connection:
        audit.append(connection, house.principal, "memory.forget", NOW, target="x")
    with pytest.raises(DBAPIError, match="append-only"), house.database.writing() as connection:
        connection.execute(text(statement))
    with house.database.reading() as connection:
        assert [entry.action for entry in audit.entries(connection, house.principal.tenant_id)] == ["memory.forget"]
