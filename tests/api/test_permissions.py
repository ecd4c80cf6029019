"""The permission matrix: every route by every kind of caller. Nothing passes that should not."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator

import pytest

from tests.api.permissions import OPEN, PUBLIC, TABLE, UNTABLED, Caller, Row, World, expected, world, wrong_scopes
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
