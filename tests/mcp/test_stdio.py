"""`memvouch mcp`: answers at once, prints nothing but protocol, outlives its host, shares the folder."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent
from mcp_types.version import LATEST_MODERN_VERSION

from api.host.remote import RemoteEngine
from api.host.start import HOST_FILE, living_socket
from engine.domain.outcome import Matches
from engine.domain.query import ListQuery, Query
from mcp_profiles import listing
from mcp_profiles.profile import built_in_names, load
from tests.mcp.examples import PROJECTOR, arguments

COMMAND = [sys.executable, "-m", "cli.main"]
FIRST_ANSWERS_SECONDS = 2.0
TRIES = 4
PROCESSES, ROUNDS = 8, 5


def environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "MEMVOUCH_IN_PROCESS"}
    return {**kept, **extra}


class Agent:
    """A client that speaks the protocol by hand, so that every byte is seen."""

    def __init__(self, folder: Path, *options: str, profile: str = "full", **extra: str) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, *options, "mcp", "--profile", profile, "--data-dir", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**extra),
        )
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.finish()

    def finish(self) -> tuple[bytes, bytes]:
        """Hang up; what was left on stdout, and all of stderr."""
        if self._process.stdin is None or self._process.stdin.closed:
            return b"", b""
        rest, errors = self._process.communicate(timeout=60)
        return rest, errors

    def send(self, line: bytes) -> dict[str, Any]:
        """Write one line, read one."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        parsed: dict[str, Any] = json.loads(answer.decode("ascii"))
        assert parsed["jsonrpc"] == "2.0"
        return parsed

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        answer = self.send(
            json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode()
        )
        assert answer["id"] == self._number
        return answer

    def hello(self, name: str = "tester") -> dict[str, Any]:
        info = {"name": name, "version": "1"}
        result: dict[str, Any] = self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)[
            "result"
        ]
        return result

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", name=tool, arguments=given)["result"]
        return result

    def values(self, tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        result = self.call(tool, **given)
        assert not result["isError"], result
        structured: Mapping[str, Any] = result["structuredContent"]
        return structured


def kill_host(folder: Path, number: int = signal.SIGKILL) -> None:
    """End the folder's host and wait until it is gone."""
    try:
        os.kill(json.loads((folder / HOST_FILE).read_text())["pid"], number)
    except (FileNotFoundError, ProcessLookupError):
        return
    deadline = time.monotonic() + 20
    while living_socket(folder) is not None:
        assert time.monotonic() < deadline, "the host does not end"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("stdio")
    yield path
    kill_host(path, signal.SIGTERM)


@pytest.fixture
def agent(folder: Path) -> Iterator[Agent]:
    with Agent(folder) as one:
        one.hello()
        yield one


def first_answers_seconds(folder: Path, options: tuple[str, ...]) -> float:
    """How long a client waits for the tools of a server that nothing has been loaded for."""
    started = time.monotonic()
    with Agent(folder, *options, profile="claude") as agent:
        assert agent.hello()["serverInfo"]["name"] == "memvouch"
        assert agent.ask("tools/list")["result"]["tools"] == listing.tools(load("claude"))
        waited = time.monotonic() - started
        # A host that is still starting could not be ended.
        agent.values("get_mcp_identity", {})
        return waited


@pytest.mark.parametrize("options", [(), ("--in-process",)], ids=["piped", "in-process"])
def test_the_first_answers_come_before_anything_is_loaded(tmp_path: Path, options: tuple[str, ...]) -> None:
    # The best of a few, since other work on the machine can make any one of them wait.
    waits: list[float] = []
    while not waits or (min(waits) >= FIRST_ANSWERS_SECONDS and len(waits) < TRIES):
        waits.append(first_answers_seconds(tmp_path / str(len(waits)), options))
        kill_host(tmp_path / str(len(waits) - 1), signal.SIGTERM)
    assert min(waits) < FIRST_ANSWERS_SECONDS, waits


@pytest.mark.parametrize("options", [(), ("--in-process",)], ids=["piped", "in-process"])
def test_a_call_waits_for_what_is_being_loaded(tmp_path: Path, options: tuple[str, ...]) -> None:
    with Agent(tmp_path, *options, profile="claude") as agent:
        agent.hello()
        assert agent.call("remember", content=PROJECTOR, path="office")["isError"] is False
        hits = agent.call("search_memory", query="Where is the spare projector?")["structuredContent"]["hits"]
        assert len(hits) == 1
    kill_host(tmp_path, signal.SIGTERM)


def test_the_pipe_loads_nothing_heavy() -> None:
    heavy = "onnxruntime numpy sqlalchemy qdrant_edge fastapi mcp mcp_types pydantic httpx"
    script = (
        "import sys, cli.main, mcp_profiles.stdio, mcp_profiles.profile, api.host.tool_calls\n"
        "mcp_profiles.profile.load('claude')\n"
        f"sys.exit(','.join(name for name in '{heavy}'.split() if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mode", ["legacy", "auto", LATEST_MODERN_VERSION])
@pytest.mark.parametrize("name", built_in_names())
def test_the_sdk_client_lists_and_calls_every_tool_of_a_profile(
    folder: Path, agent: Agent, name: str, mode: str
) -> None:
    server = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", "--profile", name, "--data-dir", str(folder)],
        env=environment(),
        cwd=str(Path.cwd()),
    )

    async def run() -> None:
        async with Client(stdio_client(server), mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == [each.name for each in load(name).exposures]
            for tool in listed if mode == "legacy" else listed[:2]:
                sent = arguments(tool.name, agent.values)
                result = await client.call_tool(tool.name, sent)
                assert not result.is_error, (tool.name, result)
                first = result.content[0]
                assert isinstance(first, TextContent)
                assert result.structured_content and result.structured_content["result"] == first.text

    asyncio.run(run())


def test_results_are_those_of_the_engine(folder: Path, agent: Agent) -> None:
    agent.values("remember", {"content": "Kiln 3 fires at 1,240 degrees.", "path": "pottery"})
    question = "How hot does kiln 3 fire?"
    with RemoteEngine(folder) as engine:
        outcome = engine.search(engine.local_owner(), Query(text=question, limit=5))
    assert isinstance(outcome, Matches)
    hits = agent.call("search_memory", query=question)["structuredContent"]["hits"]
    assert [(hit["id"], hit["confidence"]) for hit in hits] == [(hit.memory.id, hit.confidence) for hit in outcome.hits]


def test_stdout_carries_nothing_but_protocol(tmp_path: Path) -> None:
    noisy = {"PYTHONWARNINGS": "always", "PYTHONIOENCODING": "cp1252", "PYTHONDEVMODE": "1"}
    for options in (("--debug",), ("--debug", "--in-process")):
        with Agent(tmp_path / options[-1].strip("-"), *options, **noisy) as agent:
            agent.hello()
            agent.ask("tools/list")
            agent.call("remember", content=PROJECTOR, path="office/projector")
            text = agent.call("recall", query="spare projector cabinet", limit=3)["content"][0]["text"]
            assert PROJECTOR in text
            assert agent.call("explain_memory", memory_id="nope")["isError"]
            assert agent.finish()[0] == b""
    kill_host(tmp_path / "debug", signal.SIGTERM)


def test_requests_of_any_form_are_answered_and_the_loop_goes_on(agent: Agent) -> None:
    for line in (b"{", b"[]", b"7", b'{"jsonrpc":"2.0","id":1,"method":7}', b"\xff\xfe"):
        assert agent.send(line)["error"]["code"] in (-32700, -32600)
    assert agent.ask("no/such/method")["error"]["code"] == -32601
    assert agent.ask("tools/call", name=7)["error"]["code"] == -32602
    assert agent.ask("notifications/initialized")["result"] == {}
    assert agent.ask("resources/list")["result"] == {"resources": []}
    assert agent.ask("ping")["result"] == {}
    assert agent.send(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}')["id"] == "\ud800"


def test_the_clients_name_is_the_agent(folder: Path) -> None:
    with Agent(folder) as agent:
        agent.hello("Claude Côde")
        assert agent.values("get_mcp_identity", {})["agent_id"] == "Claude C-de"


def test_a_killed_host_costs_no_call_and_no_write(folder: Path, agent: Agent) -> None:
    written = []
    for number in range(4):
        written.append(agent.values("remember", {"content": f"Buoy {number} is lit.", "path": "sea/buoys"})["id"])
        kill_host(folder)
    found = agent.values("recall_context", {"query": "*", "path_filter": "sea/buoys", "max_items": 50})["hits"]
    assert sorted(hit["id"] for hit in found) == sorted(written)


def test_many_processes_share_a_folder_while_its_host_is_killed(tmp_path: Path) -> None:
    def work(worker: int) -> list[str]:
        done = []
        with Agent(tmp_path) as agent:
            agent.hello(f"worker {worker}")
            for number in range(ROUNDS):
                text = f"Worker {worker} saw comet {worker}-{number}."
                done.append(agent.values("remember", {"content": text, "path": f"sky/{worker}"})["id"])
                agent.values("search_memory", {"query": text})
                agent.values("update_state", {"current_task": text, "scope": f"w{worker}"})
                forgotten = agent.values("remember", {"content": f"Passing note {worker}-{number}", "path": "tmp"})[
                    "id"
                ]
                agent.values("forget", {"target": forgotten})
        return done

    with ThreadPoolExecutor(PROCESSES) as pool:
        running = [pool.submit(work, worker) for worker in range(PROCESSES)]
        deadline = time.monotonic() + 60
        while living_socket(tmp_path) is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)
        kill_host(tmp_path)
        written = sorted(memory_id for each in running for memory_id in each.result())
    with RemoteEngine(tmp_path) as engine:
        me = engine.local_owner()
        page = engine.list_memories(me, ListQuery(limit=500))
        assert sorted(each.id for each in page.memories if each.path.startswith("sky/")) == written
        assert not [each for each in page.memories if each.path == "tmp"]
        assert engine.doctor().equal
    kill_host(tmp_path, signal.SIGTERM)
