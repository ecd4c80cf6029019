"""Events, reminders and decisions over REST, as the contract's clients ask for them."""

from __future__ import annotations

import uuid

import httpx
import pytest

from tests.api_companion.requests import get, post


def test_an_event_is_flat_and_comes_back_first_on_the_timeline(backend: httpx.Client) -> None:
    first = post(backend, "/api/v1/timeline/events", content="deploy", occurred_at="2026-05-01T10:00:00Z")
    second = post(backend, "/v1/timeline/events", content="rollback", occurred_at="2026-05-01T11:00:00+01:00")
    third = post(backend, "/v1/timeline/events", content="note", event_type="note", session_id="s1")
    assert first["id"] == first["memory_id"] == first["event_id"] == str(uuid.UUID(first["id"]))
    assert (first["event_type"], first["bucket"], first["importance"]) == ("event", "work", 0.5)
    assert second["occurred_at"] == "2026-05-01T10:00:00Z"
    events = get(backend, "/v1/timeline", bucket="%", scope="")["events"]
    assert [each["id"] for each in events] == [third["id"], second["id"], first["id"]]
    assert [each["content"] for each in get(backend, "/v1/timeline", session_id="s1")["events"]] == ["note"]
    assert [each["content"] for each in get(backend, "/v1/timeline", event_type="note")["events"]] == ["note"]


def test_equal_events_are_two_events(backend: httpx.Client) -> None:
    ids = {post(backend, "/v1/timeline/events", content="tick")["id"] for _ in range(2)}
    assert len(ids) == 2
    assert len(get(backend, "/v1/timeline", limit="1")["events"]) == 1


def test_the_same_key_notes_an_event_once(backend: httpx.Client) -> None:
    ids = {post(backend, "/v1/timeline/events", content="tick", idempotency_key="k" * 32)["id"] for _ in range(2)}
    assert len(ids) == 1
    again = backend.post("/v1/timeline/events", json={"content": "tock", "idempotency_key": "k" * 32})
    assert again.status_code == 409


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        ("2026-05-01", "2026-05-02", ["noon"]),
        ("2026-05-01T12:00:00", None, ["late", "noon"]),
        ("2026-05-01T12:00:01Z", None, ["late"]),
        (None, "2026-05-01T12:00:00Z", []),
    ],
)
def test_timeline_bounds_without_an_offset_are_utc(
    backend: httpx.Client, since: str | None, until: str | None, found: list[str]
) -> None:
    post(backend, "/v1/timeline/events", content="noon", occurred_at="2026-05-01T12:00:00Z")
    post(backend, "/v1/timeline/events", content="late", occurred_at="2026-05-02T12:00:00Z")
    bounds = {name: value for name, value in (("since", since), ("until", until)) if value}
    assert [each["content"] for each in get(backend, "/v1/timeline", **bounds)["events"]] == found


def test_a_reminder_is_listed_until_it_is_completed_and_completing_twice_is_fine(backend: httpx.Client) -> None:
    made = post(backend, "/v1/reminders", content="renew the certificate", due_at="2026-06-01T09:00:00Z", scope=None)
    assert made["id"] == made["todo_id"] == made["memory_id"]
    assert (made["item_status"], made["due_at"], made["status"]) == ("open", "2026-06-01T09:00:00Z", "active")
    assert [each["id"] for each in get(backend, "/v1/reminders", bucket="%")["reminders"]] == [made["id"]]
    assert get(backend, "/v1/reminders", due_before="2026-06-01T09:00:00Z")["reminders"] == []
    done = post(backend, f"/v1/reminders/{made['id']}/complete", bucket="%", note="by Ida")
    again = post(backend, f"/v1/reminders/{made['id']}/complete")
    assert done["item_status"] == again["item_status"] == "completed"
    assert done["version"] == again["version"] and again["note"] == "by Ida"
    assert get(backend, "/v1/reminders")["reminders"] == []
    assert len(get(backend, "/v1/reminders", item_status="completed")["reminders"]) == 1
    assert len(get(backend, "/v1/reminders", item_status="%")["reminders"]) == 1


def test_completing_takes_an_empty_body_or_none(backend: httpx.Client) -> None:
    made = post(backend, "/v1/reminders", content="water the plants")
    assert backend.post(f"/v1/reminders/{made['id']}/complete").status_code == 200


def test_another_bucket_or_kind_is_not_found(backend: httpx.Client) -> None:
    made = post(backend, "/v1/reminders", content="water the plants")
    other = backend.post(f"/v1/reminders/{made['id']}/complete", json={"bucket": "private"})
    assert other.status_code == 404 and other.json() == {"detail": "Memory not found"}
    assert backend.post(f"/v1/decisions/{made['id']}/resolve", json={"resolution": "yes"}).status_code == 404
    assert backend.post(f"/v1/reminders/{uuid.uuid4()}/complete", json={}).json() == other.json()
    assert backend.post("/v1/reminders/nonsense/complete", json={}).status_code == 400


def test_a_decision_keeps_its_options_and_its_resolution(backend: httpx.Client) -> None:
    made = post(backend, "/v1/decisions", context="Which queue do we use?", options=["kafka", "rabbitmq"])
    assert made["id"] == made["decision_id"]
    listed = get(backend, "/v1/decisions")["decisions"]
    assert [(each["context"], each["options"], each["resolution"]) for each in listed] == [
        ("Which queue do we use?", ["kafka", "rabbitmq"], None)
    ]
    resolved = post(backend, f"/v1/decisions/{made['id']}/resolve", resolution="kafka, for its replay")
    assert (resolved["item_status"], resolved["resolution"]) == ("resolved", "kafka, for its replay")
    assert get(backend, "/v1/decisions")["decisions"] == []
    assert len(get(backend, "/v1/decisions", item_status="resolved")["decisions"]) == 1
    found = get(backend, "/v1/recall", query="Which queue, because of replay?")["results"]
    assert found[0]["id"] == made["id"]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/timeline/events", {}, "content"),
        ("/v1/timeline/events", {"content": "x", "occurred_at": "yesterday"}, "occurred_at"),
        ("/v1/timeline/events", {"content": "x", "importance": 2}, "importance"),
        ("/v1/reminders", {"content": ""}, "content"),
        ("/v1/reminders", {"content": "x", "due_at": "soon"}, "due_at"),
        ("/v1/decisions", {"options": ["a"]}, "context"),
        ("/v1/decisions", {"context": "x", "options": ["o"] * 21}, "options"),
        ("/v1/restart/snapshot", {"timeline_limit": 101}, "timeline_limit"),
        ("/v1/memories/export", {"curser": 1}, "curser"),
        ("/v1/memories/import", {"jsonl": "{}"}, "idempotency_key"),
    ],
)
def test_a_faulty_field_is_named(backend: httpx.Client, path: str, body: dict[str, object], field: str) -> None:
    answer = backend.post(path, json=body)
    assert answer.status_code == 422
    assert field in str(answer.json()["detail"][0]["loc"])


@pytest.mark.parametrize("path", ["/v1/timeline", "/v1/reminders", "/v1/decisions", "/v1/memories/stats"])
def test_a_read_refuses_a_filter_that_it_does_not_know(backend: httpx.Client, path: str) -> None:
    answer = backend.get(path, params={"scoope": "x"})
    assert answer.status_code == 422 and "scope" in answer.text


def test_what_is_forgotten_leaves_every_list(backend: httpx.Client) -> None:
    event = post(backend, "/v1/timeline/events", content="secret event")
    reminder = post(backend, "/v1/reminders", content="secret reminder")
    decision = post(backend, "/v1/decisions", context="secret decision")
    for each in (event, reminder, decision):
        post(backend, f"/v1/memories/{each['id']}/forget", bucket="%")
    for path in ("/v1/timeline", "/v1/reminders", "/v1/decisions", "/v1/memories/activity", "/v1/memories/stats"):
        assert "secret" not in str(get(backend, path))


def test_a_redacted_decision_shows_its_text_nowhere(backend: httpx.Client) -> None:
    made = post(backend, "/v1/decisions", context="secret plan", options=["secret way"])
    post(backend, f"/v1/memories/{made['id']}/forget", mode="redact")
    for path in ("/v1/decisions", f"/v1/memories/{made['id']}/versions", "/v1/memories/activity"):
        assert "secret" not in str(get(backend, path))


def test_scopes_and_buckets_are_kept_apart_and_echoed(backend: httpx.Client) -> None:
    made = post(backend, "/v1/reminders", content="in the scope", scope="hermes/default", bucket="private")
    assert (made["scope"], made["bucket"]) == ("hermes/default", "private")
    assert get(backend, "/v1/reminders", scope="other")["reminders"] == []
    assert get(backend, "/v1/reminders", scope="hermes/default", bucket="private")["reminders"]
    assert get(backend, "/v1/reminders", bucket="work")["reminders"] == []
