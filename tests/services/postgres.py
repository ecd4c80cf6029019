"""A real PostgreSQL for tests: a private cluster in a temporary folder, or the server that a person names.

`MEMVOUCH_TEST_POSTGRES` is the URL of a server on which databases may be created. Without it, the
installed binaries start a cluster on a free loopback port; `initdb` refuses root, so root hands it to
the account `postgres`. The cluster compares text by the rules of a language (ICU), so that code
which leans on byte order by accident fails here. `MEMVOUCH_SKIP_POSTGRES=1` skips what needs it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL, make_url

URL_VARIABLE = "MEMVOUCH_TEST_POSTGRES"
SKIP_VARIABLE = "MEMVOUCH_SKIP_POSTGRES"
_ACCOUNT = "postgres"
_INSTALL_ROOT = Path("/usr/lib/postgresql")
_SETTINGS = (
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
)


@dataclass
class PostgresServer:
    """A running server; hands out fresh databases and drops them in the end."""

    admin: URL
    _made: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def new_database(self) -> URL:
        """The URL of a new, empty database."""
        name = f"memvouch_{os.getpid()}_{next(self._numbers)}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        self._made.append(name)
        return self.admin.set(database=name)

    def drop_database(self, url: URL) -> None:
        """Drop a database, whoever is still connected."""
        self._execute(f'DROP DATABASE IF EXISTS "{url.database}" WITH (FORCE)')
        self._made.remove(str(url.database))

    def drop_all(self) -> None:
        """Drop every database that was handed out."""
        for name in list(self._made):
            self.drop_database(self.admin.set(database=name))

    def _execute(self, statement: str) -> None:
        plain = self.admin.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(plain, autocommit=True) as connection:
            connection.execute(statement.encode())


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The session's PostgreSQL server."""
    if os.environ.get(SKIP_VARIABLE) == "1":
        pytest.skip(f"{SKIP_VARIABLE}=1")
    named = os.environ.get(URL_VARIABLE)
    if named:
        server = PostgresServer(make_url(named).set(drivername="postgresql+psycopg"))
        yield server
        server.drop_all()
    else:
        with _cluster(_binaries()) as admin:
            yield PostgresServer(admin)


def _binaries() -> Path:
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    installed = sorted(_INSTALL_ROOT.glob("*/bin/initdb"), key=lambda found: float(found.parts[-3]))
    if not installed:
        pytest.fail(
            f"PostgreSQL is not installed. Install it (apt-get install postgresql), set {URL_VARIABLE} to a "
            f"server's URL, or set {SKIP_VARIABLE}=1 to skip the tests that need it.",
            pytrace=False,
        )
    return installed[-1].parent


@contextmanager
def _cluster(binaries: Path) -> Iterator[URL]:
    account = _ACCOUNT if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="memvouch-pg-"))
    if account:
        shutil.chown(folder, account, account)
    data = folder / "data"
    port = _free_port()
    settings = " ".join(
        f"-c {setting}" for setting in (*_SETTINGS, f"port={port}", f"unix_socket_directories={folder}")
    )

    def tool(name: str, *arguments: str) -> None:
        command = [str(binaries / name), "-D", str(data), *arguments]
        done = subprocess.run(
            command, user=account, group=account, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode:
            pytest.fail(f"{name} failed:\n{done.stdout}{done.stderr}", pytrace=False)

    try:
        locale = ("--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")
        tool("initdb", "--username", _ACCOUNT, "--auth=trust", "--no-sync", *locale)
        tool("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
        try:
            yield URL.create("postgresql+psycopg", username=_ACCOUNT, host="127.0.0.1", port=port, database="postgres")
        finally:
            tool("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
