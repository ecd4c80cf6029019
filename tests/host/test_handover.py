"""A person starts a host where commands or tools have left a detached one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from api.host.remote import RemoteEngine
from api.host.start import HOST_FILE
from cli.console import ExitCode
from engine.domain.memory import NewMemory
from engine.domain.query import Query

SERVE = (sys.executable, "-m", "cli.main", "serve", "--json", "--port", "0", "--data-dir")
QUESTION = "When is the gate code changed?"
END_SECONDS = 30


@contextmanager
def host(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A host in a process of its own, and its address."""
    with subprocess.Popen((*SERVE, str(folder), *options), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = "".join(iter(process.stdout.readline, "}\n")) + "}"
            yield process, json.loads(said)["url"]
        finally:
            process.terminate()


def test_a_detached_host_makes_way_and_its_clients_follow(tmp_path: Path) -> None:
    with host(tmp_path, "--idle-exit", "600") as (detached, _), RemoteEngine(tmp_path) as engine:
        me = engine.local_owner()
        written = engine.remember(me, NewMemory(content="The gate code is changed every Friday."))
        with host(tmp_path) as (_, url):
            assert detached.wait(END_SECONDS) == 0
            token = (tmp_path / "owner.token").read_text().strip()
            answer = httpx.get(
                f"{url}/v1/memories/search",
                params={"query": QUESTION},
                headers={"Authorization": f"Bearer {token}"},
            )
            assert [each["id"] for each in answer.json()["results"]] == [written.memory.id]
            assert engine.search(me, Query(text=QUESTION)).considered == 1


def test_a_host_that_a_person_started_stays(tmp_path: Path) -> None:
    with host(tmp_path) as (first, url):
        assert json.loads((tmp_path / HOST_FILE).read_text())["detached"] is False
        second = subprocess.run((*SERVE, str(tmp_path)), capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == ExitCode.SETUP
        assert url in second.stdout + second.stderr
        assert first.poll() is None


def test_a_host_that_is_ended_as_soon_as_it_has_spoken_ends(tmp_path: Path) -> None:
    with host(tmp_path) as (process, _):
        process.terminate()
        assert process.wait(END_SECONDS) == 0
    assert not (tmp_path / HOST_FILE).exists()
