"""What callers send: refused by name, taken as unset, or read kindly; never a traceback."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_profiles import listing
from mcp_profiles.catalog import CATALOG
from mcp_profiles.parameter import ABSENT, Kind, Parameter
from mcp_profiles.profile import built_in_names, load
from mcp_profiles.tool import OUTPUT_SCHEMA
from tests.mcp.examples import arguments
from tests.mcp.surfaces import Desk, found

UNEXPOSED = [
    (profile, each.name, parameter.name)
    for profile in ("generic", "claude", "directory")
    for each in load(profile).exposures
    for parameter in each.tool.parameters
    if each.parameter(parameter.name) is None
]
LISTS = [
    (tool.name, parameter.name)
    for tool in CATALOG.values()
    for parameter in tool.parameters
    if parameter.kind is Kind.TEXTS
]


@pytest.mark.parametrize(("profile", "tool", "parameter"), UNEXPOSED)
def test_an_unexposed_parameter_is_refused_by_name(desk: Desk, profile: str, tool: str, parameter: str) -> None:
    result = desk.send(tool, {**arguments(tool, desk.values), parameter: "x"}, profile)
    assert result.is_error
    assert parameter in result.text


def test_the_generic_search_takes_nothing_but_query_and_limit(desk: Desk) -> None:
    for name in ("path_filter", "memory_type", "prefer_working", "scope", "team_id", "explain", "filters"):
        result = desk.send("search_memory", {"query": "lamps", name: "x"}, "generic")
        assert result.is_error and name in result.text, name


def test_a_misspelt_filter_is_refused_with_the_nearest_name(desk: Desk) -> None:
    result = desk.send("search_memory", {"query": "lamps", "path_fliter": "team/%"}, "claude")
    assert result.is_error
    assert "path_fliter" in result.text and "did you mean path_filter" in result.text


def test_a_write_goes_on_without_an_argument_that_nothing_knows_and_says_so(desk: Desk) -> None:
    result = desk.send("remember", {"content": "Kettle 4 is descaled.", "path": "kitchen", "tags": ["tea"]}, "generic")
    assert not result.is_error
    assert "Ignored arguments: tags" in result.text


def test_a_tool_without_parameters_does_not_mind_any(desk: Desk) -> None:
    assert not desk.send("get_mcp_identity", {"random_string": "x"}, "claude").is_error


def test_crosmos_ignores_unknown_properties_and_honours_a_limit(desk: Desk) -> None:
    for number in range(3):
        desk.send(
            "add_memory", {"sources": [{"content": f"Gondola {number} was painted green.", "colour": 1}]}, "crosmos"
        )
    result = desk.send("search_memories", {"query": "green gondola", "limit": 1, "rerank": True}, "crosmos")
    assert len(found(result)) == 1


@pytest.mark.parametrize("unset", ["", "null", None, "None", " "])
def test_an_unset_filter_is_never_looked_up(desk: Desk, unset: str | None) -> None:
    desk.call("remember", content="Nightly dumps land in the cold bucket at 02:15 UTC.", path="ops/dumps")
    result = desk.call(
        "search_memory", "claude", query="nightly dumps", path_filter=unset, memory_type=unset, limit=unset
    )
    assert found(result)


@pytest.mark.parametrize("query", [None, "", "   ", 7, ["a"], {"text": "a"}, "\ud800"])
def test_a_query_that_is_no_text_is_refused_by_name(desk: Desk, query: object) -> None:
    for tool in ("search_memory", "recall", "recall_context"):
        result = desk.call(tool, query=query)
        assert result.is_error and "query" in result.text


@pytest.mark.parametrize("limit", [0, -1, 1001, 2.5, "many", True, float("nan"), float("inf"), [5], "1e999"])
def test_a_limit_that_is_no_count_is_refused_by_name(desk: Desk, limit: object) -> None:
    result = desk.call("search_memory", "generic", query="lamps", limit=limit)
    assert result.is_error and "limit" in result.text


@pytest.mark.parametrize("limit", [5, "5", 5.0, "5.0", 1000, None])
def test_a_count_may_come_as_text_and_a_high_one_is_cut_down(desk: Desk, limit: object) -> None:
    assert not desk.call("search_memory", "generic", query="lamps", limit=limit).is_error


@pytest.mark.parametrize(
    ("name", "value"), [("path_filter", "a\\"), ("memory_type", "mythical"), ("prefer_working", "perhaps")]
)
def test_a_bad_filter_is_refused_by_name(desk: Desk, name: str, value: str) -> None:
    result = desk.send("search_memory", {"query": "lamps", name: value}, "claude")
    assert result.is_error and name in result.text


@pytest.mark.parametrize("memory_id", ["x", "00000000-0000-7000-8000-000000000000", "../etc"])
def test_an_unknown_id_is_an_error_for_every_tool_that_takes_one(desk: Desk, memory_id: str) -> None:
    for tool in ("explain_memory", "restore_memory", "forget_memory", "redact_memory", "list_memory_versions"):
        assert desk.call(tool, memory_id=memory_id).is_error
    assert desk.call("forget", target=memory_id).is_error
    assert desk.call("update_memory", memory_id=memory_id, content="x").is_error


def test_there_is_at_least_one_list_argument_to_try() -> None:
    assert LISTS == [("create_pending_decision", "options")]


@pytest.mark.parametrize("sent", [["LED", "halogen"], '["LED", "halogen"]', "LED, halogen"])
def test_a_list_may_come_as_json_text_or_with_commas(desk: Desk, sent: object) -> None:
    made = desk.values("create_pending_decision", {"context": "Which lamp?", "options": sent})
    assert desk.engine.get(desk.principal, made["id"]).metadata["options"] == ["LED", "halogen"]


@pytest.mark.parametrize("sent", [7, {"a": 1}, "[1, 2]", '["a"', [["a"]], True])
def test_what_is_no_list_is_refused_by_name(desk: Desk, sent: object) -> None:
    result = desk.call("create_pending_decision", context="Which lamp?", options=sent)
    assert result.is_error and "options" in result.text


@pytest.mark.parametrize("sent", [{"a": 1}, '{"a": 1}', json.dumps('{"a": 1}')])
def test_an_object_may_come_as_json_text(desk: Desk, sent: object) -> None:
    made = desk.values("remember", {"content": f"Object {sent!r}", "path": "x", "metadata_json": sent})
    assert desk.engine.get(desk.principal, made["id"]).metadata == {"a": 1}


@pytest.mark.parametrize("sent", ["{", "[1]", 7, '{"a": NaN}', {"a": "\ud800"}])
def test_what_is_no_object_is_refused_by_name(desk: Desk, sent: object) -> None:
    result = desk.call("remember", content="x", path="x", metadata_json=sent)
    assert result.is_error and "metadata_json" in result.text


def test_a_default_of_an_optional_parameter_is_a_value_of_its_own() -> None:
    for tool in CATALOG.values():
        for parameter in tool.parameters:
            if parameter.default is not None:
                assert parameter.read(parameter.default) is not ABSENT


def loosely(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Values that fit the schema of a parameter, or nearly."""
    texts = st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            ["%", "*", "null", "", "a/b%", "\\", "\x00", "\ud800", "2026-01-01T00:00:00Z", "{}", "[]", "🔑"]
        ),
    )
    numbers = st.one_of(st.integers(-3, 2000), st.floats(allow_nan=True), st.just(10**400))
    objects = st.dictionaries(st.text(max_size=5), st.one_of(texts, numbers, st.none()), max_size=3)
    match parameter.kind:
        case Kind.TEXT if parameter.choices:
            fitting: st.SearchStrategy[Any] = st.sampled_from(parameter.choices)
        case Kind.TEXT | Kind.MOMENT | Kind.JSON:
            fitting = texts
        case Kind.INTEGER | Kind.NUMBER:
            fitting = numbers
        case Kind.BOOLEAN:
            fitting = st.booleans()
        case Kind.TEXTS:
            fitting = st.lists(texts, max_size=3)
        case Kind.OBJECT:
            fitting = st.fixed_dictionaries({}, optional={each.name: loosely(each) for each in parameter.fields})
        case Kind.OBJECTS:
            inner = st.fixed_dictionaries({}, optional={each.name: loosely(each) for each in parameter.fields})
            fitting = st.lists(inner, max_size=3)
    return st.one_of(fitting, fitting, texts, numbers, st.booleans(), st.none(), st.lists(texts, max_size=2), objects)


@pytest.mark.parametrize("tool", sorted(CATALOG))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_arguments_bring_a_tool_down(desk: Desk, tool: str, data: st.DataObject) -> None:
    parameters = CATALOG[tool].parameters
    sent = data.draw(st.fixed_dictionaries({}, optional={each.name: loosely(each) for each in parameters}))
    profile = "crosmos" if tool in {each.name for each in load("crosmos").exposures} else "full"
    result = desk.send(tool, sent, profile)
    assert result.text.strip() and "Traceback" not in result.text
    answer = result.wire()
    if result.is_error:
        assert "structuredContent" not in answer
    else:
        jsonschema.validate(answer["structuredContent"], OUTPUT_SCHEMA)
        json.dumps(answer, allow_nan=False)


@pytest.mark.parametrize("name", built_in_names())
def test_good_arguments_fit_the_schema_and_the_answer_fits_the_output_schema(desk: Desk, name: str) -> None:
    for entry in listing.tools(load(name)):
        sent = arguments(entry["name"], desk.values)
        jsonschema.validate(sent, entry["inputSchema"])
        result = desk.send(entry["name"], sent, name)
        assert not result.is_error, f"{entry['name']}: {result.text}"
        jsonschema.validate(result.wire()["structuredContent"], entry["outputSchema"])
        assert result.wire()["structuredContent"]["result"] == result.text
