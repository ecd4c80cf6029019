"""`/mcp` over HTTP: the SDK's client in every protocol version, and requests as old clients send them."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from api.app import create_app
from api.mcp_route import Profiles
from api.options import ServerOptions
from engine.domain.access import Scope
from engine.errors import NotFound
from mcp_profiles import listing
from mcp_profiles.profile import built_in_names, load
from tests.engines import open_engine
from tests.mcp.examples import PROJECTOR, arguments
from tests.services.server import RunningHost, serve

ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with serve(tmp_path_factory.mktemp("mcp-http")) as running:
        yield running


def post(
    client: httpx.Client,
    method: str,
    params: Mapping[str, Any] | None = None,
    path: str = "/mcp",
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
    return client.post(path, json=body, headers={**ACCEPT, **(headers or {})})


def call(
    client: httpx.Client, tool: str, given: Mapping[str, Any], profile: str = "full", **headers: str
) -> dict[str, Any]:
    response = post(client, "tools/call", {"name": tool, "arguments": dict(given)}, f"/mcp/{profile}", headers)
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()["result"]
    return result


def values(client: httpx.Client, tool: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    result = call(client, tool, given)
    assert not result["isError"], result
    structured: Mapping[str, Any] = result["structuredContent"]
    return structured


@pytest.mark.parametrize("mode", ["legacy", LATEST_MODERN_VERSION])
@pytest.mark.parametrize("name", built_in_names())
def test_the_sdk_client_lists_and_calls_every_tool_of_a_profile(host: RunningHost, name: str, mode: str) -> None:
    plain = host.client()

    async def run() -> None:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {host.owner_token}"}, timeout=30) as http:
            transport = streamable_http_client(f"{host.url}/mcp/{name}", http_client=http)
            async with Client(transport, mode=mode) as client:
                listed = (await client.list_tools()).tools
                assert [tool.name for tool in listed] == [entry["name"] for entry in listing.tools(load(name))]
                for tool in listed:
                    sent = arguments(tool.name, lambda other, given: values(plain, other, given))
                    result = await client.call_tool(tool.name, sent)
                    assert not result.is_error, (tool.name, result)
                    first = result.content[0]
                    assert isinstance(first, TextContent)
                    assert result.structured_content and result.structured_content["result"] == first.text

    asyncio.run(run())


def test_generic_and_claude_find_the_same_and_differ_in_parameters(host: RunningHost) -> None:
    client = host.client()
    values(client, "remember", {"content": PROJECTOR, "path": "office/projector"})
    query = {"query": "Where is the spare projector?"}
    rest = client.get("/v1/memories/search", params={**query, "limit": 5}).json()["results"]
    for profile in ("generic", "claude", "full"):
        hits = call(client, "search_memory", query, profile)["structuredContent"]["hits"]
        assert [hit["id"] for hit in hits] == [item["id"] for item in rest]
    narrowed = {**query, "path_filter": "office/%"}
    assert not call(client, "search_memory", narrowed, "claude")["isError"]
    refused = call(client, "search_memory", narrowed, "generic")
    assert refused["isError"] and "path_filter" in refused["content"][0]["text"]


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_every_handshake_version_is_taken(host: RunningHost, version: str) -> None:
    client = host.client()
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    response = post(client, "initialize", hello)
    assert response.status_code == 200 and response.headers["content-type"].startswith("application/json")
    assert response.json()["result"]["protocolVersion"] == version
    assert response.json()["result"]["serverInfo"]["name"] == "memvouch"
    session = response.headers["mcp-session-id"]
    listed = post(client, "tools/list", headers={"Mcp-Session-Id": session, "MCP-Protocol-Version": version})
    assert len(listed.json()["result"]["tools"]) == 10
    assert listed.headers["mcp-session-id"] == session


def test_the_sdk_session_of_old_works_with_a_session_id(host: RunningHost) -> None:
    async def run() -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {host.owner_token}"}, timeout=30) as http,
            streamable_http_client(f"{host.url}/mcp", http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            await session.send_ping()
            assert len((await session.list_tools()).tools) == 10

    asyncio.run(run())


def test_one_bare_call_without_a_session_is_answered(host: RunningHost) -> None:
    response = post(host.client(), "tools/call", {"name": "get_mcp_identity"})
    assert response.status_code == 200
    assert uuid.UUID(response.headers["x-xmemo-audit-id"])
    assert response.json()["id"] == 7
    assert len(response.json()["result"]["content"][0]["text"].split("\n")) == 5


def test_a_session_id_of_another_life_still_works(host: RunningHost) -> None:
    response = post(host.client(), "tools/list", headers={"Mcp-Session-Id": "from-before-the-restart"})
    assert response.status_code == 200


def test_notifications_are_accepted_and_one_with_an_id_does_no_harm(host: RunningHost) -> None:
    client = host.client()
    plain = client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=ACCEPT)
    assert plain.status_code == 202 and not plain.content
    assert post(client, "notifications/initialized").status_code < 500


def test_there_is_no_stream_to_get_and_nothing_to_delete(host: RunningHost) -> None:
    client = host.client()
    assert client.get("/mcp").status_code == 405
    assert client.get("/mcp").json()["detail"]
    assert client.delete("/mcp").status_code == 200


def test_an_unknown_profile_is_not_found_as_json(host: RunningHost) -> None:
    for name in ("nope", "..%2Fgeneric", "generic.toml"):
        response = host.client().post(f"/mcp/{name}", json={}, headers=ACCEPT)
        assert response.status_code == 404 and response.json()["detail"]


@pytest.mark.parametrize("token", [None, "mv_wrong-token-of-some-length"])
def test_missing_and_invalid_tokens_are_challenged(host: RunningHost, token: str | None) -> None:
    response = post(host.client(token), "tools/list")
    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer ")
    assert "resource_metadata=" in response.headers["www-authenticate"]
    assert uuid.UUID(response.headers["x-xmemo-audit-id"]) and response.json()["detail"]


def test_foreign_pages_and_host_names_are_refused(host: RunningHost) -> None:
    client = host.client()
    assert post(client, "tools/list", headers={"Origin": "https://evil.example"}).status_code == 403
    assert post(client, "tools/list", headers={"Host": "rebound.example"}).status_code == 403


def test_a_token_without_the_scope_is_told_which_one(host: RunningHost) -> None:
    reader = host.client(host.issue(scopes=frozenset({Scope.READ})))
    refused = call(reader, "remember", {"content": "x", "path": "y"})
    assert refused["isError"] and "memory:write" in refused["content"][0]["text"]
    writer = host.client(host.issue(scopes=frozenset({Scope.WRITE})))
    for tool in ("search_memory", "recall", "recall_context"):
        refused = call(writer, tool, {"query": "x"})
        assert refused["isError"] and "memory:read" in refused["content"][0]["text"]


def test_another_tenant_sees_nothing_and_a_foreign_id_reads_like_a_missing_one(host: RunningHost) -> None:
    client = host.client()
    memory_id = values(client, "remember", {"content": "The safe code is 4711-KX.", "path": "office"})["id"]
    stranger = host.client(host.issue(user="eve", tenant="elsewhere", scopes=frozenset(Scope)))
    for tool, given in (("search_memory", {"query": "safe code 4711-KX"}), ("recall", {"query": "safe code"})):
        assert "4711" not in json.dumps(call(stranger, tool, given)["structuredContent"]["hits"])
    missing = "01890000-0000-7000-8000-000000000000"
    for tool in ("explain_memory", "forget_memory", "restore_memory"):
        foreign = call(stranger, tool, {"memory_id": memory_id})["content"][0]["text"]
        assert foreign.replace(memory_id, missing) == call(stranger, tool, {"memory_id": missing})["content"][0]["text"]


def test_a_team_that_the_caller_is_not_in_never_widens(host: RunningHost) -> None:
    refused = call(host.client(), "search_memory", {"query": "x", "team_id": str(uuid.uuid4())})
    assert refused["isError"] and "Not found" in refused["content"][0]["text"]


def test_an_idempotency_key_makes_a_second_call_harmless(host: RunningHost) -> None:
    client, key = host.client(), {"Idempotency-Key": uuid.uuid4().hex}
    given = {"content": "Gate 9 opens at ten.", "path": "airport"}
    first, again = (call(client, "remember", given, **key) for _ in range(2))
    assert first["structuredContent"]["id"] == again["structuredContent"]["id"]


def test_a_body_that_is_no_message_is_a_protocol_error_in_json(host: RunningHost) -> None:
    client = host.client()
    for body in (b"{", b"[]", b'"x"', b'{"jsonrpc":"2.0","id":1}'):
        response = client.post("/mcp", content=body, headers={**ACCEPT, "Content-Type": "application/json"})
        assert 400 <= response.status_code < 500 and response.json()


def test_a_profile_of_the_users_own_is_served_and_changes_with_its_file(host: RunningHost) -> None:
    folder = host.data_dir / "profiles"
    folder.mkdir(exist_ok=True)
    text = 'name = "mine"\ninstructions = "Look things up."\n[tools.recall]\nparameters = ["query"]\n'
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    client = host.client()
    assert [tool["name"] for tool in post(client, "tools/list", path="/mcp/mine").json()["result"]["tools"]] == [
        "recall"
    ]
    (folder / "mine.toml").write_text(text + "[tools.get_mcp_identity]\n", encoding="utf-8")
    assert len(post(client, "tools/list", path="/mcp/mine").json()["result"]["tools"]) == 2


def test_a_profile_that_was_edited_or_removed_leaves_nothing_running_behind(tmp_path: Path) -> None:
    file = tmp_path / "profiles" / "mine.toml"
    file.parent.mkdir()
    text = 'name = "mine"\ninstructions = "Look things up."\n[tools.recall]\n'
    file.write_text(text, encoding="utf-8")

    async def play(profiles: Profiles) -> None:
        async def left(managers: int) -> None:
            with anyio.fail_after(10):
                while profiles.running_managers != managers:
                    await anyio.lowlevel.checkpoint()

        async with profiles.running():
            async with profiles.manager("mine") as first:
                file.write_text(f"{text}[tools.get_mcp_identity]\n", encoding="utf-8")
                async with profiles.manager("mine") as second:
                    assert first is not second
                await anyio.wait_all_tasks_blocked()
                assert profiles.running_managers == 2, "a request is still under way on the first"
            await left(1)
            file.unlink()
            with pytest.raises(NotFound):
                async with profiles.manager("mine"):
                    pass
            await left(0)

    with open_engine(tmp_path) as engine:
        anyio.run(play, create_app(engine, ServerOptions()).state.mcp)
