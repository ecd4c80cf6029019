from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import URL, text
from sqlalchemy.exc import OperationalError

from engine.errors import CorruptData, InvalidRequest, SetupError, StoreUnavailable
from engine.store import marks
from engine.store.database import Database
from tests.store.records import House


def test_a_block_that_raises_leaves_nothing_behind(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.writing() as connection:
        marks.put(connection, "half", "done")
        raise ZeroDivisionError
    with database.reading() as connection:
        assert marks.get(connection, "half") is None


def test_a_commit_is_seen_by_the_next_opening(database: Database, store_url: URL) -> None:
    with database.writing() as connection:
        marks.put(connection, "kept", "yes")
    database.close()
    again = Database.open(store_url)
    with again.reading() as connection:
        assert marks.get(connection, "kept") == "yes"
    again.close()


def test_reading_keeps_nothing(database: Database) -> None:
    with database.reading() as connection:
        marks.put(connection, "stray", "write")
    with database.reading() as connection:
        assert marks.get(connection, "stray") is None


def test_writing_inside_writing_is_refused_at_once_on_sqlite(sqlite_file: Path) -> None:
    database = Database.open(f"sqlite:///{sqlite_file}")
    with pytest.raises(RuntimeError, match="does not nest"), database.writing(), database.writing():
        pass
    with database.writing() as connection:
        marks.put(connection, "still", "works")
    database.close()


def test_a_reader_does_not_wait_for_a_writer(database: Database) -> None:
    with database.writing() as writer:
        marks.put(writer, "pending", "value")
        with database.reading() as reader:
            assert marks.get(reader, "pending") is None


def test_a_new_sqlite_file_is_private_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "fresh" / "store.db"
    database = Database.open(f"sqlite:///{path}")
    with database.writing() as connection:
        marks.put(connection, "a", "b")
    modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in path.parent.iterdir()}
    database.close()
    assert set(modes.values()) == {0o600}, modes
    assert {"store.db", "store.db-wal"} <= set(modes)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_sqlite_promises_durability_and_erasure(sqlite_file: Path) -> None:
    database = Database.open(f"sqlite:///{sqlite_file}")
    with database.reading() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "secure_delete")
        }
    database.close()
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
        "secure_delete": 1,
    }


def test_a_refused_connection_is_store_unavailable() -> None:
    with pytest.raises(StoreUnavailable, match="does not answer"):
        Database.open("postgresql://nobody:hunter2secret@127.0.0.1:1/none")


def test_an_error_never_shows_a_password() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        Database.open("postgresql://nobody:hunter2secret@127.0.0.1:1/none")
    assert "hunter2secret" not in str(caught.value)


def test_an_error_of_the_driver_never_shows_stored_text(house: House) -> None:
    with pytest.raises(Exception) as caught, house.database.writing() as connection:
        connection.execute(text("INSERT INTO nowhere VALUES (:secret)"), {"secret": "the colour of the door"})
    assert "colour of the door" not in str(caught.value)


def test_a_file_that_is_no_database_is_corrupt_data(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("This is a letter, not a database. " * 100)
    with pytest.raises(CorruptData):
        Database.open(f"sqlite:///{path}")


def test_a_full_disk_is_store_unavailable_and_nothing_is_half_written(sqlite_file: Path) -> None:
    database = Database.open(f"sqlite:///{sqlite_file}")
    with pytest.raises(StoreUnavailable, match="full"), database.writing() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count={pages}"))
        marks.put(connection, "big", "x" * 1_000_000)
    with database.reading() as connection:
        assert marks.get(connection, "big") is None
    database.close()


def test_a_file_that_stays_locked_by_another_process_is_store_unavailable(sqlite_file: Path) -> None:
    database = Database.open(f"sqlite:///{sqlite_file}", busy_timeout_seconds=0.05)
    other = sqlite3.connect(sqlite_file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"), database.writing():
        pass
    other.execute("ROLLBACK")
    other.close()
    with database.writing() as connection:
        marks.put(connection, "free", "again")
    database.close()


def test_a_faulty_statement_is_not_disguised_as_an_outage(sqlite_file: Path) -> None:
    database = Database.open(f"sqlite:///{sqlite_file}")
    with pytest.raises(OperationalError), database.reading() as connection:
        connection.execute(text("SELEKT 1"))
    database.close()


@pytest.mark.parametrize("text_value", ["half \ud800 pair", "\udc80"])
def test_half_a_surrogate_pair_is_an_invalid_request(database: Database, text_value: str) -> None:
    with pytest.raises(InvalidRequest), database.writing() as connection:
        marks.put(connection, "key", text_value)


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true", "mysql://h/d", "nonsense"]
)
def test_an_address_that_cannot_work_is_a_setup_error(url: str) -> None:
    with pytest.raises(SetupError):
        Database.open(url)


def test_a_folder_that_cannot_be_written_is_store_unavailable(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        Database.open(f"sqlite:///{blocker}/store.db")


def test_opening_an_up_to_date_store_does_not_import_alembic(sqlite_file: Path) -> None:
    code = (
        "import sys\n"
        "from engine.store.database import Database\n"
        f"Database.open('sqlite:///{sqlite_file}').close()\n"
        "assert 'alembic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})


def test_opening_an_up_to_date_store_is_quick(sqlite_file: Path) -> None:
    def open_once() -> float:
        start = time.perf_counter()
        Database.open(f"sqlite:///{sqlite_file}").close()
        return time.perf_counter() - start

    assert min(open_once() for _ in range(5)) < 0.05


def test_writers_of_one_process_pass_in_the_order_in_which_they_came(sqlite_file: Path) -> None:
    database = Database.open(f"sqlite:///{sqlite_file}")
    passed: list[int] = []
    waiting = [threading.Event() for _ in range(6)]

    def write(number: int) -> None:
        waiting[number].set()
        with database.writing():
            passed.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    with database.writing():
        for number, thread in enumerate(threads):
            thread.start()
            waiting[number].wait()
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    database.close()
    assert passed == list(range(6))


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_nul_character_on_postgres_is_an_invalid_request_not_an_outage(database: Database) -> None:
    with pytest.raises(InvalidRequest), database.writing() as connection:
        marks.put(connection, "key", "nul \0 inside")


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_connection_that_breaks_in_a_transaction_is_store_unavailable_and_the_next_one_works(
    database: Database,
) -> None:
    with pytest.raises(StoreUnavailable), database.writing() as connection:
        marks.put(connection, "key", "lost")
        victim = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        with database.reading() as other:
            other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": victim})
        marks.put(connection, "key", "lost too")
    with database.reading() as connection:
        assert marks.get(connection, "key") is None


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_pooled_connection_that_died_while_idle_is_replaced(database: Database, store_url: URL) -> None:
    with database.reading() as connection:
        victim = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    killer = Database.open(store_url)
    with killer.reading() as connection:
        assert connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": victim}).scalar_one()
    killer.close()
    with database.reading() as connection:
        assert connection.execute(text("SELECT pg_backend_pid()")).scalar_one() != victim
