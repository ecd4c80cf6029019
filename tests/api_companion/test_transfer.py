"""Export and import over REST, page by page."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx

from tests.api_companion.requests import get, post
from tests.services.server import RunningHost


def exported(client: httpx.Client, **body: Any) -> list[dict[str, Any]]:
    """All records of all pages."""
    text, cursor = "", 0
    while cursor is not None:
        page = post(client, "/v1/memories/export", cursor=cursor, **body)
        assert page["next_cursor"] is None or page["next_cursor"] > cursor
        text, cursor = text + page["jsonl"], page["next_cursor"]
    return [json.loads(line) for line in text.splitlines()]


def test_pages_join_to_everything_oldest_first(backend: httpx.Client) -> None:
    written = [post(backend, "/v1/remember", content=f"Note {n}.", path="notes")["id"] for n in range(5)]
    event = post(backend, "/v1/timeline/events", content="An event.")["id"]
    assert [each["id"] for each in exported(backend, limit=2)] == [*written, event]
    assert [each["id"] for each in exported(backend, limit=6)] == [*written, event]
    assert exported(backend, bucket="nowhere") == []
    assert post(backend, "/v1/memories/export", bucket="%")["next_cursor"] is None


def test_what_is_exported_can_be_imported_elsewhere(running_host: RunningHost, backend: httpx.Client) -> None:
    post(backend, "/v1/remember", content="Der Zug fährt dienstags.", path="team/zug", bucket="work", scope="s")
    post(backend, "/v1/reminders", content="renew the certificate", due_at="2026-06-01T09:00:00Z")
    text = post(backend, "/v1/memories/export")["jsonl"]
    other = running_host.client(running_host.issue(tenant=f"tenant-{uuid.uuid4().hex}"))
    report = post(other, "/v1/memories/import", jsonl=text, idempotency_key="import-1")
    assert (report["created"], report["refused"], report["next_cursor"]) == (2, [], None)
    memory = get(other, "/v1/memories", path_prefix="team")["memories"][0]
    assert (memory["content"], memory["bucket"], memory["scope"]) == ("Der Zug fährt dienstags.", "work", "s")
    reminder = get(other, "/v1/reminders")["reminders"][0]
    assert (reminder["content"], reminder["due_at"]) == ("renew the certificate", "2026-06-01T09:00:00Z")
    assert memory["id"] not in text, "an id that is taken elsewhere is exchanged, and tells nothing"


def test_an_import_goes_on_at_its_cursor_and_names_what_it_left_out(backend: httpx.Client) -> None:
    lines = ['{"content": "One."}', "no json", '{"text": "Two."}', "", '{"content": ""}', '{"content": "Three."}']
    text = "\n".join(lines) + "\n"
    first = post(backend, "/v1/memories/import", jsonl=text, limit=3, idempotency_key="k")
    assert (first["created"], first["next_cursor"]) == (2, 3)
    assert [(each["line"], each["reason"]) for each in first["refused"]] == [(2, "bad_json")]
    second = post(backend, "/v1/memories/import", jsonl=text, limit=3, cursor=3, idempotency_key="k")
    assert (second["created"], second["next_cursor"]) == (1, None)
    assert [(each["line"], each["reason"]) for each in second["refused"]] == [(5, "empty")]
    stored = get(backend, "/v1/memories")["memories"]
    assert {each["content"] for each in stored} == {"One.", "Two.", "Three."}
    assert {each["bucket"] for each in stored} == {"private"}


def test_an_import_sent_twice_stores_nothing_twice(backend: httpx.Client) -> None:
    text = '{"content": "One."}\n{"content": "Two."}\n'
    first = post(backend, "/v1/memories/import", jsonl=text, idempotency_key="a")
    assert post(backend, "/v1/memories/import", jsonl=text, idempotency_key="a") == first
    with_another_key = post(backend, "/v1/memories/import", jsonl=text, idempotency_key="b")
    assert (with_another_key["created"], with_another_key["unchanged"]) == (0, 2)
    other = backend.post("/v1/memories/import", json={"jsonl": text + "{}", "idempotency_key": "a"})
    assert other.status_code == 409
    assert get(backend, "/v1/memories")["count"] == 2


def test_a_dry_run_writes_nothing_and_needs_no_key(backend: httpx.Client) -> None:
    report = post(backend, "/v1/memories/import", jsonl='{"content": "One."}', dry_run="true")
    assert (report["ready"], report["created"], report["dry_run"]) == (1, 0, True)
    assert get(backend, "/v1/memories")["count"] == 0


def test_the_request_overrules_the_lines(backend: httpx.Client) -> None:
    text = '{"content": "One.", "bucket": "work", "scope": "a"}'
    post(backend, "/v1/memories/import", jsonl=text, bucket="team", scope="b", idempotency_key="k")
    memory = get(backend, "/v1/memories")["memories"][0]
    assert (memory["bucket"], memory["scope"]) == ("team", "b")


def test_an_import_cannot_overwrite_a_record_of_another_tenant(
    running_host: RunningHost, backend: httpx.Client
) -> None:
    mine = post(backend, "/v1/remember", content="Mine.")
    other = running_host.client(running_host.issue(tenant=f"tenant-{uuid.uuid4().hex}"))
    line = json.dumps({"id": mine["id"], "content": "Stolen."})
    post(other, "/v1/memories/import", jsonl=line, idempotency_key="k")
    assert get(backend, f"/v1/memories/{mine['id']}")["content"] == "Mine."
