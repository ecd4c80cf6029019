"""The published client, unmodified and strict, against a real host: all 17 calls, twice."""

from __future__ import annotations

import itertools
import time
import uuid
from typing import Any

import anyio
import crosmos
import httpx
import pytest

from tests.crosmos.waiting import finished
from tests.services.server import RunningHost, serve

TALK: list[Any] = [
    {"role": "Caroline", "content": "I adopted a grey cat named Pepper last Tuesday."},
    {"role": "Melanie", "content": "Lovely! My brother Oscar moved to Lisbon in March."},
]

SAID = "\n".join(f"{turn['role']}: {turn['content']}" for turn in TALK)


def test_spaces_are_made_listed_by_page_and_name_and_deleted(client: Any) -> None:
    names = [f"page-{uuid.uuid4().hex}" for _ in range(3)]
    made = [client.spaces.create(name=name, description="d", meta={"k": 1}) for name in names]
    assert client.spaces.get(made[0].id).meta == {"k": 1}
    listed = [space.name for space in client.spaces.list(limit=1)]
    assert len(listed) == len(set(listed)) and listed[-3:] == names
    assert [space.id for space in client.spaces.list(name=names[1])] == [made[1].id]
    assert list(client.spaces.list(name="no such space")) == []
    client.spaces.delete(made[0].id)
    with pytest.raises(crosmos.NotFoundError):
        client.spaces.get(made[0].id)


def test_the_first_space_of_a_fresh_host_is_the_default(client: Any) -> None:
    assert next(iter(client.spaces.list())).name == "default"


def test_sources_become_memories_that_are_found_with_their_source(client: Any, space_id: str) -> None:
    text = "# Deploys\nThe billing service is deployed with `make ship` on Thursdays.\n# Team\nMara owns payroll."
    accepted = client.sources.ingest(
        space_id=space_id, sources=[{"content": text, "content_type": "markdown", "role": "user", "meta": {"n": 1}}]
    )
    assert accepted.jobs[0].source_ids == accepted.source_ids
    job = finished(client, accepted.job_id)
    assert (job.status, job.result.memory_count, job.result.failed_source_ids) == ("completed", 2, [])
    found = client.search.hybrid(query="How is the billing service deployed?", space_id=space_id, limit=1)
    assert found.candidates[0].content == "Deploys\nThe billing service is deployed with `make ship` on Thursdays."
    assert found.candidates[0].source == text
    source = client.sources.get(accepted.source_ids[0], space_id=space_id)
    assert (source.content, source.extraction_status, source.meta["role"]) == (text, "completed", "user")
    assert source.token_count > 10


def test_sources_are_listed_by_page_type_and_status(client: Any, space_id: str) -> None:
    for number in range(3):
        accepted = client.sources.ingest(space_id=space_id, sources=[{"content": f"Note number {number}."}])
        finished(client, accepted.job_id)
    listed = list(client.sources.list(space_id=space_id, limit=2))
    assert [source.content_preview for source in listed] == [f"Note number {number}." for number in (2, 1, 0)]
    page = client.sources.list(space_id=space_id, content_type="markdown", extraction_status="completed")
    assert (page.total, page.sources) == (0, [])


def test_a_conversation_is_found_by_what_was_said_and_when(client: Any, space_id: str) -> None:
    accepted = client.conversations.ingest(
        messages=TALK, space_id=space_id, session_id="s1", session_date="2026-03-04T10:00:00Z", meta={"repo": "x"}
    )
    assert finished(client, accepted.job_id).status == "completed"
    found = client.search.hybrid(query="What is the cat's name?", space_id=space_id, include_source=False)
    best = found.candidates[0]
    assert best.content == SAID
    assert (best.memory_type, best.source) == ("episode", None)
    assert best.event_time is not None and best.event_time.startswith("2026-03-04T10:00:00")
    source = client.sources.get(accepted.source_id)
    assert source.content_type == "conversation" and source.meta["session_id"] == "s1"


def test_memories_are_listed_read_and_forgotten(client: Any, space_id: str) -> None:
    texts = ["I love hiking in the rain.", "The server room is in building four."]
    finished(client, client.sources.ingest(space_id=space_id, sources=[{"content": t} for t in texts]).job_id)
    both = client.memories.list(space_id=space_id, sort_by="event_time", order="asc", limit=10, offset=0)
    assert both.count == 2 and {memory.content for memory in both.memories} == set(texts)
    tastes = client.memories.list(space_id=space_id, memory_type="viewpoint").memories
    assert [memory.content for memory in tastes] == [texts[0]]
    one = client.memories.get(tastes[0].id, space_id=space_id)
    assert one.forgotten_at is None and one.last_accessed_at is not None
    client.memories.delete(one.id)
    with pytest.raises(crosmos.NotFoundError):
        client.memories.get(one.id)
    assert client.memories.list(space_id=space_id).count == 1
    found = client.search.hybrid(query="hiking in the rain", space_id=space_id)
    assert texts[0] not in [candidate.content for candidate in found.candidates]


def test_entities_are_counted_and_lead_to_their_memories(client: Any, space_id: str) -> None:
    finished(client, client.conversations.ingest(messages=TALK, space_id=space_id).job_id)
    entities = {entity.name: entity for entity in client.entities.list(space_id=space_id, limit=2)}
    assert {"Caroline", "Melanie", "Pepper", "Lisbon"} <= set(entities)
    assert entities["Caroline"].entity_type == "person"
    people = client.entities.list(space_id=space_id, entity_type="person", q="mel", sort_by="edge_count", order="desc")
    assert [entity.name for entity in people] == ["Melanie"]
    detail = client.entities.get(entities["Pepper"].id, space_id=space_id)
    assert [memory.content for memory in detail.memories] == [SAID]


def test_usage_counts_searches_and_limits_nothing(client: Any, space_id: str) -> None:
    before = client.usage.get().queries.used
    client.search.hybrid(query="anything at all", space_id=space_id)
    usage = client.usage.get()
    assert usage.queries.used == before + 1
    assert (usage.plan, usage.queries.limit) == ("enterprise", -1)
    long_ago = client.usage.get(start_date="2001-01-01", end_date="2001-01-31")
    assert (long_ago.queries.used, long_ago.tokens.used) == (0, 0)


def test_deleting_a_source_deletes_its_memories_everywhere(client: Any, space_id: str) -> None:
    accepted = client.conversations.ingest(messages=TALK, space_id=space_id, session_id="gone")
    finished(client, accepted.job_id)
    client.sources.delete(accepted.source_id, space_id=space_id)
    assert client.memories.list(space_id=space_id).count == 0
    assert client.search.hybrid(query="the cat named Pepper", space_id=space_id).candidates == []
    assert client.entities.list(space_id=space_id).total == 0
    with pytest.raises(crosmos.NotFoundError):
        client.sources.get(accepted.source_id, space_id=space_id)
    again = client.conversations.ingest(messages=TALK, space_id=space_id, session_id="gone")
    assert finished(client, again.job_id).result.memory_count == 1


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({}, 5),
        ({"limit": 2, "recency_bias": 0.6, "diversify": True, "rerank": False, "graph": False}, 2),
        ({"limit": "3", "recall_id": "turn-1"}, 3),
        ({"limit": 500, "recency_bias": None}, 5),
    ],
)
def test_every_search_option_is_served(client: Any, space_id: str, options: dict[str, Any], first: int) -> None:
    texts = [f"Recipe for soup with {thing}." for thing in ("rice", "beans", "leek", "egg", "kale")]
    finished(client, client.sources.ingest(space_id=space_id, sources=[{"content": t} for t in texts]).job_id)
    found = client.search.hybrid(query="recent soup recipes", space_id=space_id, **options)
    assert len(found.candidates) == first


def test_the_async_client_gets_the_same_answers(
    running_host: RunningHost, key: str, client: Any, space_id: str
) -> None:
    blocking = client

    async def run() -> None:
        async with crosmos.AsyncCrosmos(
            api_key=key, base_url=running_host.url, max_retries=0, _strict_response_validation=True
        ) as client:
            accepted = await client.sources.ingest(space_id=space_id, sources=[{"content": "Ann plays the viola."}])
            assert (await client.jobs.get_status(accepted.job_id)).job_id == accepted.job_id
            await anyio.to_thread.run_sync(finished, blocking, accepted.job_id)
            found = await client.search.hybrid(query="What does Ann play?", space_id=space_id)
            assert found.candidates[0].content == "Ann plays the viola."
            memory = (await client.memories.list(space_id=space_id)).memories[0]
            assert (await client.memories.get(memory.id)).content == memory.content
            assert [space.id async for space in client.spaces.list()][-1] == space_id
            assert (await client.spaces.get(space_id)).id == space_id
            listed = [source async for source in client.sources.list(space_id=space_id)]
            assert (await client.sources.get(listed[0].id)).content == "Ann plays the viola."
            named = [entity async for entity in client.entities.list(space_id=space_id, q="ann")]
            assert named == [] or (await client.entities.get(named[0].id)).memories
            talk = await client.conversations.ingest(messages=TALK, space_id=space_id)
            assert talk.source_id
            assert (await client.usage.get()).plan == "enterprise"
            await client.memories.delete(memory.id, space_id=space_id)
            await client.sources.delete(listed[0].id, space_id=space_id)
            made = await client.spaces.create(name=f"async-{uuid.uuid4().hex}")
            await client.spaces.delete(made.id)

    anyio.run(run)


def test_errors_are_the_ones_that_the_client_names(running_host: RunningHost, client: Any, space_id: str) -> None:
    stranger = crosmos.Crosmos(api_key="csk_abcdefgh_" + "x" * 43, base_url=running_host.url, max_retries=0)
    with pytest.raises(crosmos.AuthenticationError), stranger:
        stranger.usage.get()
    with pytest.raises(crosmos.NotFoundError) as missing:
        client.search.hybrid(query="x", space_id=str(uuid.uuid4()))
    assert isinstance(missing.value.body, dict) and missing.value.body["code"] == "not_found"
    with pytest.raises(crosmos.BadRequestError) as bad:
        client.search.hybrid(query="", space_id=space_id)
    assert isinstance(bad.value.body, dict) and "query" in bad.value.body["fields"]["fieldErrors"]
    with pytest.raises(crosmos.BadRequestError):
        client.sources.ingest(space_id=space_id, sources=[{"content": "x", "content_type": "pdf"}])


def test_a_taken_name_is_a_conflict_that_is_not_tried_again(running_host: RunningHost, key: str) -> None:
    sent: list[str] = []
    http = httpx.Client(event_hooks={"request": [lambda request: sent.append(request.url.path)]})
    with (
        crosmos.Crosmos(api_key=key, base_url=running_host.url, http_client=http) as client,
        pytest.raises(crosmos.ConflictError),
    ):
        client.spaces.create(name="default")
    assert len(sent) == 1


def test_a_rate_limit_is_waited_for_as_it_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serve(tmp_path_factory.mktemp("limited"), "--rate-limit", "20") as host:
        sent: list[float] = []
        http = httpx.Client(event_hooks={"request": [lambda request: sent.append(time.monotonic())]})
        with crosmos.Crosmos(api_key=host.owner_token, base_url=host.url, http_client=http) as client:
            for _ in range(22):
                client.spaces.list()
    waits = [later - earlier for earlier, later in itertools.pairwise(sent)]
    assert len(sent) > 22 and max(waits) >= 0.9
