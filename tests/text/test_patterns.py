"""The ILIKE language: what patterns mean, that they mean the same in SQL, and what is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.errors import InvalidPattern
from engine.text.folding import path_key
from engine.text.patterns import MAX_PATTERN_CHARACTERS, Pattern, parse_path_pattern, parse_value_pattern

CHARACTERS = "abBé/%_\\* ß"


@pytest.fixture(scope="module")
def sql() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


def sql_matches(sql: sqlite3.Connection, pattern: Pattern, key: str) -> bool:
    rows = [sql.execute("SELECT ? LIKE ? ESCAPE '\\'", (key, like)).fetchone() for like in pattern.like]
    return any(matched for (matched,) in rows)


@pytest.mark.parametrize("text", ["%", "%%", "", "  ", "*", "**", "/", "/%", "[ROOT]/%", "[ROOT]/", "\u200b"])
def test_blank_and_lone_wildcards_mean_everything(text: str) -> None:
    pattern = parse_path_pattern(text)
    assert pattern.is_match_all
    assert pattern.matches("") and pattern.matches("any/path")


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("projects/api", "projects/api", True),
        ("projects/api", "Projects/API/limits", True),
        ("projects/api", "projects/api-gateway", False),
        ("projects/api", "my/projects/api", False),
        ("projects/api/", "projects/api/limits", True),
        ("/projects//api", "projects/api", True),
        ("[ROOT]/projects", "projects/api", True),
        ("docs/api/%", "docs/api/limits", True),
        ("docs/api/%", "docs/api", False),
        ("docs / api/%", "docs/api/limits", True),
        ("DOCS/%", "docs/ui", True),
        ("%/capacity", "infra/a/capacity", True),
        ("%/capacity/", "infra/a/capacity", True),
        ("runbooks/*", "runbooks/db/failover", True),
        ("runbooks/*", "runbooks-old/db", False),
        ("runbooks/**", "runbooks/db", True),
        ("run*", "runbooks/db", True),
        ("a*b", "a*b", True),
        ("a*b", "axb", False),
        ("a*b%", "a*bc", True),
        ("a\\*", "a*", True),
        ("a\\*", "ab", False),
        ("infra/a_b/%", "infra/a_b/c", True),
        ("infra/a_b/%", "infra/axb/c", True),
        ("infra/a_b/%", "infra/axxb/c", False),
        ("infra/a\\_b/%", "infra/axb/c", False),
        ("infra/a_b", "infra/a_b", True),
        ("infra/a_b", "infra/axb", False),
        ("a_b*", "axbc", True),
        ("reports/100\\%/%", "reports/100%/q3", True),
        ("reports/100\\%/%", "reports/1000/q3", False),
        ("reports/100\\%", "reports/100%/q3", True),
        ("a\\b", "ab", True),
        ("a\\\\b", "a\\b", True),
        ("notes/cafe\u0301/%", "notes/café/x", True),
        ("发布/%", "发布/流程", True),
        ("%stra_%", "strasse", True),
        ("a%b%c", "a1b2c", True),
        ("a%b%c", "acb", False),
        ("ab%ba", "aba", False),
        ("%a", "ba", True),
        ("%a", "ab", False),
    ],
)
def test_a_path_pattern_matches_the_paths_it_describes(text: str, path: str, expected: bool) -> None:
    assert parse_path_pattern(text).matches(path_key(path)) is expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("semantic", "semantic", True),
        ("Semantic", "semantic", True),
        ("semantic", "semantic/below", False),
        ("%al", "procedural", True),
        ("proc*", "procedural", True),
        ("work_ng", "working", False),
        ("work_ng%", "working", True),
        ("", "working", True),
    ],
)
def test_a_value_pattern_matches_whole_values(text: str, value: str, expected: bool) -> None:
    assert parse_value_pattern(text).matches(value) is expected


def test_only_a_pattern_without_wildcards_has_a_literal() -> None:
    assert parse_value_pattern("Semantic").literal == "semantic"
    assert parse_path_pattern("a\\%").literal == "a%"
    assert parse_path_pattern("a%").literal is None
    assert parse_path_pattern("%").literal is None


@pytest.mark.parametrize("text", ["\\", "reports\\", "%\\", "a\\\\\\", "a\0b", "a\ud800"])
@pytest.mark.parametrize("parse", [parse_path_pattern, parse_value_pattern])
def test_a_pattern_that_cannot_be_read_is_refused_by_name(parse: object, text: str) -> None:
    assert callable(parse)
    with pytest.raises(InvalidPattern, match="here") as raised:
        parse(text, field="here")
    assert raised.value.field == "here"


def test_the_longest_pattern_is_allowed_and_one_more_character_is_not() -> None:
    parse_path_pattern("a" * MAX_PATTERN_CHARACTERS)
    with pytest.raises(InvalidPattern, match="1024"):
        parse_path_pattern("a" * (MAX_PATTERN_CHARACTERS + 1))


def test_a_pattern_of_many_wildcards_is_judged_at_once() -> None:
    pattern = parse_path_pattern("%a_" * 340)
    assert not pattern.matches("ab" * 200)


@settings(max_examples=500)
@given(st.text(alphabet=CHARACTERS, max_size=12), st.text(alphabet=CHARACTERS, max_size=12))
@example("_%", "")
@example("a%a", "a")
@example("%_a%a_%", "aaa")
def test_matching_here_and_matching_in_sql_agree(sql: sqlite3.Connection, text: str, path: str) -> None:
    try:
        pattern = parse_path_pattern(text)
    except InvalidPattern:
        return
    key = path_key(path)
    assert pattern.matches(key) == sql_matches(sql, pattern, key)


@settings(max_examples=300)
@given(st.text(alphabet="ab/ é%_", max_size=10))
def test_every_path_escaped_matches_itself(path: str) -> None:
    escaped = "".join(f"\\{character}" if character in "%_\\*" else character for character in path)
    assert parse_path_pattern(escaped).matches(path_key(path))


@settings(max_examples=300)
@given(st.lists(st.sampled_from(["a", "b", "ab", "é"]), min_size=1, max_size=4), st.integers(0, 4))
def test_a_bare_path_holds_what_lies_below_it_and_no_sibling(names: list[str], depth: int) -> None:
    pattern = parse_path_pattern("/".join(names))
    assert pattern.matches("/".join(names + ["x"] * depth))
    assert not pattern.matches("/".join(names) + "x")
