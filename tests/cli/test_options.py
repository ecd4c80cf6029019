"""Texts of options become values, or a sentence that says what to write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from cli.options import ReadStatus, TimeChoice, duration, filters, moment, pairs, time_to_live
from engine.domain.memory import MAX_TTL_SECONDS, Status
from engine.domain.query import TimeAxis


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1_800), ("2h", 7_200), ("7D", 604_800), (" 2w ", 1_209_600)]
)
def test_a_duration_has_a_number_and_a_unit(text: str, seconds: int) -> None:
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "7", "d", "-1h", "1.5h", "7 d", "soon", "9999999999s"])
def test_any_other_text_is_no_duration(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        duration(text)


def test_a_time_with_a_zone_is_taken_as_it_is() -> None:
    assert moment("2024-05-01T09:30:00+02:00") == datetime(2024, 5, 1, 7, 30, tzinfo=UTC)


def test_a_time_without_a_zone_is_local_and_a_date_is_its_midnight() -> None:
    assert moment("2024-05-01") == datetime(2024, 5, 1).astimezone()


def test_a_duration_as_a_time_is_that_long_ago() -> None:
    assert abs((datetime.now(UTC) - moment("2h")) - timedelta(hours=2)) < timedelta(minutes=1)


@given(st.text("0123456789-:TZ+ dhw", max_size=20))
def test_a_time_is_aware_or_refused(text: str) -> None:
    try:
        assert moment(text).tzinfo is not None
    except typer.BadParameter as refused:
        assert "7d" in str(refused)


def test_a_time_to_live_has_a_highest_value() -> None:
    assert time_to_live("30d") == MAX_TTL_SECONDS
    with pytest.raises(typer.BadParameter):
        time_to_live("31d")
    with pytest.raises(typer.BadParameter):
        time_to_live("0s")


def test_pairs_are_split_at_the_first_equals_sign() -> None:
    assert pairs(["a=1", "b=x=y", "c="], "--meta") == {"a": "1", "b": "x=y", "c": ""}
    with pytest.raises(typer.BadParameter):
        pairs(["novalue"], "--meta")
    with pytest.raises(typer.BadParameter):
        pairs(["=x"], "--meta")


def test_filter_options_become_the_filters_of_the_domain() -> None:
    since = datetime(2024, 1, 1, tzinfo=UTC)
    found = filters(path="a/%", memory_type="semantic", status=ReadStatus.ANY, since=since, time=TimeChoice.EVENT)
    assert (found.path_filter, found.memory_type) == ("a/%", "semantic")
    assert found.statuses == {Status.ACTIVE, Status.ARCHIVED}
    assert (found.window.since, found.window.until, found.window.axis) == (since, None, TimeAxis.EVENT)
