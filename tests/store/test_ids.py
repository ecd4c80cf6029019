from __future__ import annotations

import threading
import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidIdentifier
from engine.store.ids import new_id, parse_id


def test_an_id_is_a_version_7_uuid_of_this_moment() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_id())
    after = time.time_ns() // 1_000_000
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert before <= made.int >> 80 <= after + 1


def test_ids_ascend_even_within_a_millisecond() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(set(made))


def test_ids_ascend_when_the_clock_steps_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = new_id()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    assert new_id() > first


def test_threads_never_make_the_same_id() -> None:
    made: list[list[str]] = [[] for _ in range(4)]

    def make(into: list[str]) -> None:
        into.extend(new_id() for _ in range(3_000))

    threads = [threading.Thread(target=make, args=(into,)) for into in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one for some in made for one in some}) == 12_000


@given(st.uuids())
def test_every_uuid_is_read_in_any_case_with_or_without_hyphens(value: uuid.UUID) -> None:
    for form in (str(value), str(value).upper(), value.hex, f" {value}\n"):
        assert parse_id(form) == str(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "default",
        "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4",
        "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4g",
        "{0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b}",
        "urn:uuid:0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
        "0190a6e27c1e-7b2a-9a55-3f2f6c1d8e4b",
        "٠190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    ],
)
def test_anything_else_is_an_invalid_identifier(text: str) -> None:
    with pytest.raises(InvalidIdentifier):
        parse_id(text)
