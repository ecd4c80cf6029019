"""The permission matrix: every route by every kind of caller. Nothing passes that should not."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from engine.domain.access import ALL_SCOPES, Scope
from tests.api.permissions import (
    OPEN,
    PUBLIC,
    TABLE,
    UNTABLED,
    About,
    Caller,
    Row,
    World,
    expected,
    world,
    wrong_scopes,
)
from tests.services.server import RunningHost

HIDDEN = "Record "
FOREIGN = [row for row in TABLE if "{memory_id}" in row.path and not row.is_crosmos]


@pytest.fixture(scope="module")
def stage(running_host: RunningHost) -> Iterator[World]:
    with world(running_host) as made:
        time.sleep(0.2)
        yield made


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_route_answers_every_caller_as_the_table_says(stage: World, row: Row) -> None:
    found: dict[Caller, int] = {}
    for caller in Caller:
        stage.renew(row)
        if caller is Caller.WRONG_SCOPE:
            stage.tokens[caller] = stage.host.issue(scopes=wrong_scopes(row))
        answer = stage.send(row, caller)
        found[caller] = answer.status_code
        if not answer.is_success:
            assert HIDDEN not in answer.text and answer.headers["content-type"] == "application/json"
        if caller is Caller.OTHER_TENANT:
            assert HIDDEN not in answer.text
    assert found == {caller: expected(row, caller) for caller in Caller}


def test_every_route_of_the_schemas_stands_in_the_table(running_host: RunningHost) -> None:
    client = running_host.client()
    schemas = [client.get(path).json() for path in ("/openapi.json", "/api/v1/openapi.json")]
    paths = {path: verbs for schema in schemas for path, verbs in schema["paths"].items()}
    routes = {f"{method.upper()} {path}" for path, verbs in paths.items() for method in verbs}
    routes = {route for route in routes if not route.partition(" ")[2].startswith(OPEN)}
    assert routes - {row.name for row in TABLE} - PUBLIC - UNTABLED == set()


@pytest.mark.parametrize("row", FOREIGN, ids=lambda row: row.name)
def test_a_foreign_id_answers_exactly_like_a_missing_one(stage: World, row: Row) -> None:
    stage.renew(row)
    foreign = stage.send(row, Caller.OTHER_TENANT)
    stage.record_id = str(uuid.uuid4())
    missing = stage.send(row, Caller.OTHER_TENANT)
    assert (foreign.status_code, foreign.content) == (missing.status_code, missing.content)
    changing = {"date", "x-request-id", "x-xmemo-audit-id"}
    assert {k: v for k, v in foreign.headers.items() if k not in changing} == {
        k: v for k, v in missing.headers.items() if k not in changing
    }


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row.writes and row.about is About.RECORD], ids=lambda r: r.name
)
def test_a_write_tells_nothing_to_a_token_that_may_not_read(stage: World, row: Row) -> None:
    stage.renew(row)
    stage.tokens[Caller.WRONG_SCOPE] = stage.host.issue(scopes=ALL_SCOPES - {Scope.READ, Scope.ADMIN})
    assert HIDDEN not in stage.send(row, Caller.WRONG_SCOPE).text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/v1/memories/{id}", {}),
        ("PATCH", "/v1/memories/{id}", {"importance": 0.5, "detect_conflicts": True}),
        ("POST", "/v1/memories/{id}/restore", {}),
        ("POST", "/v1/remember", {"content": "A secret place.", "path": "secret", "dedupe": True}),
        ("POST", "/v1/remember", {"content": "x", "semantic_key": "secret", "path": "p"}),
        *(
            ("POST", "/mcp/full", {"name": tool, "arguments": arguments})
            for tool, arguments in (
                ("update_memory", {"memory_id": "{id}", "importance": 0.5}),
                ("restore_memory", {"memory_id": "{id}"}),
            )
        ),
    ],
)
def test_no_write_verb_is_a_way_to_read(
    running_host: RunningHost, method: str, path: str, body: dict[str, Any]
) -> None:
    owner = running_host.client()
    kept = {"content": "A secret place.", "path": "secret", "semantic_key": "secret", "metadata": {"k": "secret"}}
    memory_id = owner.post("/v1/remember", json=kept).json()["id"]
    writer = running_host.client(running_host.issue(scopes=frozenset({Scope.WRITE})))
    if path.startswith("/mcp"):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": body}
    sent = json.loads(json.dumps(body).replace("{id}", memory_id))
    headers = {"Accept": "application/json, text/event-stream"}
    answer = writer.request(method, path.format(id=memory_id), json=sent, headers=headers)
    assert answer.status_code in (200, 403) and "secret" not in answer.text
    if "detect_conflicts" in body:
        assert answer.status_code == 403
        assert owner.get(f"/v1/memories/{memory_id}").json()["importance"] is None, "refused before the change"


def test_public_routes_need_no_token_and_say_nothing_private(stage: World) -> None:
    for route in PUBLIC:
        answer = stage.client(Caller.NOBODY).get(route.partition(" ")[2])
        assert answer.status_code == 200 and HIDDEN not in answer.text


def test_two_different_tokens_at_once_are_refused(running_host: RunningHost) -> None:
    first, second = running_host.issue(), running_host.issue()
    client = running_host.client(first, **{"X-API-Key": second})
    assert client.get("/v1/memories").status_code == 403
    assert running_host.client(first, **{"X-API-Key": first}).get("/v1/memories").status_code == 200
    assert running_host.client(None, **{"X-API-Key": first}).get("/v1/memories").status_code == 200


def test_a_revoked_token_is_refused_at_once(running_host: RunningHost) -> None:
    secret = running_host.issue()
    client = running_host.client(secret)
    assert client.get("/v1/memories").status_code == 200
    with running_host.administration() as (administration, owner):
        administration.revoke_token(owner, secret[:11])
    assert client.get("/v1/memories").status_code == 403


def test_a_narrowed_token_reaches_its_space_only_and_cannot_administer(running_host: RunningHost) -> None:
    name = f"narrow-{uuid.uuid4().hex}"
    client = running_host.client(running_host.issue(spaces=[(name, False)]))
    hidden = running_host.client().post("/v1/remember", json={"content": "Not for narrow tokens."}).json()["id"]
    assert client.get("/v1/memories").json()["memories"] == []
    assert client.get(f"/v1/memories/{hidden}").status_code == 404
    assert client.get("/v1/memories", params={"space": "default"}).status_code == 404
    assert client.post("/v1/remember", json={"content": "x y"}).status_code == 403
    assert client.post("/v1/admin/spaces", json={"name": "wider"}).status_code == 403


def test_every_change_of_a_permission_is_in_the_audit(running_host: RunningHost) -> None:
    owner = running_host.client()
    made = owner.post("/v1/admin/tokens", json={"name": "audited", "scopes": ["memory:read"]}).json()
    memory_id = owner.post("/v1/remember", json={"content": "Audited."}).json()["id"]
    receipt = owner.post(f"/v1/memories/{memory_id}/forget", json={"reason": "test"}).headers["X-XMemo-Audit-ID"]
    owner.delete(f"/v1/admin/tokens/{made['id']}")
    entries = owner.get("/v1/admin/audit").json()["entries"]
    of_token = [entry["action"] for entry in entries if entry["target"] == made["id"]]
    assert of_token == ["token.revoke", "token.create"]
    of_memory = [entry for entry in entries if entry["target"] == memory_id]
    assert len(of_memory) == 2 and of_memory[0]["detail"]["answer_id"] == receipt
    assert "Audited." not in str(entries) and made["token"] not in str(entries)
