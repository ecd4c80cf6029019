from __future__ import annotations

from engine.store import index_state, marks
from engine.store.index_state import IndexState
from tests.store.records import House


def test_a_new_store_has_no_index_state(house: House) -> None:
    with house.database.reading() as connection:
        assert index_state.get(connection) is None


def test_the_state_of_the_latest_build_is_kept(house: House) -> None:
    first = IndexState("minilm", 384, "text-1")
    second = IndexState("other", 768, "text-2", generation="2")
    with house.database.writing() as connection:
        for state in (first, second):
            index_state.put(connection, state)
            assert index_state.get(connection) == state


def test_a_mark_is_overwritten_and_others_stay(house: House) -> None:
    with house.database.writing() as connection:
        marks.put(connection, "a", "1")
        marks.put(connection, "b", "2")
        marks.put(connection, "a", "3")
        assert [marks.get(connection, key) for key in ("a", "b", "c")] == ["3", "2", None]
