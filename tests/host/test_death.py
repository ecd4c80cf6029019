"""A host that dies, or cannot come up: what its clients do, and what they are told."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.host import start, wire
from api.host.connection import HostConnection
from api.host.remote import RemoteEngine
from api.host.start import HOST_FILE, LOG_FILE, ensure_host
from api.host.tool_calls import HostCalls
from engine.domain.access import ALL_SCOPES, Principal
from engine.domain.memory import NewMemory
from engine.errors import FolderBusy, Unavailable
from engine.store.ids import new_id
from engine.upkeep.folder import Folder
from tests.services.server import serve

HOLD = """
import sys
from pathlib import Path
from engine.upkeep.folder import Folder
folder = Folder.open(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
DEATHS = 3


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Another process, which is no host, has the folder open."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        yield
        holder.communicate("")


@contextmanager
def dying_host(folder: Path, deaths: int, answer: bytes) -> Iterator[list[str]]:
    """A socket that breaks the first connections in the middle of a request; yields the requests that came."""
    seen: list[str] = []
    path = folder / "host.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        (folder / HOST_FILE).write_text(json.dumps({"socket": str(path)}))

        def run() -> None:
            while True:
                connection, _ = listener.accept()
                with connection:
                    request = connection.recv(65536).decode()
                    while "\r\n\r\n" in request and not request.endswith("}"):
                        request += connection.recv(65536).decode()
                    if request == "end":
                        return
                    if request:
                        seen.append(request.casefold())
                        if len(seen) > deaths:
                            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(answer)}\r\nConnection: close\r\n\r\n"
                            connection.sendall(head.encode() + answer)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield seen
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
                last.connect(str(path))
                last.sendall(b"end")
            thread.join()


def by_verb(folder: Path) -> None:
    me = Principal(tenant_id=new_id(), user_id=new_id(), scopes=ALL_SCOPES)
    with RemoteEngine(folder) as engine:
        assert engine.remember_many(me, [NewMemory(content="busy", state_key="task")]) == []


def by_tool(folder: Path) -> None:
    calls = HostCalls(folder, "generic")
    assert calls.call("remember", {"content": "busy"}, None) == {"isError": False}
    calls.close()


@pytest.mark.parametrize(
    ("ask", "answer"),
    [(by_verb, b'{"result":[]}'), (by_tool, b'{"result":{"isError":false}}')],
    ids=["verb", "tool"],
)
def test_a_write_outlives_several_deaths_with_one_key_and_a_mark(
    tmp_path: Path, ask: Callable[[Path], None], answer: bytes
) -> None:
    with dying_host(tmp_path, DEATHS, answer) as seen:
        ask(tmp_path)
    assert len(seen) == DEATHS + 1
    assert ["x-memvouch-repeat: 1" in each for each in seen] == [False] + [True] * DEATHS
    keys = {re.findall(r'idempotency.key"?: ?"?([0-9a-f]{32})', each)[0] for each in seen}
    assert len(keys) == 1


def test_a_host_that_does_not_answer_in_time_is_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "host.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        (tmp_path / HOST_FILE).write_text(json.dumps({"socket": str(path)}))
        connection = HostConnection(tmp_path, timeout_seconds=0.1)
        with pytest.raises(Unavailable, match="in time"):
            connection.post("/host/reindex", {})
        connection.close()


def test_a_folder_that_another_program_holds_is_told_as_busy_and_no_host_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "HOLDER_PATIENCE_SECONDS", 0.2)
    with held(tmp_path):
        with pytest.raises(FolderBusy, match=r"--in-process.*--data-dir"):
            RemoteEngine(tmp_path)
        calls = HostCalls(tmp_path, "generic")
        told = calls.call("recall", {"query": "anything"}, None)
        assert told["isError"] and "another process has the data folder" in told["content"][0]["text"]
    assert not (tmp_path / LOG_FILE).exists(), "no host was started in vain"


def test_a_folder_that_is_let_go_gets_its_host(tmp_path: Path) -> None:
    folder = Folder.open(tmp_path)
    threading.Timer(0.5, folder.close).start()
    with RemoteEngine(tmp_path) as engine:
        assert engine.local_owner().scopes == ALL_SCOPES
    pid = json.loads((tmp_path / HOST_FILE).read_text())["pid"]
    subprocess.run(["kill", str(pid)], check=True)


def test_a_start_is_judged_by_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / LOG_FILE).write_text("another process has the data folder open\n")
    monkeypatch.setenv("MEMVOUCH_EMBEDDER", "no-such-embedder")
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"no-such-embedder|EMBEDDER") as caught:
        ensure_host(tmp_path)
    assert "has the data folder" not in str(caught.value)
    assert time.monotonic() - began < start.START_PATIENCE_SECONDS / 2, "it was started once, not again and again"


def test_the_owners_socket_has_no_rate_limit(tmp_path: Path) -> None:
    with serve(tmp_path, "--rate-limit", "1"), RemoteEngine(tmp_path) as engine:
        for _ in range(5):
            assert engine.local_owner().scopes == ALL_SCOPES


@pytest.mark.parametrize(
    ("detail", "told"),
    [
        ("Not Found", "Not Found"),
        ({"code": "rate_limited", "message": "At most 1 request a minute."}, "At most 1"),
        (None, "no reason"),
    ],
)
def test_an_answer_that_no_verb_gave_is_told_by_its_detail(detail: object, told: str) -> None:
    error = wire.error_of({"detail": detail})
    assert isinstance(error, Unavailable) and told in str(error)
