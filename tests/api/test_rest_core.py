"""The core endpoints, asked as a backend asks them: plain HTTP against a real host."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.services.server import RunningHost


@pytest.fixture
def backend(running_host: RunningHost) -> httpx.Client:
    """A client whose token sees only a space of this test."""
    return running_host.client(running_host.issue(spaces=[(f"space-{uuid.uuid4().hex}", True)]))


def remember(client: httpx.Client, content: str, **fields: Any) -> dict[str, Any]:
    answer = client.post("/v1/remember", json={"content": content, "path": "notes", **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def search(client: httpx.Client, query: str, **params: Any) -> dict[str, Any]:
    answer = client.get("/v1/memories/search", params={"query": query, **params})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ids(body: dict[str, Any]) -> list[str]:
    return [item["id"] for item in body["results"]]


def test_a_stored_memory_is_found_at_once_with_equal_scores(backend: httpx.Client) -> None:
    written = remember(backend, "The release train leaves on Tuesdays at ten.")
    assert written["id"] == written["memory_id"] == str(uuid.UUID(written["id"]))
    assert written["status"] == "created" and written["version"] == 1
    hit = search(backend, "When does the release train leave?")["results"][0]
    assert hit["id"] == written["id"]
    assert hit["score"] == hit["similarity"] == hit["confidence"] > 0.5


def test_what_is_not_stored_is_an_explicit_no_match(backend: httpx.Client) -> None:
    remember(backend, "The release train leaves on Tuesdays at ten.")
    body = search(backend, "What is the name of the neighbour's parrot?")
    assert body["results"] == []
    refused = body["no_match"]
    assert refused["reason"] == "below_threshold" and refused["considered"] == 1
    assert refused["best_confidence"] < refused["threshold"]
    assert "release train" not in str(body), "the rejected text is not told"


def test_the_same_question_forgivingly_gets_a_weak_hit(backend: httpx.Client) -> None:
    remember(backend, "The release train leaves on Tuesdays at ten.")
    question = "What is the name of the neighbour's parrot?"
    assert search(backend, question, mode="forgiving")["results"][0]["label"] == "weak"
    assert backend.get("/v1/recall", params={"query": question}).json()["results"][0]["label"] == "weak"


def test_a_threshold_replaces_the_strict_cut(backend: httpx.Client) -> None:
    remember(backend, "The release train leaves on Tuesdays at ten.")
    question = "When does the release train leave?"
    assert search(backend, question, threshold="1.0")["results"] == []
    assert search(backend, question, min_confidence=0.01)["results"]


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1"])
def test_both_prefixes_serve_the_same(backend: httpx.Client, prefix: str) -> None:
    written = remember(backend, "Ilse keeps the keys of the archive.")
    assert backend.get(f"{prefix}/memories/{written['id']}").json()["content"] == "Ilse keeps the keys of the archive."


def test_unset_fields_and_numbers_as_text_are_read(backend: httpx.Client) -> None:
    written = remember(backend, "Boxes are blue.", importance="0.25", scope=None, semantic_key="", dedupe="true")
    assert written["importance"] == 0.25 and written["semantic_key"] is None
    assert search(backend, "*", limit="1", explain="false", prefer_working="false")["results"]


def test_an_unknown_field_is_named_on_a_write_and_refused_on_a_read(backend: httpx.Client) -> None:
    answer = backend.post("/v1/remember", json={"content": "Boxes are blue.", "colour": "blue", "x\ny": 1})
    assert answer.status_code == 200
    assert answer.headers["X-Memvouch-Ignored"] == "colour, x%0Ay"
    refused = backend.get("/v1/memories/search", params={"query": "boxes", "buckt": "work"})
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["query", "buckt"]
    assert "bucket" in refused.json()["detail"][0]["msg"]
    packed = backend.post("/v1/recall/context", json={"query": "boxes", "max_itms": 3})
    assert packed.status_code == 422 and "max_items" in packed.json()["detail"][0]["msg"]


def test_a_filter_in_the_wrong_place_is_refused_rather_than_dropped(backend: httpx.Client) -> None:
    answer = backend.post("/v1/recall/context", params={"path": "notes"}, json={"query": "boxes"})
    assert answer.status_code == 422 and "path" in answer.text


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x", "limit": "0"}, "limit"),
        ({"query": "x", "threshold": "2"}, "threshold"),
        ({"query": "x", "memory_type": "nonsense"}, "memory_type"),
        ({"query": "x", "path": "a\\"}, "path"),
        ({"query": "x", "mode": "loose"}, "mode"),
        ({"query": "x", "status": "gone"}, "status"),
        ({"query": "x", "since": ""}, "since"),
        ({"query": "x", "since": "2026-01-01T00:00:00"}, "since"),
        ({"query": "x", "since": "2026-02-30T00:00:00Z"}, "since"),
        ({"query": "x", "since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "until"),
        ({"query": "x", "owner_timezone": "Mars/Olympus"}, "owner_timezone"),
        ({"query": "x", "time_order": "sideways"}, "time_order"),
        ({"query": "x", "agent_instance_id": "i"}, "agent_instance_id"),
    ],
)
def test_a_faulty_field_is_named(backend: httpx.Client, params: dict[str, str], field: str) -> None:
    answer = backend.get("/v1/memories/search", params=params)
    assert answer.status_code == 422
    assert field in answer.text


def test_an_activity_log_needs_both_bounds_and_lists_the_window_in_order(backend: httpx.Client) -> None:
    first, second = remember(backend, "Boxes are blue."), remember(backend, "Crates are red.")
    assert backend.get("/v1/memories/search", params={"query": "*", "query_mode": "activity_log"}).status_code == 422
    window = {"since": first["created_at"], "until": "2999-01-01T00:00:00Z", "query_mode": "activity_log"}
    assert ids(search(backend, "anything at all", time_order="asc", **window)) == [first["id"], second["id"]]


def test_a_window_holds_its_start_and_not_its_end(backend: httpx.Client) -> None:
    first, second = remember(backend, "Boxes are blue."), remember(backend, "Crates are red.")
    bounds = {"since": first["created_at"], "until": second["created_at"]}
    assert ids(search(backend, "*", **bounds)) == [first["id"]]
    later = first["created_at"].replace("Z", "0001Z")
    assert ids(search(backend, "*", since=later)) == [second["id"]], "a digit beyond the microsecond counts"


def test_filters_narrow_by_path_bucket_scope_and_type(backend: httpx.Client) -> None:
    kept = remember(backend, "Boxes are blue.", path="a/b", bucket="one", scope="s/1", memory_type="procedural")
    remember(backend, "Boxes are green.", path="ab", bucket="two", scope="s/2", memory_type="semantic")
    for params in (
        {"path": "a"},
        {"path_filter": "a/%"},
        {"path": "a/*"},
        {"bucket": "one"},
        {"scope": "s/1"},
        {"memory_type": "proc%"},
    ):
        assert ids(search(backend, "*", **params)) == [kept["id"]], params
    assert len(ids(search(backend, "*", bucket="%", scope="%", memory_type="auto", path="%"))) == 2


def test_bucket_and_scope_come_back_verbatim(backend: httpx.Client) -> None:
    remember(backend, "Boxes are blue.", bucket="Work Bücket", scope="Hermes/Default")
    item = search(backend, "*", bucket="Work Bücket", scope="Hermes/Default")["results"][0]
    assert (item["bucket"], item["scope"]) == ("Work Bücket", "Hermes/Default")


def test_a_pack_keeps_its_limits_and_says_what_it_used(backend: httpx.Client) -> None:
    for number in range(6):
        remember(backend, f"Box number {number} holds tools for the workshop.")
    body = backend.post(
        "/v1/recall/context", json={"query": "tools in boxes", "max_items": 3, "max_tokens": 500}
    ).json()
    assert 1 <= len(body["items"]) <= 3
    assert body["budget"]["used_items"] == len(body["items"])
    assert 0 < body["budget"]["used_tokens"] <= 500
    assert body["context_text"].count("content: ") == len(body["items"])
    assert all(item["id"] == item["memory_id"] for item in body["items"])


def test_an_empty_pack_is_empty_everywhere(backend: httpx.Client) -> None:
    body = backend.post("/v1/recall/context", json={"query": "tools in boxes"}).json()
    assert body["items"] == [] and body["context_text"] == ""


def test_pages_follow_one_another_to_the_end(backend: httpx.Client) -> None:
    stored = {remember(backend, f"Box number {number} is here.", path=f"p/{number}")["id"] for number in range(5)}
    seen: list[str] = []
    cursor: int | None = 0
    while cursor is not None:
        page = backend.get("/v1/memories", params={"limit": 2, "offset": cursor, "path_prefix": "p/"}).json()
        assert page["count"] == len(page["memories"]) and page["total"] == 5
        seen += [item["id"] for item in page["memories"]]
        cursor = page["next_cursor"]
    assert len(seen) == 5 and set(seen) == stored


def test_a_patch_makes_a_version_and_leaves_unset_fields(backend: httpx.Client) -> None:
    written = remember(backend, "Boxes are blue.", metadata={"a": 1})
    body = {"content": "Boxes are green.", "path": None, "metadata": {"b": 2}, "merge_metadata": True}
    patched = backend.patch(f"/v1/memories/{written['id']}", json=body).json()
    assert patched["version"] == 2 and patched["path"] == "notes"
    assert patched["metadata"] == {"a": 1, "b": 2}
    moved = backend.patch(f"/v1/memories/{written['id']}", json={"path": "x", "expected_version": 1})
    assert moved.status_code == 409


@pytest.mark.parametrize(
    "forget",
    [
        lambda client, memory_id: client.post(f"/v1/memories/{memory_id}/forget", json={"bucket": "%"}),
        lambda client, memory_id: client.post(f"/v1/memories/{memory_id}/forget"),
        lambda client, memory_id: client.patch(f"/v1/memories/{memory_id}", json={"status": "deleted"}),
    ],
)
def test_a_forgotten_memory_vanishes_and_comes_back(
    backend: httpx.Client, forget: Callable[[httpx.Client, str], httpx.Response]
) -> None:
    memory_id = remember(backend, "The vault code is under the mat.")["id"]
    assert forget(backend, memory_id).status_code == 200
    for path in (f"/v1/memories/{memory_id}", f"/v1/memories/{memory_id}/explain"):
        assert backend.get(path).status_code == 404
    assert search(backend, "*")["results"] == []
    assert search(backend, "vault code", mode="forgiving")["results"] == []
    assert backend.post(f"/v1/memories/{memory_id}/restore", json={}).json()["id"] == memory_id
    assert ids(search(backend, "*")) == [memory_id]


def test_a_patch_to_active_restores(backend: httpx.Client) -> None:
    memory_id = remember(backend, "Boxes are blue.")["id"]
    backend.post(f"/v1/memories/{memory_id}/forget", json={})
    assert backend.patch(f"/v1/memories/{memory_id}", json={"status": "active"}).json()["status"] == "active"


def test_hard_delete_is_for_good_and_redact_keeps_the_record(backend: httpx.Client) -> None:
    gone, blank = remember(backend, "The code is 4711.")["id"], remember(backend, "The other code is 0815.")["id"]
    assert backend.post(f"/v1/memories/{gone}/forget", json={"mode": "hard_delete"}).json()["status"] == "removed"
    assert backend.post(f"/v1/memories/{gone}/restore").status_code == 404
    body = {"mode": "redact", "replacement_content": "A code."}
    assert backend.post(f"/v1/memories/{blank}/forget", json=body).json()["status"] == "redacted"
    assert backend.get(f"/v1/memories/{blank}").json()["content"] == "A code."


def test_forget_outside_of_the_named_bucket_finds_nothing(backend: httpx.Client) -> None:
    memory_id = remember(backend, "Boxes are blue.", bucket="one")["id"]
    assert backend.post(f"/v1/memories/{memory_id}/forget", json={"bucket": "two"}).status_code == 404
    assert backend.get(f"/v1/memories/{memory_id}").status_code == 200


@pytest.mark.parametrize("mode", ["soft_delete", "hard_delete"])
def test_a_repeated_delete_with_its_key_gets_the_first_answer(backend: httpx.Client, mode: str) -> None:
    memory_id = remember(backend, "Boxes are blue.")["id"]
    path, body = f"/v1/memories/{memory_id}/forget", {"mode": mode, "idempotency_key": uuid.uuid4().hex}
    first, again = backend.post(path, json=body), backend.post(path, json=body)
    assert first.status_code == again.status_code == 200 and first.json() == again.json()
    assert backend.post(path, json={"mode": mode}).status_code == 404, "without the key it is gone"
    other = remember(backend, "Crates are red.")["id"]
    assert backend.post(f"/v1/memories/{other}/forget", json=body).status_code == 409


def test_a_key_whose_record_was_removed_for_good_writes_anew(backend: httpx.Client) -> None:
    body = {"content": "Boxes are blue.", "path": "notes", "idempotency_key": uuid.uuid4().hex}
    first = backend.post("/v1/remember", json=body).json()["id"]
    backend.post(f"/v1/memories/{first}/forget", json={"mode": "hard_delete"})
    again = backend.post("/v1/remember", json=body)
    assert again.status_code == 200 and again.json()["id"] != first
    assert backend.post("/v1/remember", json=body).json()["id"] == again.json()["id"]


def test_an_explanation_says_how_strict_search_judges_the_record(backend: httpx.Client) -> None:
    memory_id = remember(backend, "The release train leaves on Tuesdays at ten.")["id"]
    params = {"query": "When does the release train leave?", "include_embedding": "true", "since": "whatever"}
    body = backend.get(f"/v1/memories/{memory_id}/explain", params=params).json()
    assert body["memory"]["id"] == memory_id and body["explanation"]["verdict"] == "returned"
    assert len(body["embedding"]) == 384


def test_working_state_is_one_versioned_slot(backend: httpx.Client) -> None:
    first = backend.post("/v1/update_state", json={"current_task": "ship", "ttl_seconds": "86400"}).json()
    second = backend.post("/api/v1/update_state", json={"current_task": "rest", "next_action": ""}).json()
    assert first["id"] == second["id"] and (first["version"], second["version"]) == (1, 2)
    assert second["status"] == "active" and second["state_key"] == "active_task" and second["expires_at"] is None
    assert first["ttl_seconds"] == 86400 and first["expires_at"] is not None
    assert second["metadata"]["current_task"] == "rest" and "next_action" not in second["metadata"]


def test_preferred_working_state_comes_first(backend: httpx.Client) -> None:
    remember(backend, "Shipping the July release is on the list of tasks.")
    state = backend.post("/v1/update_state", json={"current_task": "Shipping the July release"}).json()
    found = backend.get("/v1/recall", params={"query": "July release", "prefer_working": "true"}).json()
    assert found["results"][0]["id"] == state["id"]


def test_ids_that_are_no_uuids_are_400_and_unknown_ones_404(backend: httpx.Client) -> None:
    malformed = backend.get("/v1/memories/not-an-id")
    assert malformed.status_code == 400
    assert malformed.json()["detail"]["code"] == malformed.json()["error"]["code"] == "invalid_memory_id"
    unknown = backend.get(f"/v1/memories/{uuid.uuid4()}")
    assert (unknown.status_code, unknown.json()) == (404, {"detail": "Memory not found"})


@pytest.mark.parametrize("path", ["/v1/ledger", "/nothing", "/v1/memories/", "/v1/skills", "/"])
def test_a_missing_endpoint_is_a_json_404_without_a_redirect(backend: httpx.Client, path: str) -> None:
    answer = backend.get(path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_every_answer_carries_its_ids(running_host: RunningHost, backend: httpx.Client) -> None:
    answers = [
        backend.get("/v1/memories", headers={"X-Request-ID": "mine-1"}),
        backend.get("/nothing"),
        backend.get("/v1/memories/not-an-id"),
        running_host.client(None).get("/v1/memories"),
        running_host.client(None).get("/health", headers={"Host": "evil.example"}),
    ]
    assert answers[0].headers["X-Request-ID"] == "mine-1"
    seen = {str(uuid.UUID(answer.headers["X-XMemo-Audit-ID"])) for answer in answers}
    assert len(seen) == len(answers)


def test_the_token_says_what_it_may_do_and_can_be_given_up(running_host: RunningHost) -> None:
    client = running_host.client(running_host.issue())
    body = client.get("/v1/auth/token/validate").json()
    assert body["status"] == "valid" and body["scopes"] == ["memory:read", "memory:write"]
    assert body["setup_state"] == "setup_completed"
    assert client.post("/v1/auth/token/revoke-self", json={}).status_code == 200
    assert client.get("/v1/auth/token/validate").status_code == 403
