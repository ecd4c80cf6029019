"""Statistics, activity, usage, versions and project views over REST."""

from __future__ import annotations

import uuid

import httpx
import pytest

from tests.api_companion.requests import get, post
from tests.services.server import RunningHost


@pytest.fixture
def stocked(backend: httpx.Client) -> httpx.Client:
    """Three memories and an event."""
    for path, bucket, topic in (("a/x", "work", "alpha"), ("a/y", "work", "alpha"), ("b", "private", "beta")):
        body = {"content": f"Content of {path} {bucket}.", "path": path, "bucket": bucket, "metadata": {"topic": topic}}
        post(backend, "/v1/remember", **body)
    post(backend, "/v1/timeline/events", content="An event.")
    return backend


def test_statistics_count_under_filters(stocked: httpx.Client) -> None:
    everything = get(stocked, "/v1/memories/stats", path="%", bucket="%", status="%", memory_type="%")
    assert everything["totals"]["memories"] == 4
    assert everything["distributions"]["kind"] == {"memory": 3, "event": 1}
    assert get(stocked, "/v1/memories/stats", path="a")["totals"]["memories"] == 2
    assert get(stocked, "/api/v1/memories/stats", bucket="private")["totals"]["memories"] == 1
    assert get(stocked, "/v1/memories/stats", until="2020-01-01")["totals"]["memories"] == 0


def test_statistics_group_by_what_is_asked(stocked: httpx.Client) -> None:
    groups = get(stocked, "/v1/memories/stats", group_by="path,metadata:topic,day,type", top_n="2")["groups"]
    assert set(groups) == {"path", "metadata:topic", "day", "type"}
    assert groups["metadata:topic"][0] == {"value": "alpha", "count": 2}
    assert len(groups["path"]) == 2
    assert sum(each["count"] for each in groups["day"]) == 4


@pytest.mark.parametrize("group", ["colour", "metadata:", 'metadata:"x', "metadata:a b"])
def test_a_group_that_does_not_exist_is_refused(backend: httpx.Client, group: str) -> None:
    answer = backend.get("/v1/memories/stats", params={"group_by": group})
    assert answer.status_code == 422 and answer.json()["detail"][0]["loc"] == ["query", "group_by"]


def test_activity_names_what_was_done(stocked: httpx.Client) -> None:
    memory = get(stocked, "/v1/memories", path_prefix="b")["memories"][0]
    post(stocked, f"/v1/memories/{memory['id']}/usage", action="used")
    post(stocked, f"/v1/memories/{memory['id']}/forget")
    found = get(stocked, "/v1/memories/activity")
    assert [each["type"] for each in found["activity"][:2]] == ["deletion", "read"]
    assert found["total"] == 6
    gone = found["activity"][0]
    assert (gone["memory_id"], gone["path"], gone["content"]) == (memory["id"], None, None)
    for wanted, number in {"writes": 4, "deletions": 1, "reads": 1, "timeline": 1, "reminders": 0}.items():
        assert get(stocked, "/v1/memories/activity", activity_type=wanted)["total"] == number
    assert get(stocked, "/v1/memories/activity", include_timeline="false")["total"] == 5
    assert get(stocked, "/v1/memories/activity", until="2020-01-01")["activity"] == []


def test_the_overview_shows_both(stocked: httpx.Client) -> None:
    found = get(stocked, "/v1/memories/overview")
    assert found["totals"]["memories"] == 4 and len(found["activity"]) == 4 and len(found["spaces"]) == 1


def test_nothing_of_another_space_is_counted_or_told(running_host: RunningHost, stocked: httpx.Client) -> None:
    other = running_host.client(running_host.issue(tenant=f"tenant-{uuid.uuid4().hex}"))
    assert get(other, "/v1/memories/stats")["totals"]["memories"] == 0
    assert get(other, "/v1/memories/activity") == {"activity": [], "total": 0}


def test_usage_counts_once_for_a_key_and_takes_fields_of_its_own(backend: httpx.Client) -> None:
    memory = post(backend, "/v1/remember", content="The release train leaves on Tuesdays.")
    body = {"action": "used", "context": "answering", "usage_tracking_id": "t1", "idempotency_key": "k" * 32}
    for _ in range(2):
        answer = post(backend, f"/v1/memories/{memory['id']}/usage", **body)
        assert answer["id"] == memory["id"]
    assert get(backend, "/v1/memories/activity", activity_type="reads")["total"] == 1
    assert backend.post(f"/v1/memories/{uuid.uuid4()}/usage", json={"action": "used"}).status_code == 404


def test_versions_begin_with_the_present_one(backend: httpx.Client) -> None:
    memory = post(backend, "/v1/remember", content="It leaves on Tuesdays.")
    backend.patch(f"/v1/memories/{memory['id']}", json={"content": "It leaves on Wednesdays."})
    versions = get(backend, f"/v1/memories/{memory['id']}/versions")["versions"]
    assert [(each["version"], each["content"], each["current"]) for each in versions] == [
        (2, "It leaves on Wednesdays.", True),
        (1, "It leaves on Tuesdays.", False),
    ]
    post(backend, f"/v1/memories/{memory['id']}/forget")
    assert backend.get(f"/v1/memories/{memory['id']}/versions").status_code == 404


def test_a_project_shows_its_scope_within_the_budget(backend: httpx.Client) -> None:
    scope = "tenant:project:atlas"
    inside = [post(backend, "/v1/remember", content=f"Parser note {n}: it is Rust.", scope=scope) for n in range(4)]
    post(backend, "/v1/remember", content="The parser is old.")
    found = post(backend, "/v1/projects/atlas/context", max_items=3, durable_query="What is the parser written in?")
    assert found["project_scope"]["scope_key"] == scope and found["project_scope"]["team_id"] is None
    ids = {each["id"] for each in (*found["recent_memories"], *found["durable_context"]["items"])}
    assert ids <= {each["id"] for each in inside}
    assert 1 <= len(ids) == found["budget"]["used_items"] <= 3
    empty = post(backend, "/v1/projects/nothing-here/context")
    assert empty["recent_memories"] == [] and empty["budget"]["used_items"] == 0
    assert backend.post("/v1/projects/no%20spaces/context", json={}).status_code == 422


def test_a_long_record_does_not_break_a_projects_budget(backend: httpx.Client) -> None:
    post(backend, "/v1/remember", content="word " * 5000, scope="tenant:project:long")
    found = post(backend, "/v1/projects/long/context", max_tokens=100)
    assert found["budget"]["used_tokens"] <= 100
    assert found["recent_memories"][0]["truncated"]
