"""Restart snapshots over REST."""

from __future__ import annotations

import uuid

import httpx

from engine.domain.access import Scope
from tests.api_companion.requests import get, post
from tests.services.server import RunningHost


def test_a_session_goes_on_where_the_last_one_stood(backend: httpx.Client) -> None:
    post(backend, "/v1/update_state", current_task="migrate", next_action="write tests")
    post(backend, "/v1/timeline/events", content="merged")
    post(backend, "/v1/reminders", content="tell Ida")
    post(backend, "/v1/decisions", context="Which queue?")
    taken = post(backend, "/v1/restart/snapshot", label="friday", session_id="s1", ttl_seconds=86400)
    assert taken["id"] == taken["snapshot_id"]
    counts = [taken[f"{name}_count"] for name in ("timeline", "reminders", "decisions", "states")]
    assert counts == [1, 1, 1, 1] and taken["expires_at"] is not None
    post(backend, "/v1/update_state", current_task="something else")

    restored = post(backend, "/v1/restart/restore")
    assert (restored["restored"], restored["status"], restored["snapshot_id"]) == (True, "restored", taken["id"])
    state = restored["snapshot"]["active_state"]
    assert state["metadata"] == {"current_task": "migrate", "next_action": "write tests", "blocked_reason": None}
    assert [each["content"] for each in restored["snapshot"]["reminders"]] == ["tell Ida"]
    assert [each["context"] for each in restored["snapshot"]["decisions"]] == ["Which queue?"]
    assert restored["state_update"]["version"] == 3 and restored["state_update"]["status"] == "active"
    assert get(backend, "/v1/timeline", event_type="restart_restore")["events"]


def test_a_restore_without_writes_is_a_pure_read(backend: httpx.Client) -> None:
    post(backend, "/v1/update_state", current_task="migrate")
    taken = post(backend, "/v1/restart/snapshot")
    before = get(backend, "/v1/memories/activity")["total"]
    read = post(
        backend,
        "/v1/restart/restore",
        snapshot_id=taken["id"],
        restore_state="false",
        record_restore_event=False,
    )
    assert read["restored"] and read["state_update"] is None
    assert get(backend, "/v1/memories/activity")["total"] == before


def test_nothing_to_restore_is_an_answer(backend: httpx.Client) -> None:
    for body in ({}, {"snapshot_id": str(uuid.uuid4())}, {"scope": "elsewhere", "team_id": None}):
        found = post(backend, "/v1/restart/restore", **body)
        assert (found["restored"], found["status"], found["snapshot_id"]) == (False, "not_found", None)


def test_the_session_chooses_its_snapshot(backend: httpx.Client) -> None:
    first = post(backend, "/v1/restart/snapshot", session_id="s1")
    post(backend, "/v1/restart/snapshot", session_id="s2")
    assert post(backend, "/v1/restart/restore", source_session_id="s1")["snapshot_id"] == first["id"]


def test_what_was_forgotten_does_not_come_back(backend: httpx.Client) -> None:
    state = post(backend, "/v1/update_state", current_task="the secret plan")
    event = post(backend, "/v1/timeline/events", content="the secret event")
    post(backend, "/v1/restart/snapshot")
    for each in (state, event):
        post(backend, f"/v1/memories/{each['id']}/forget", mode="hard_delete")
    restored = post(backend, "/v1/restart/restore")
    assert restored["restored"] and "secret" not in str(restored)
    assert restored["snapshot"]["active_state"] is None and restored["state_update"] is None


def test_the_right_to_restore_is_enough_and_the_right_to_read_is_not(running_host: RunningHost) -> None:
    space = f"restart-{uuid.uuid4().hex}"

    def client(*scopes: Scope) -> httpx.Client:
        return running_host.client(running_host.issue(scopes=frozenset(scopes), spaces=[(space, True)]))

    writer, restorer, reader = client(Scope.READ, Scope.WRITE), client(Scope.READ, Scope.RESTORE), client(Scope.READ)
    post(writer, "/v1/update_state", current_task="migrate")
    post(writer, "/v1/restart/snapshot")
    assert post(restorer, "/v1/restart/restore")["state_update"]["version"] == 2
    assert reader.post("/v1/restart/restore", json={}).status_code == 403
    assert post(reader, "/v1/restart/restore", restore_state=False, record_restore_event=False)["restored"]


def test_the_right_to_restore_does_not_reach_into_spaces_that_are_only_readable(running_host: RunningHost) -> None:
    space = f"restart-{uuid.uuid4().hex}"
    writer = running_host.client(running_host.issue(spaces=[(space, True)]))
    post(writer, "/v1/update_state", current_task="migrate")
    post(writer, "/v1/restart/snapshot")
    narrow = running_host.issue(scopes=frozenset({Scope.READ, Scope.RESTORE}), spaces=[(space, False)])
    assert running_host.client(narrow).post("/v1/restart/restore", json={}).status_code == 403
