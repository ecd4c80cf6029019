"""A real `memvouch serve` process for tests, on a free loopback port and a folder of its own.

    with serve(tmp_path) as host:
        host.client().post("/v1/remember", json={"content": "..."})

`administration()` opens the same store from this process, as `memvouch token` does; `issue` makes a
token with it. The process's log is kept in `log_file`, and shown when the host does not come up.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.domain.access import DEFAULT_SCOPES, Principal, Scope
from engine.settings import Settings
from engine.upkeep.administration import Administration, TokenRequest

START_SECONDS = 60
STOP_SECONDS = 30
CLIENT_SECONDS = 30


@dataclass
class RunningHost:
    """A host process and the ways to reach it."""

    data_dir: Path
    url: str
    process: subprocess.Popen[bytes]
    log_file: Path
    _clients: list[httpx.Client] = field(default_factory=list)

    @property
    def owner_token(self) -> str:
        """The secret in the folder's `owner.token`."""
        return (self.data_dir / "owner.token").read_text(encoding="ascii").strip()

    @property
    def socket(self) -> Path:
        """The owner's Unix socket."""
        return Path(json.loads((self.data_dir / "host.json").read_text(encoding="utf-8"))["socket"])

    @property
    def log(self) -> str:
        """Everything that the process has logged so far."""
        return self.log_file.read_text(encoding="utf-8")

    def client(self, token: str | None = "owner", **headers: str) -> httpx.Client:
        """An HTTP client with a token: the owner's by default, `None` for none."""
        if token == "owner":
            token = self.owner_token
        if token is not None:
            headers = {"Authorization": f"Bearer {token}", **headers}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=CLIENT_SECONDS)
        self._clients.append(client)
        return client

    @contextmanager
    def administration(self) -> Iterator[tuple[Administration, Principal]]:
        """The host's store, opened from here, and the folder's owner."""
        with Administration.open(Settings(data_dir=self.data_dir)) as administration:
            yield administration, administration.local_owner()

    def issue(
        self,
        *,
        user: str | None = None,
        tenant: str | None = None,
        scopes: frozenset[Scope] = DEFAULT_SCOPES,
        spaces: Sequence[tuple[str, bool]] | None = None,
        **request: Any,
    ) -> str:
        """The secret of a new token. Users, tenants and spaces are made as needed."""
        with self.administration() as (administration, owner):
            actor = owner if tenant is None else administration.operator(tenant, create=True)
            holder = actor
            if user is not None:
                found = administration.user_named(actor, user, create=True)
                holder = Principal(tenant_id=actor.tenant_id, user_id=found.id, scopes=actor.scopes)
            for name, _ in spaces or ():
                administration.ensure_space(holder, name)
            wanted = TokenRequest(
                name="test",
                user_id=holder.user_id,
                scopes=scopes,
                spaces=None if spaces is None else tuple(spaces),
                **request,
            )
            return administration.issue_token(actor, wanted).secret

    def kill(self) -> None:
        """End the process as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(STOP_SECONDS)

    def stop(self) -> int:
        """End the process in order; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS)

    def close(self) -> None:
        """Close the clients and end the process."""
        for client in self._clients:
            client.close()
        self.stop()


@contextmanager
def serve(data_dir: Path, *arguments: str, **environment: str) -> Iterator[RunningHost]:
    """A host over `data_dir`, ready to answer; extra arguments go to `memvouch serve`."""
    host = start(data_dir, *arguments, **environment)
    try:
        yield host
    finally:
        host.close()


def start(data_dir: Path, *arguments: str, **environment: str) -> RunningHost:
    """Start a host and wait until it answers. The caller closes it."""
    data_dir.mkdir(parents=True, exist_ok=True)
    log_file = data_dir / "host.log"
    command = [sys.executable, "-c", "from cli.main import main; main()", "serve", "--json", "--port", "0"]
    with log_file.open("ab") as log:
        process = subprocess.Popen(
            [*command, "--data-dir", str(data_dir), *arguments],
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
        )
    try:
        url = _await_url(process, data_dir)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return RunningHost(data_dir, url, process, log_file)


def _await_url(process: subprocess.Popen[bytes], data_dir: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the host ended with {process.returncode}:\n{_tail(data_dir)}")
        try:
            found = json.loads((data_dir / "host.json").read_text(encoding="utf-8"))
            if found["pid"] == process.pid and httpx.get(f"{found['url']}/health", timeout=5).is_success:
                return str(found["url"])
        except (FileNotFoundError, ValueError, httpx.TransportError):
            pass
        time.sleep(0.05)
    raise RuntimeError(f"the host did not answer within {START_SECONDS} s:\n{_tail(data_dir)}")


def _tail(data_dir: Path) -> str:
    return (data_dir / "host.log").read_text(encoding="utf-8")[-3000:]


@pytest.fixture(scope="session")
def running_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """One host for all tests that do not mind each other's records; they use spaces of their own."""
    with serve(tmp_path_factory.mktemp("host")) as host:
        yield host
