"""`hermes-xmemo` 1.2.1, unmodified, against a real host: every tool, read back and checked."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.domain.access import Scope
from tests.api.hermes import Hermes
from tests.services.server import RunningHost, serve

NewHermes = Callable[..., Hermes]
QUESTION = "What is the name of the neighbour's parrot?"
PATIENCE_SECONDS = 20


@pytest.fixture
def token(running_host: RunningHost) -> str:
    return running_host.issue(spaces=[(f"hermes-{uuid.uuid4().hex}", True)])


@pytest.fixture
def new_hermes(
    running_host: RunningHost, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NewHermes]:
    """Makes providers, each with a home of its own, on the token of this test."""
    made: list[Hermes] = []

    def make(*, url: str = running_host.url, token: str = token, home: str | None = None, **settings: str) -> Hermes:
        hermes = Hermes(monkeypatch, tmp_path / (home or f"home-{len(made)}"), url, token, **settings)
        made.append(hermes)
        return hermes

    yield make
    for hermes in made:
        hermes.close()


@pytest.fixture
def hermes(new_hermes: NewHermes) -> Hermes:
    return new_hermes()


@pytest.fixture
def backend(running_host: RunningHost, token: str) -> httpx.Client:
    """The same token by plain HTTP, to read back what the client has written."""
    return running_host.client(token)


def eventually(condition: Callable[[], Any]) -> Any:
    """The first true value of `condition`; the client does some of its work in threads."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def remember(hermes: Hermes, content: str, path: str = "notes/facts", **fields: Any) -> dict[str, Any]:
    answer = hermes.call("xmemo_remember", content=content, path=path, **fields)
    assert str(uuid.UUID(answer["id"])) == answer["memory_id"]
    return answer


def test_the_provider_comes_up_online(hermes: Hermes) -> None:
    assert "status: online" in hermes.provider.system_prompt_block()


def test_remember_reaches_the_server_and_search_finds_it(hermes: Hermes, backend: httpx.Client) -> None:
    written = remember(hermes, "The release train leaves on Tuesdays.", importance=0.7)
    assert written["status"] == "created" and written["result"] == "Saved to XMemo."
    stored = backend.get(f"/v1/memories/{written['id']}").json()
    assert (stored["path"], stored["bucket"], stored["scope"]) == ("notes/facts", "work", "hermes/default")
    assert (stored["importance"], stored["agent_id"]) == (0.7, "hermes")
    found = hermes.call("xmemo_search", query="When does the release train leave?")
    assert found["count"] == 1 and found["results"][0]["id"] == written["id"]
    assert f"(sim {found['results'][0]['similarity']:.3f})" in found["formatted"]
    assert "[self]" in found["formatted"]


def test_search_survives_the_words_that_the_client_adds(hermes: Hermes) -> None:
    written = remember(hermes, "The release train leaves on Tuesdays.")
    found = hermes.call("xmemo_search", query="recall from memory when the release train leaves")
    assert [item["id"] for item in found["results"]] == [written["id"]]


def test_an_absent_fact_is_reported_as_not_found(hermes: Hermes) -> None:
    remember(hermes, "The release train leaves on Tuesdays.")
    assert hermes.call("xmemo_search", query=QUESTION)["result"] == "No relevant XMemo memories found."


def test_another_agent_is_told_apart(hermes: Hermes, new_hermes: NewHermes) -> None:
    remember(hermes, "The release train leaves on Tuesdays.")
    other = new_hermes(XMEMO_AGENT_ID="gadget")
    found = other.call("xmemo_search", query="When does the release train leave?")
    assert "[other_agent]" in found["formatted"]


def test_the_same_content_twice_is_one_memory(hermes: Hermes) -> None:
    first = remember(hermes, "The release train leaves on Tuesdays.")
    second = remember(hermes, "The release train leaves on Tuesdays.")
    assert second["id"] == first["id"] and second["status"] == "unchanged"


def test_list_and_get_read_back(hermes: Hermes) -> None:
    kept = remember(hermes, "Boxes are blue.", path="notes/boxes")
    remember(hermes, "Crates are red.", path="other/crates")
    for path in ("notes%", "notes*", "notes"):
        listed = hermes.call("xmemo_list", path=path)
        assert [item["id"] for item in listed["items"]] == [kept["id"]], path
    assert hermes.call("xmemo_list")["count"] == 2
    got = hermes.call("xmemo_get", memory_id=kept["id"])
    assert (got["id"], got["content"], got["path"]) == (kept["id"], "Boxes are blue.", "notes/boxes")


def test_recall_context_packs_and_prefetch_brings_it(hermes: Hermes) -> None:
    written = remember(hermes, "The release train leaves on Tuesdays.")
    packed = hermes.call("xmemo_recall_context", query="release train", hypothetical_answer="It leaves at ten.")
    assert packed["items"][0]["id"] == written["id"]
    assert f"id={written['id']}" in packed["context"] and "content: The release train" in packed["context"]
    hermes.provider.queue_prefetch("When does the release train leave?")
    text = eventually(lambda: hermes.provider.prefetch("When does the release train leave?"))
    assert text.startswith("## XMemo Memory\n") and written["id"] in text


def test_an_empty_store_has_no_context(hermes: Hermes) -> None:
    assert hermes.call("xmemo_recall_context", query=QUESTION)["result"] == "No relevant XMemo context found."


def test_temporal_filters_narrow_and_order(hermes: Hermes, backend: httpx.Client) -> None:
    first, second = remember(hermes, "Boxes are blue."), remember(hermes, "Boxes are red now.")
    window = {"since": first["created_at"], "until": second["created_at"]}
    found = hermes.call("xmemo_search", query="boxes blue", **window)
    assert [item["id"] for item in found["results"]] == [first["id"]]
    ordered = hermes.call(
        "xmemo_search",
        query="what is the colour of the boxes",
        since=first["created_at"],
        until="2999-01-01T00:00:00+09:00",
        time_order="desc",
        query_mode="activity_log",
        owner_timezone="Asia/Tokyo",
        reference_time="2026-01-01T00:00:00Z",
    )
    assert [item["id"] for item in ordered["results"]] == [second["id"], first["id"]]
    backend.patch(f"/v1/memories/{first['id']}", json={"content": "Boxes were blue."})
    for mode, expected in (("created_at", [second, first]), ("split_filter_created_order_updated", [first, second])):
        listed = backend.get(
            "/v1/memories/search", params={"query": "*", "temporal_axis_mode": mode, "time_order": "desc"}
        ).json()
        assert [item["id"] for item in listed["results"]] == [each["id"] for each in expected], mode
    packed = hermes.call("xmemo_recall_context", query="boxes", until=first["created_at"])
    assert packed["result"] == "No relevant XMemo context found."


def test_a_time_zone_that_only_the_server_can_check_is_refused(hermes: Hermes) -> None:
    answer = hermes.call("xmemo_search", query="boxes", owner_timezone="Mars/Olympus")
    assert "422" in answer["error"] and "owner_timezone" in answer["error"]


def test_working_state_is_written_and_comes_first(hermes: Hermes) -> None:
    state = hermes.call("xmemo_update_state", current_task="Ship the July release", next_action="Tag it")
    assert state["status"] == "active" and state["state_id"] == state["id"] and state["ttl_seconds"] == 86400
    again = hermes.call("xmemo_update_state", current_task="Ship the August release")
    assert (again["id"], again["version"]) == (state["id"], 2)
    packed = hermes.call("xmemo_recall_context", query="August release")
    assert packed["items"][0]["id"] == state["id"]


def test_forget_is_soft_and_final_for_reads(hermes: Hermes, backend: httpx.Client) -> None:
    written = remember(hermes, "The vault code is under the mat.")
    answer = hermes.call("xmemo_forget", memory_id=written["id"], reason="moved")
    assert answer["result"] == "Memory deleted from XMemo." and answer["status"] == "deleted"
    assert "404" in hermes.call("xmemo_get", memory_id=written["id"])["error"]
    assert hermes.call("xmemo_search", query="vault code")["result"] == "No relevant XMemo memories found."
    assert backend.post(f"/v1/memories/{written['id']}/restore").status_code == 200


def test_reminders_are_made_listed_and_completed_twice(hermes: Hermes) -> None:
    made = hermes.call("xmemo_create_reminder", content="Water the plants", due_at="2999-01-01T09:00:00Z")
    assert made["todo_id"] == made["id"]
    listed = hermes.call("xmemo_list_reminders")
    assert [item["id"] for item in listed["items"]] == [made["id"]]
    for _ in range(2):
        done = hermes.call("xmemo_complete_reminder", todo_id=made["id"], note="done")
        assert done["item_status"] == "completed"
    assert hermes.call("xmemo_list_reminders")["result"] == "No open XMemo reminders found."
    assert hermes.call("xmemo_list_reminders", item_status="completed")["count"] == 1


def test_events_land_on_the_timeline(hermes: Hermes, backend: httpx.Client) -> None:
    event = hermes.call("xmemo_record_event", content="Deployed build 7", event_type="milestone")
    assert event["event_id"] == event["id"]
    timeline = backend.get("/v1/timeline", params={"session_id": "session-1"}).json()["events"]
    assert [(each["id"], each["event_type"]) for each in timeline] == [(event["id"], "milestone")]


def test_captured_turns_become_session_events(new_hermes: NewHermes, backend: httpx.Client) -> None:
    hermes = new_hermes(XMEMO_CAPTURE_TIMELINE="true")
    hermes.provider.sync_turn(
        "Please remember this decision: we always deploy on Tuesdays.", "Noted, deployments happen on Tuesdays."
    )
    events = eventually(lambda: backend.get("/v1/timeline").json()["events"])
    assert events[0]["event_type"] == "session_event" and "deploy on Tuesdays" in events[0]["content"]


def test_usage_is_recorded(hermes: Hermes) -> None:
    written = remember(hermes, "Boxes are blue.")
    answer = hermes.call("xmemo_mark_used", memory_id=written["id"], context="answered a question")
    assert answer["memory_id"] == written["id"]


def test_a_built_in_memory_is_mirrored(hermes: Hermes, backend: httpx.Client) -> None:
    hermes.provider.on_memory_write("add", "user", "The user likes tea.")
    found = backend.get("/v1/memories", params={"path_prefix": "hermes/builtin-memory/user"}).json()
    assert [item["content"] for item in found["memories"]] == ["The user likes tea."]


def test_the_end_of_a_session_leaves_a_snapshot(hermes: Hermes, backend: httpx.Client) -> None:
    hermes.call("xmemo_update_state", current_task="Ship the July release")
    hermes.provider.on_session_end([])
    restored = eventually(
        lambda: (
            found
            if (found := backend.post("/v1/restart/restore", json={"restore_state": False}).json())["snapshot_id"]
            else None
        )
    )
    assert restored["snapshot"]["active_state"]["metadata"]["current_task"] == "Ship the July release"


def test_a_write_while_the_host_is_down_arrives_once_it_is_back(new_hermes: NewHermes, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with serve(folder) as host:
        url, token = host.url, host.owner_token
        hermes = new_hermes(url=url, token=token, home="outbox")
        host.stop()
        queued = hermes.call("xmemo_remember", content="Written while offline.", path="notes/offline")
        state = hermes.call("xmemo_update_state", current_task="Wait for the host")
        held = hermes.call("xmemo_record_event", content="An event while offline.")
    assert (queued["status"], queued["outbox_status"]) == ("queued", "pending")
    assert (state["status"], held["outbox_status"]) == ("queued", "held")
    with hermes.provider._outbox_sync_lock:
        _let_the_waiting_time_pass(tmp_path / "outbox" / "xmemo_cache.db")
    with serve(folder, "--port", url.rpartition(":")[2]) as host:
        backend = host.client()
        new_hermes(url=host.url, token=token, home="outbox")
        eventually(lambda: backend.get("/v1/memories", params={"path_prefix": "state/"}).json()["count"])
        listed = backend.get("/v1/memories", params={"path_prefix": "notes/offline"}).json()["memories"]
        assert [item["content"] for item in listed] == ["Written while offline."]
        assert backend.get("/v1/memories").json()["total"] == 2, "the held event is not sent by itself"


def _let_the_waiting_time_pass(outbox: Path) -> None:
    """The client tries again after 20 seconds at the earliest; its clock is moved instead."""
    with closing(sqlite3.connect(outbox)) as connection, connection:
        connection.execute("UPDATE write_outbox SET next_retry_at = NULL")


def test_a_replay_with_a_reshaped_body_is_the_first_answer(running_host: RunningHost, backend: httpx.Client) -> None:
    key = uuid.uuid4().hex
    headers = {"Idempotency-Key": key, "X-Idempotency-Key": key}
    first = backend.post(
        "/v1/update_state",
        json={"state_key": "active_task", "bucket": "work", "current_task": "ship", "idempotency_key": key},
        headers=headers,
    ).json()
    reshaped = {"current_task": "ship", "next_action": "", "blocked_reason": "", "bucket": "work", "scope": None}
    again = backend.post("/v1/update_state", json={**reshaped, "idempotency_key": key}, headers=headers).json()
    assert (again["id"], again["version"]) == (first["id"], 1)
    other = backend.post("/v1/update_state", json={"current_task": "rest", "idempotency_key": key}, headers=headers)
    assert other.status_code == 409


def test_remember_with_one_key_writes_once(running_host: RunningHost, backend: httpx.Client) -> None:
    body = {"content": "Boxes are blue.", "path": "notes", "idempotency_key": uuid.uuid4().hex}
    first = backend.post("/v1/remember", json=body).json()
    again = backend.post("/v1/remember", json={**body, "importance": None, "bucket": "work", "semantic_key": ""}).json()
    assert again["id"] == first["id"]
    assert backend.get("/v1/memories").json()["total"] == 1
    for changed in ({"content": "Boxes are red."}, {"path": "elsewhere"}):
        assert backend.post("/v1/remember", json={**body, **changed}).status_code == 409
    foreign = running_host.client(running_host.issue(spaces=[(f"hermes-{uuid.uuid4().hex}", True)]))
    assert foreign.post("/v1/remember", json=body).json()["id"] != first["id"], "a key belongs to its token"


@pytest.mark.parametrize(
    ("prepare", "status"),
    [
        (lambda host: host.issue(scopes=frozenset({Scope.READ})), "403"),
        (lambda host: "mv_abcdefgh_" + "x" * 43, "403"),
    ],
)
def test_refusals_reach_the_client_as_they_are(
    running_host: RunningHost, new_hermes: NewHermes, prepare: Callable[[RunningHost], str], status: str
) -> None:
    hermes = new_hermes(token=prepare(running_host))
    assert status in hermes.call("xmemo_remember", content="x y", path="notes")["error"]


def test_validation_and_missing_ids_reach_the_client(hermes: Hermes) -> None:
    assert "422" in hermes.call("xmemo_search", query="x y", memory_type="nonsense")["error"]
    assert "404" in hermes.call("xmemo_get", memory_id=str(uuid.uuid4()))["error"]
    assert "400" in hermes.call("xmemo_get", memory_id="nonsense")["error"]
