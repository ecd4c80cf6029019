"""How request values are read: times to the last digit, objects that come back as they are, unset fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api.xmemo.models import ContextBody, RememberBody, SearchParams, StateBody
from api.xmemo.wire import parse_moment, parse_object

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1970, 1, 3), datetime(9990, 1, 1), timezones=ZONES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(MOMENTS)
def test_a_time_with_an_offset_is_read_exactly(moment: datetime) -> None:
    assert parse_moment(moment.isoformat()) == moment
    assert parse_moment(moment.isoformat()).tzinfo is UTC


@given(MOMENTS, st.text("0123456789", min_size=1, max_size=6))
def test_digits_beyond_the_microsecond_round_up(moment: datetime, more: str) -> None:
    text = moment.astimezone(UTC).strftime(f"%Y-%m-%dT%H:%M:%S.%f{more}Z")
    expected = moment + timedelta(microseconds=1 if more.strip("0") else 0)
    assert parse_moment(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00+9",
        "2026-01-01T00:00:00+99:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59.9999999Z",
        "1767225600",
        "now",
        "",
    ],
)
def test_what_is_no_time_with_an_offset_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_moment(text)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_an_object_comes_through_as_it_is(value: dict[str, Any]) -> None:
    assert parse_object(value) == value


@pytest.mark.parametrize(
    "value",
    [
        [1],
        "[1]",
        "{",
        7,
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": "\ud800"},
        {"\udfff": 1},
        '{"a": NaN}',
        "[" * 100_000,
        {"a": __import__("functools").reduce(lambda inner, _: [inner], range(40), 1)},
    ],
)
def test_an_object_that_could_not_be_given_back_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        parse_object(value)


def test_absent_null_and_empty_are_the_same_but_for_times() -> None:
    unset = {"scope": None, "source": "", "semantic_key": "", "expires_at": "", "importance": None, "path": ""}
    assert RememberBody.model_validate({"content": "x", **unset}) == RememberBody(content="x")
    assert ContextBody.model_validate({"query": "x", "since": None}).since is None
    for field in ("since", "until", "time_order", "owner_timezone", "query_mode", "hypothetical_answer"):
        with pytest.raises(ValidationError):
            ContextBody.model_validate({"query": "x", field: ""})


def test_numbers_and_booleans_may_come_as_text() -> None:
    body = RememberBody.model_validate({"content": 7, "importance": "0.5", "dedupe": "true", "metadata": '{"a": 1}'})
    assert (body.content, body.importance, body.dedupe, body.metadata) == ("7", 0.5, True, {"a": 1})
    assert StateBody.model_validate({"key": "k", "ttl_seconds": "60"}).state_key == "k"


def test_two_spellings_of_one_field_must_agree() -> None:
    assert SearchParams.model_validate({"q": "x", "min_confidence": "0.5", "threshold": "0.5"}).threshold == 0.5
    with pytest.raises(ValidationError, match="same field"):
        SearchParams.model_validate({"query": "x", "min_confidence": "0.5", "threshold": "0.6"})


@given(st.text(min_size=1, max_size=20))
def test_a_read_refuses_every_name_that_is_none_of_its_own(name: str) -> None:
    known = {*SearchParams.model_fields, *SearchParams.ALIASES}
    if name not in known:
        with pytest.raises(ValidationError) as raised:
            SearchParams.model_validate({"query": "x", name: "y"})
        assert raised.value.errors()[0]["loc"] == (name,)
