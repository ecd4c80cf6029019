"""`xmemo-agent-framework` 0.2.0, unmodified, against a real host: its three reads and its captures."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
import pytest
from xmemo_agent_framework.capture import (
    Behavior,
    CaptureDispatchError,
    CapturePolicy,
    CaptureProvider,
    ResolvedIdentity,
    RunProvenance,
    Target,
)
from xmemo_agent_framework.connection import Connection, XMemoError
from xmemo_agent_framework.policy import Policy, ReadRoute
from xmemo_agent_framework.provider import Provider

from engine.domain.access import Scope
from tests.services.server import RunningHost

T = TypeVar("T")
QUESTION = "When does the release train leave?"
OCCURRED = "2026-03-01T10:00:00+00:00"
BUDGET = 20_000


@pytest.fixture
def token(running_host: RunningHost) -> str:
    return running_host.issue(spaces=[(f"framework-{uuid.uuid4().hex}", True)])


@pytest.fixture
def backend(running_host: RunningHost, token: str) -> httpx.Client:
    return running_host.client(token)


def connected(host: RunningHost, token: str, use: Callable[[Any], Awaitable[T]]) -> T:
    """Run `use` with a connection of the client, and close it."""

    async def run() -> T:
        connection = Connection(host.url, token, allow_local_http=True)
        try:
            return await use(connection)
        finally:
            await connection.aclose()

    return asyncio.run(run())


def read(host: RunningHost, token: str, query: str = QUESTION, **policy: Any) -> Any:
    """What the client injects for a question."""
    wanted = Policy(recall_enabled=True, **{"max_tokens": BUDGET, **policy})
    return connected(host, token, lambda connection: Provider(connection, wanted).before_run(query))


def remember(backend: httpx.Client, content: str, **fields: Any) -> str:
    return str(backend.post("/v1/remember", json={"content": content, "path": "notes", **fields}).json()["id"])


def test_recall_injects_one_pack_with_all_ids(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    stored = {remember(backend, f"The release train number {n} leaves on Tuesdays.") for n in range(3)}
    found = read(running_host, token)
    assert found.audit.outcome == "injected" and found.dropped_items == 0
    assert set(found.items[0].provenance.memory_ids) == stored
    assert "release train" in found.items[0].text
    assert str(uuid.UUID(found.audit.request_id)) == found.audit.request_id


def test_recall_never_sends_more_items_than_asked(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    for number in range(6):
        remember(backend, f"Depot {number} repairs the release train on line {number}.")
    found = read(running_host, token, query="release train", max_items=2)
    assert found.audit.outcome == "injected" and found.dropped_items == 0
    assert 1 <= len(found.items[0].provenance.memory_ids) <= 2


def test_an_empty_store_injects_nothing(running_host: RunningHost, token: str) -> None:
    assert read(running_host, token).audit.outcome == "empty"


def test_a_scope_is_applied_and_told(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    kept = remember(backend, "The release train leaves on Tuesdays.", scope="team/rail")
    remember(backend, "The release train leaves on Sundays.", scope="team/sea")
    found = read(running_host, token, scope="team/rail")
    assert found.items[0].provenance.memory_ids == (kept,)
    assert found.audit.effective_scope == "team/rail"


def test_search_gives_one_item_for_each_result(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    kept = remember(backend, "The release train leaves on Tuesdays.")
    remember(backend, "The canteen serves soup.")
    found = read(running_host, token, route=ReadRoute.SEARCH)
    assert [item.provenance.memory_ids for item in found.items] == [(kept,)]
    assert found.items[0].text == "The release train leaves on Tuesdays."
    assert found.audit.outcome == "injected"


def test_search_without_a_match_injects_nothing(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    remember(backend, "The canteen serves soup.")
    found = read(running_host, token, query="What is the name of the parrot?", route=ReadRoute.SEARCH)
    assert found.audit.outcome == "empty" and found.items == ()


def test_a_project_context_names_its_scope(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    kept = remember(backend, "The release train leaves on Tuesdays.", scope="tenant:project:p1")
    found = read(running_host, token, route=ReadRoute.PROJECT, project_id="p1")
    assert found.audit.outcome == "injected"
    assert found.audit.effective_scope == "tenant:project:p1"
    assert kept in found.items[0].provenance.memory_ids


@pytest.mark.parametrize(
    ("prepare", "policy", "code"),
    [
        (lambda host: "mv_abcdefgh_" + "x" * 43, {}, "permission_denied"),
        (lambda host: host.issue(scopes=frozenset({Scope.WRITE})), {}, "permission_denied"),
        (lambda host: host.issue(), {"team_id": str(uuid.uuid4())}, "unexpected_response"),
    ],
)
def test_refusals_have_the_codes_of_the_client(
    running_host: RunningHost, prepare: Callable[[RunningHost], str], policy: dict[str, Any], code: str
) -> None:
    with pytest.raises(XMemoError) as raised:
        read(running_host, prepare(running_host), **policy)
    assert raised.value.code == code
    assert raised.value.response_request_id is not None, "errors carry an audit id too"


def test_an_invalid_query_is_an_invalid_request(running_host: RunningHost, token: str) -> None:
    with pytest.raises(XMemoError) as raised:
        read(running_host, token, query="   ")
    assert (raised.value.status, raised.value.code) == (422, "invalid_request")


async def identity_of(connection: Any) -> Any:
    """The identity that captures are built on: one bare tool call and one project answer."""
    params = {"name": "get_mcp_identity", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    who = await connection._client.post("/mcp", json=call, headers=headers)
    text = who.json()["result"]["content"][0]["text"]
    fields = dict(line.split(": ", 1) for line in text.splitlines()[1:])
    project_id = json.loads(fields["Tenant"])["project_id"]
    project = await connection._client.post(f"/v1/projects/{project_id}/context", json={})
    return ResolvedIdentity.from_server_responses(connection, who, project)


def capture(host: RunningHost, token: str, content: str, times: int = 1, **policy: Any) -> list[Any]:
    """The receipts of capturing one text so many times."""
    provenance = RunProvenance("run-1", "session-1", (str(uuid.uuid4()),), OCCURRED)

    async def run(connection: Any) -> list[Any]:
        identity = await identity_of(connection)
        wanted = CapturePolicy(enabled=True, **policy)
        provider = CaptureProvider(connection, wanted, identity=identity)
        receipts = []
        for _ in range(times):
            candidate = await provider.after_run(content, provenance=provenance)
            receipts.append(await provider.dispatch(candidate))
        return receipts

    return connected(host, token, run)


def test_a_captured_fact_is_stored_once(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    first, second = capture(
        running_host,
        token,
        "The release train leaves on Tuesdays.",
        times=2,
        target=Target.REMEMBER,
        behavior=Behavior.SEMANTIC_KEY_SAME_CONTENT_NOOP,
    )
    assert first.outcome == "server_acknowledged" and first.memory_id == second.memory_id
    stored = backend.get(f"/v1/memories/{first.memory_id}").json()
    assert stored["version"] == 1 and stored["semantic_key"].startswith("maf-capture:")
    assert stored["metadata"]["capture"]["run_id"] == "run-1"


def test_a_captured_state_is_versioned(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    policy = {"target": Target.STATE, "behavior": Behavior.STATE_VERSIONED_UPSERT, "state_key": "focus"}
    first = capture(running_host, token, "Working on the timetable.", **policy)[0]
    second = capture(running_host, token, "Working on the map.", **policy)[0]
    assert first.memory_id == second.memory_id
    stored = backend.get(f"/v1/memories/{first.memory_id}").json()
    assert stored["version"] == 2 and stored["content"] == "Working on the map."


def test_a_captured_event_is_appended(running_host: RunningHost, token: str, backend: httpx.Client) -> None:
    policy = {"target": Target.EVENT, "behavior": Behavior.EVENT_APPEND_NO_DEDUPE, "event_type": "decision"}
    first, second = capture(running_host, token, "We chose the blue map.", times=2, **policy)
    assert first.memory_id != second.memory_id
    events = backend.get("/v1/timeline", params={"session_id": "session-1"}).json()["events"]
    assert {event["id"] for event in events} == {first.memory_id, second.memory_id}


def test_a_capture_is_judged_by_the_rights_of_that_moment(running_host: RunningHost, token: str) -> None:
    async def run(connection: Any) -> None:
        policy = CapturePolicy(enabled=True, target=Target.REMEMBER, behavior=Behavior.SEMANTIC_KEY_SAME_CONTENT_NOOP)
        provider = CaptureProvider(connection, policy, identity=await identity_of(connection))
        provenance = RunProvenance("run-1", "session-1", (str(uuid.uuid4()),), OCCURRED)
        candidate = await provider.after_run("The release train leaves.", provenance=provenance)
        with running_host.administration() as (administration, owner):
            administration.revoke_token(owner, token[:11])
        await provider.dispatch(candidate)

    with pytest.raises(CaptureDispatchError) as raised:
        connected(running_host, token, run)
    assert raised.value.code == "permission_denied"
