"""The skill operations: one endpoint, and the shapes that its clients insist on."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from engine.domain.access import Scope
from tests.services.server import RunningHost


def run(client: httpx.Client, operation: str, **arguments: Any) -> Any:
    answer = client.post("/v1/skill/operations", json={"operation": operation, "arguments": arguments})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["ok"] is True and body["operation"] == operation
    return body["result"]


def test_doctor_works_without_a_credential_and_knows_a_bad_one(
    running_host: RunningHost, backend: httpx.Client
) -> None:
    assert run(running_host.client(None), "doctor")["auth_valid"] is False
    assert run(running_host.client("mv_abcdefgh_" + "x" * 43), "doctor")["scopes"] == []
    found = run(backend, "doctor")
    assert (found["auth_valid"], found["scopes"]) == (True, ["memory:read", "memory:write"])


def test_remember_gives_an_id_and_recall_an_array(backend: httpx.Client) -> None:
    memory_id = run(backend, "remember", content="The release train leaves on Tuesdays.", path="team")
    assert memory_id == str(uuid.UUID(memory_id))
    for operation in ("recall", "search"):
        found = run(backend, operation, query="When does the release train leave?", limit="3", explain="false")
        assert [each["id"] for each in found] == [memory_id]
    assert run(backend, "search", query="the neighbour's parrot") == []


def test_state_is_saved_and_restored(backend: httpx.Client) -> None:
    assert run(backend, "state-restore") is None
    saved = run(backend, "state-save", key="build", current_task="compile", ttl_seconds="60")
    assert (saved["state_key"], saved["version"]) == ("build", 1)
    restored = run(backend, "state-restore", state_key="build", bucket="work", scope="")
    assert (restored["state_key"], restored["version"], "compile" in restored["content"]) == ("build", 1, True)
    assert restored["expires_at"] is not None


def test_todos_are_an_array_with_done(backend: httpx.Client) -> None:
    first = run(backend, "todo-add", content="renew the certificate", due_at="2026-06-01")
    run(backend, "todo-add", content="water the plants")
    run(backend, "todo-done", id=first["id"])
    run(backend, "todo-done", todo_id=first["id"])
    found = run(backend, "todo-list")
    assert {each["content"]: each["status"] for each in found} == {
        "renew the certificate": "done",
        "water the plants": "open",
    }


def test_overview_and_activity_count(backend: httpx.Client) -> None:
    run(backend, "remember", content="One.", path="x")
    assert run(backend, "overview")["totals"]["memories"] == 1
    found = run(backend, "activity", limit="5")
    assert found["total"] == 1 and len(found["activity"]) == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"operation": "expense-add", "arguments": {}}, 404, "not_found"),
        ({"operation": "remember", "arguments": {}}, 422, "invalid_request"),
        ({"operation": "search", "arguments": {"query": "x", "limit": "many"}}, 422, "invalid_request"),
        ({"operation": "todo-done", "arguments": {"id": "nonsense"}}, 400, "invalid_memory_id"),
        ({"operation": "todo-done", "arguments": {"id": str(uuid.uuid4())}}, 404, "not_found"),
        ({}, 422, "invalid_request"),
    ],
)
def test_errors_have_a_code(backend: httpx.Client, body: dict[str, Any], status: int, code: str) -> None:
    answer = backend.post("/v1/skill/operations", json=body)
    assert (answer.status_code, answer.json()["ok"], answer.json()["error"]["code"]) == (status, False, code)
    assert answer.json()["error"]["message"] and answer.headers["content-type"] == "application/json"


def test_a_missing_bad_or_weak_credential_has_a_code(running_host: RunningHost) -> None:
    body = {"operation": "remember", "arguments": {"content": "x"}}
    reader = running_host.issue(scopes=frozenset({Scope.READ}))
    for token, status, code in (
        (None, 401, "authentication_required"),
        ("mv_abcdefgh_" + "x" * 43, 403, "invalid_token"),
        (reader, 403, "permission_denied"),
    ):
        answer = running_host.client(token).post("/api/v1/skill/operations", json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
