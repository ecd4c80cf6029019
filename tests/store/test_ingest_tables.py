from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from engine.domain.memory import MemoryType, Status
from engine.domain.source import ContentType, Job, JobStatus, Mention, Message, Source, SourceStatus
from engine.errors import InvalidRequest
from engine.store import catalogue, entities, jobs, memories, sources, spaces, usage
from engine.store.ids import new_id
from tests.store.records import NOW, House

LATER = NOW + timedelta(seconds=1)


def job(house: House) -> Job:
    """A job that waits."""
    return Job(
        id=new_id(),
        space_id=house.space_id,
        tenant_id=house.principal.tenant_id,
        user_id=house.principal.user_id,
        status=JobStatus.PENDING,
        stage=None,
        attempts=0,
        memory_count=0,
        entity_count=0,
        edge_count=0,
        tokens_used=0,
        error=None,
        created_at=NOW,
        started_at=None,
        completed_at=None,
        updated_at=NOW,
    )


def source(of: Job, content: str) -> Source:
    """A source of a job."""
    return Source(
        number=0,
        id=new_id(),
        space_id=of.space_id,
        tenant_id=of.tenant_id,
        user_id=of.user_id,
        job_id=of.id,
        content=content,
        content_type=ContentType.CONVERSATION,
        role=None,
        visibility="private",
        session_id="s",
        event_time=NOW,
        messages=(Message("user", content, 0),),
        meta={"k": [1]},
        fingerprint=content,
        status=SourceStatus.PENDING,
        error=None,
        token_count=3,
        memory_count=0,
        created_at=NOW,
        updated_at=NOW,
    )


def put(house: House, *texts: str) -> tuple[Job, list[Source]]:
    made = job(house)
    found = [source(made, text) for text in texts]
    with house.database.writing() as connection:
        jobs.add(connection, made)
        sources.add(connection, found)
    return made, found


def test_a_source_comes_back_as_it_was_stored_with_a_number_of_its_own(house: House) -> None:
    made, (one, two) = put(house, "a", "b")
    with house.database.reading() as connection:
        found = sources.of_job(connection, made.id)
        assert [replace(each, number=0) for each in found] == [one, two]
        assert found[0].number < found[1].number
        page, total = sources.page(connection, [house.space_id], limit=1)
        assert ([each.id for each in page], total) == ([two.id], 2)
        assert sources.page(connection, [house.space_id], status="completed")[1] == 0
        assert sources.page(connection, [new_id()])[1] == 0
        assert sources.texts(connection, house.space_id, [one.id, new_id()]) == {one.id: "a"}
        assert sources.texts(connection, new_id(), [one.id]) == {}


def test_a_recent_source_is_known_by_its_fingerprint_unless_it_failed(house: House) -> None:
    _, (one, two) = put(house, "a", "b")
    with house.database.writing() as connection:
        sources.update(connection, two.id, LATER, status="failed")
        assert set(sources.find_recent(connection, house.space_id, ["a", "b", "c"], NOW)) == {"a"}
        assert sources.find_recent(connection, house.space_id, ["a"], LATER) == {}
        assert not sources.update(connection, new_id(), LATER, status="failed")
        assert one.id in sources.texts(connection, house.space_id, [one.id])


def test_claims_of_messages_go_with_their_source(house: House) -> None:
    _, (one,) = put(house, "a")
    with house.database.writing() as connection:
        sources.claim(connection, house.space_id, one.id, ["d1", "d2"])
    with house.database.writing() as connection:
        assert sources.claimed(connection, house.space_id, ["d1", "d3"]) == {"d1": one.id}
        sources.delete(connection, one.id)
        assert sources.claimed(connection, house.space_id, ["d1", "d2"]) == {}


def test_a_job_is_claimed_once_and_again_when_its_lease_has_run_out(house: House) -> None:
    made, _ = put(house, "a")
    with house.database.writing() as connection:
        taken = jobs.claim(connection, NOW)
        assert taken is not None and (taken.id, taken.attempts, taken.started_at) == (made.id, 1, NOW)
    with house.database.writing() as connection:
        assert not jobs.has_waiting(connection, LATER) and jobs.claim(connection, LATER) is None
        again = jobs.claim(connection, LATER + jobs.LEASE)
        assert again is not None and (again.attempts, again.started_at) == (2, NOW)
        jobs.release_all(connection)
        assert jobs.has_waiting(connection, LATER + jobs.LEASE)


def test_a_job_that_was_put_back_waits_until_its_time(house: House) -> None:
    made, _ = put(house, "a")
    with house.database.writing() as connection:
        jobs.update(connection, made.id, LATER, status="pending")
        assert jobs.claim(connection, NOW) is None
        assert jobs.claim(connection, LATER) is not None


def test_a_final_job_does_not_change_any_more(house: House) -> None:
    made, _ = put(house, "a")
    with house.database.writing() as connection:
        assert jobs.update(connection, made.id, LATER, status="completed")
        assert not jobs.update(connection, made.id, LATER, status="processing")
        found = jobs.get(connection, made.id)
        assert found is not None and found.status is JobStatus.COMPLETED


def test_entities_are_counted_over_live_records_only(house: House) -> None:
    one, two = house.put(), house.put()
    ada, bo = Mention("ada", "Ada", "person"), Mention("bo_%", "Bo_%", None)
    with house.database.writing() as connection:
        assert entities.record(connection, house.space_id, {one.id: [ada, bo], two.id: [ada]}, NOW) == (2, 3)
        assert entities.record(connection, house.space_id, {one.id: [ada, bo]}, LATER) == (2, 2)
        found, total = entities.page(connection, [house.space_id], NOW, order_by="edge_count", descending=True)
        assert ([(each.name, each.edge_count) for each in found], total) == ([("Ada", 2), ("Bo_%", 1)], 2)
        assert [each.name for each in entities.page(connection, [house.space_id], NOW, text="O_%")[0]] == ["Bo_%"]
        assert entities.page(connection, [house.space_id], NOW, entity_type="person", limit=1)[1] == 1
        memories.replace(connection, one, replace(one, status=Status.DELETED, version=2))
        assert [each.name for each in entities.page(connection, [house.space_id], NOW)[0]] == ["Ada"]
        detail = entities.get(connection, [house.space_id], entities.entity_id(house.space_id, "ada"), NOW)
        assert detail is not None and [memory.id for memory in detail[1]] == [two.id]
        memories.delete(connection, two.id)
        assert entities.page(connection, [house.space_id], NOW) == ([], 0)
        with pytest.raises(InvalidRequest):
            entities.page(connection, [house.space_id], NOW, order_by="id")


def test_records_are_listed_by_nature_and_order(house: House) -> None:
    taste = house.put(provenance={"nature": "viewpoint"}, importance=0.2)
    event = house.put(memory_type=MemoryType.EPISODIC, importance=0.9)
    house.put(memory_type=MemoryType.WORKING)
    with house.database.reading() as connection:
        for nature, expected in (
            ("viewpoint", [taste]),
            ("episode", [event]),
            ("semantic", []),
            (None, [event, taste]),
        ):
            found = catalogue.page(connection, [house.space_id], NOW, nature=nature, order_by="importance_score")
            assert ([each.id for each in found[0]], found[1]) == ([each.id for each in expected], len(expected))
        with pytest.raises(InvalidRequest):
            catalogue.page(connection, [house.space_id], NOW, order_by="content")


def test_questions_add_up_by_day(house: House) -> None:
    tenant, day = house.principal.tenant_id, date(2026, 3, 14)
    with house.database.writing() as connection:
        usage.count_queries(connection, tenant, day, 2)
        usage.count_queries(connection, tenant, day, 3)
        usage.count_queries(connection, tenant, date(2026, 3, 15), 1)
        assert usage.queries(connection, tenant, day, day) == 5
        assert usage.queries(connection, tenant, day, date(2026, 3, 31)) == 6
        assert usage.queries(connection, new_id(), day, day) == 0


def test_a_deleted_space_takes_its_sources_jobs_and_entities_with_it(house: House) -> None:
    made, (one,) = put(house, "a")
    record = house.put()
    with house.database.writing() as connection:
        entities.record(connection, house.space_id, {record.id: [Mention("ada", "Ada", None)]}, NOW)
        sources.claim(connection, house.space_id, one.id, ["d"])
        spaces.delete(connection, house.space_id)
        assert sources.get(connection, one.id) is None and jobs.get(connection, made.id) is None
        assert entities.page(connection, [house.space_id], NOW) == ([], 0)
        assert sources.claimed(connection, house.space_id, ["d"]) == {}
