"""A second real client, the TypeScript SDK, lists and calls every tool of every profile.

It is installed by npm into `.npm-test/`, which git ignores. `MEMVOUCH_SKIP_NPM=1` skips it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_profiles import listing
from mcp_profiles.profile import built_in_names, load
from tests.mcp.examples import arguments
from tests.services.server import RunningHost, serve
from tests.shared_data import ROOT

PACKAGE = "@modelcontextprotocol/sdk@1.32.2"
CACHE = ROOT / ".npm-test"
SCRIPT = Path(__file__).with_name("typescript_client.mjs")


@pytest.fixture(scope="module")
def node() -> str:
    if os.environ.get("MEMVOUCH_SKIP_NPM") == "1":
        pytest.skip("MEMVOUCH_SKIP_NPM is set")
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        pytest.skip("node and npm are not installed")
    if not (CACHE / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir():
        CACHE.mkdir(exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(CACHE), PACKAGE]
        done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, check=False, timeout=240)
        if done.returncode != 0:
            pytest.skip(f"npm cannot install {PACKAGE}: {done.stderr[-300:]}")
    return found


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with serve(tmp_path_factory.mktemp("typescript")) as running:
        yield running


def prepared(host: RunningHost, tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The structured answer of a tool of the full profile, called plainly."""
    params = {"name": tool, "arguments": dict(given)}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = host.client().post("/mcp/full", json=message, headers={"Accept": "application/json"}).json()
    structured: Mapping[str, Any] = answer["result"]["structuredContent"]
    return structured


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("name", built_in_names())
def test_the_typescript_sdk_lists_and_calls_every_tool(node: str, host: RunningHost, name: str, transport: str) -> None:
    entries = listing.tools(load(name))
    calls = [
        {"name": entry["name"], "arguments": arguments(entry["name"], lambda tool, given: prepared(host, tool, given))}
        for entry in entries
    ]
    order: dict[str, Any] = {"calls": calls}
    if transport == "http":
        order |= {"url": f"{host.url}/mcp/{name}", "token": host.owner_token}
    else:
        options = ["-m", "cli.main", "mcp", "--profile", name, "--data-dir", str(host.data_dir)]
        order |= {"command": sys.executable, "args": options}
    environment = {key: value for key, value in os.environ.items() if key != "MEMVOUCH_IN_PROCESS"}
    done = subprocess.run(
        [node, str(SCRIPT), str(CACHE)],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [tool["name"] for tool in answer["tools"]] == [entry["name"] for entry in entries]
    assert [tool["inputSchema"] for tool in answer["tools"]] == [entry["inputSchema"] for entry in entries]
    for call, result in zip(calls, answer["results"], strict=True):
        assert not result["isError"], (call, result)
        assert result["structuredContent"]["result"] == result["content"][0]["text"]
