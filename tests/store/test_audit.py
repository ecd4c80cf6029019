from __future__ import annotations

from dataclasses import replace

from engine.store import accounts, audit
from engine.store.ids import new_id, parse_id
from tests.store.records import NOW, House


def test_an_event_says_who_did_what_when_and_to_what(house: House) -> None:
    who = replace(house.principal, token_id=new_id())
    target = new_id()
    with house.database.writing() as connection:
        audit_id = audit.append(
            connection, who, "memory.update", NOW, target=target, space_id=house.space_id, detail={"fields": ["path"]}
        )
        (entry,) = audit.entries(connection, who.tenant_id)
    assert entry == audit.AuditEntry(
        sequence=entry.sequence,
        id=audit_id,
        at=NOW,
        tenant_id=who.tenant_id,
        user_id=who.user_id,
        token_id=who.token_id,
        action="memory.update",
        target=target,
        space_id=house.space_id,
        detail={"fields": ["path"]},
    )
    assert parse_id(audit_id) == audit_id


def test_an_event_can_take_the_id_of_its_request(house: House) -> None:
    given = new_id()
    with house.database.writing() as connection:
        assert audit.append(connection, house.principal, "space.create", NOW, audit_id=given) == given


def test_an_event_of_a_request_carries_the_id_of_its_answer(house: House) -> None:
    with house.database.writing() as connection:
        answering = audit.answer_id.set("a receipt")
        audit.append(connection, house.principal, "space.create", NOW, detail={"name": "n"})
        audit.answer_id.reset(answering)
        audit.append(connection, house.principal, "space.delete", NOW)
        last, first = audit.entries(connection, house.principal.tenant_id)
    assert (first.detail, last.detail) == ({"name": "n", "answer_id": "a receipt"}, {})


def test_many_events_are_like_as_many_single_ones_in_order(house: House) -> None:
    records = [(new_id(), house.space_id) for _ in range(3)]
    with house.database.writing() as connection:
        answering = audit.answer_id.set("a receipt")
        for target, space_id in records:
            audit.append(connection, house.principal, "remember", NOW, target=target, space_id=space_id)
        audit.append_many(connection, house.principal, "remember", NOW, records)
        audit.append_many(connection, house.principal, "remember", NOW, [])
        audit.answer_id.reset(answering)
        found = audit.entries(connection, house.principal.tenant_id)[::-1]
    assert len({entry.id for entry in found}) == len(found) == 6
    single, many = (
        [replace(entry, id="", sequence=place) for place, entry in enumerate(half)] for half in (found[:3], found[3:])
    )
    assert many == single
    assert [entry.target for entry in many] == [target for target, _ in records]


def test_events_are_listed_newest_first_and_page_backwards(house: House) -> None:
    with house.database.writing() as connection:
        for number in range(5):
            audit.append(connection, house.principal, f"a{number}", NOW, target="even" if number % 2 == 0 else "odd")
        tenant_id = house.principal.tenant_id
        first = audit.entries(connection, tenant_id, limit=2)
        rest = audit.entries(connection, tenant_id, before_sequence=first[-1].sequence)
        assert [entry.action for entry in (*first, *rest)] == ["a4", "a3", "a2", "a1", "a0"]
        assert [entry.action for entry in audit.entries(connection, tenant_id, target="odd")] == ["a3", "a1"]


def test_a_tenant_sees_its_own_events_only(house: House) -> None:
    with house.database.writing() as connection:
        audit.append(connection, house.principal, "mine", NOW)
        foreign = accounts.create_tenant(connection, "foreign", NOW)
        assert audit.entries(connection, foreign) == []
