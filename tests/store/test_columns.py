from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store.columns import digest, from_microseconds, to_microseconds

aware = st.datetimes(timezones=st.integers(-12, 12).map(lambda hours: timezone(timedelta(hours=hours))))


@given(aware)
def test_a_time_comes_back_to_the_microsecond(moment: datetime) -> None:
    back = from_microseconds(to_microseconds(moment))
    assert back == moment
    assert back.tzinfo is UTC


@given(aware, aware)
def test_stored_times_compare_like_the_times(one: datetime, other: datetime) -> None:
    assert (to_microseconds(one) < to_microseconds(other)) == (one < other)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        to_microseconds(datetime(2026, 1, 1))


parts = st.lists(st.one_of(st.none(), st.text(max_size=4)), max_size=4)


@given(parts, parts)
def test_digests_are_equal_only_for_equal_parts(one: list[str | None], other: list[str | None]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)
