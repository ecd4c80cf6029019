"""What `tools/list` shows: pinned by golden files, small, and in schemas that every client takes.

`MEMVOUCH_WRITE_GOLDEN=1` writes the golden files anew; look at the difference before you commit it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_types import ListToolsResult
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from engine.embedding.wordpiece import count_tokens
from mcp_profiles import listing, stdio
from mcp_profiles.catalog import CATALOG
from mcp_profiles.handlers import HANDLERS
from mcp_profiles.profile import built_in_names, load
from mcp_profiles.tool import Effect

GOLDEN = Path(__file__).parent / "golden"
UNIONS = {"anyOf", "oneOf", "allOf", "$ref", "$defs", "not"}
READERS = {
    *("search_memory", "recall", "recall_context", "recall_plan", "explain_memory", "list_memory_versions"),
    *("get_mcp_identity", "memory_stats", "memory_activity", "memory_overview", "get_timeline", "list_memory_todos"),
    *("get_project_context", "search_memories", "health_check", "list_spaces"),
}
GENERIC = [
    *("explain_memory", "forget", "get_mcp_identity", "recall", "recall_context", "remember", "restore_memory"),
    *("search_memory", "update_memory", "update_state"),
]
CLAUDE = [
    *("get_mcp_identity", "recall", "search_memory", "recall_context", "explain_memory", "remember", "update_memory"),
    *("forget", "restore_memory", "get_project_context", "project", "create_pending_decision", "resolve_decision"),
    *("todo", "update_state", "record_event"),
]
DESTROYERS = {"update_memory", "forget", "forget_memory", "redact_memory", "restore_memory"}

every_profile = pytest.mark.parametrize("name", built_in_names())


def tokens(name: str) -> int:
    """Size of the answer to `tools/list` by the all-MiniLM-L6-v2 WordPiece tokenizer."""
    answer = {"tools": listing.tools(load(name))}
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and every schema inside it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])


@every_profile
def test_the_list_of_a_profile_is_the_golden_one(name: str) -> None:
    file = GOLDEN / f"{name}.json"
    text = json.dumps(listing.tools(load(name)), ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("MEMVOUCH_WRITE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@every_profile
def test_the_list_is_what_the_protocol_expects(name: str) -> None:
    parsed = ListToolsResult.model_validate({"tools": listing.tools(load(name))})
    assert [tool.name for tool in parsed.tools] == [each.name for each in load(name).exposures]


def test_the_generic_list_costs_at_most_2500_tokens() -> None:
    assert tokens("generic") <= 2500


def test_the_claude_list_costs_at_most_5000_tokens() -> None:
    assert tokens("claude") <= 5000


@every_profile
def test_schemas_have_plain_types_only(name: str) -> None:
    for tool in listing.tools(load(name)):
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["inputSchema"]["type"] == "object" and "properties" in tool["inputSchema"]
        for node in (*nodes(tool["inputSchema"]), *nodes(tool["outputSchema"])):
            assert isinstance(node["type"], str) and node["type"] != "null"
            assert not UNIONS & set(node)
            assert node["type"] != "array" or isinstance(node["items"]["type"], str)
        for node in nodes(tool["inputSchema"]):
            assert node.get("additionalProperties", False) is False
            for property_schema in node.get("properties", {}).values():
                assert property_schema["description"].strip()
                if "default" in property_schema:
                    jsonschema.validate(property_schema["default"], property_schema)


@every_profile
def test_hints_are_true_to_what_a_tool_does(name: str) -> None:
    for tool in listing.tools(load(name)):
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is (tool["name"] in READERS)
        assert hints["destructiveHint"] is (tool["name"] in DESTROYERS)
        assert hints.get("idempotentHint", False) is (tool["name"] in READERS)
        assert hints["openWorldHint"] is False


def test_every_tool_of_the_catalogue_has_a_handler_and_no_other_has_one() -> None:
    assert set(HANDLERS) == set(CATALOG)


def test_every_tool_is_listed_by_some_profile() -> None:
    listed = {each.name for name in built_in_names() for each in load(name).exposures}
    assert listed == set(CATALOG)


def test_generic_has_ten_tools_and_a_search_of_two_parameters() -> None:
    profile = load("generic")
    assert sorted(each.name for each in profile.exposures) == GENERIC
    search = profile.exposure("search_memory")
    assert search and [each.name for each in search.parameters] == ["query", "limit"]


def test_claude_has_sixteen_tools_and_three_more_parameters_of_search() -> None:
    profile = load("claude-plugin")
    assert profile == load("claude")
    assert [each.name for each in profile.exposures] == CLAUDE
    search = profile.exposure("search_memory")
    assert search
    defaults = {each.name: each.default for each in search.parameters}
    assert defaults == {"query": None, "limit": 5, "path_filter": "%", "memory_type": "%", "prefer_working": False}


def test_crosmos_lists_its_four_tools_in_the_published_order() -> None:
    tools = {tool["name"]: tool for tool in listing.tools(load("crosmos"))}
    assert list(tools) == ["search_memories", "add_memory", "health_check", "list_spaces"]
    assert tools["search_memories"]["inputSchema"]["required"] == ["query"]
    conversation = tools["add_memory"]["inputSchema"]["properties"]["messages"]
    assert conversation["required"] == ["messages"] and conversation["properties"]["segment_size"]["maximum"] == 20
    assert tools["add_memory"]["inputSchema"]["properties"]["sources"]["items"]["required"] == ["content"]


def test_the_protocol_versions_of_stdio_are_those_of_the_sdk() -> None:
    assert stdio.HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert stdio.MODERN_VERSIONS == MODERN_PROTOCOL_VERSIONS


def test_a_server_never_bears_the_name_of_another_product() -> None:
    for name in built_in_names():
        profile = load(name)
        shown = json.dumps([listing.server_info(profile), listing.tools(profile), profile.instructions]).casefold()
        assert not [mark for mark in ("xmemo", "memory os", "crosmos") if mark in shown]


def test_read_tools_are_those_that_change_nothing() -> None:
    assert {name for name, tool in CATALOG.items() if tool.effect is Effect.READS} == READERS
