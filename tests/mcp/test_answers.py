"""What tools answer: the engine's hits and verdicts, in texts that agents and old clients can read."""

from __future__ import annotations

import json
import re

import pytest

from engine.domain.outcome import Matches, NoMatch
from engine.domain.query import ContextQuery, Mode, Query
from engine.errors import NotFound
from mcp_profiles.render import NO_MATCH
from tests.mcp.surfaces import Desk, found

LINE = re.compile(r"^(\[\d+\] id=\S+|(space|path|type|score|label|updated|boundary|why|content): .+)$")


@pytest.fixture(scope="module")
def lamps(desk: Desk) -> list[str]:
    """Ids of three memories about one subject."""
    texts = (
        "Lamp LX-400 in lecture hall Orion takes bulbs of type PQ9.",
        "The caretaker of lecture hall Orion is Bertil Ask.\n\n\n\nHe starts at six.",
        "Lecture hall Orion closes at nine in the evening.",
    )
    return [desk.values("remember", {"content": text, "path": "campus/orion"})["id"] for text in texts]


def test_search_and_recall_give_what_the_engine_gives(desk: Desk, lamps: list[str]) -> None:
    for text in ("Which bulbs does lamp LX-400 take?", "Who is the caretaker of hall Orion?", "What does LX-401 take?"):
        strict = desk.engine.search(desk.principal, Query(text=text, limit=5))
        ids = [hit.memory.id for hit in strict.hits] if isinstance(strict, Matches) else []
        assert found(desk.call("search_memory", "generic", query=text)) == ids
        assert found(desk.call("search_memory", "claude", query=text)) == ids
        loose = desk.engine.search(desk.principal, Query(text=text, mode=Mode.FORGIVING, limit=5, prefer_working=True))
        assert isinstance(loose, Matches)
        assert found(desk.call("recall", query=text)) == [hit.memory.id for hit in loose.hits]


def test_every_block_is_one_paragraph_of_known_lines(desk: Desk, lamps: list[str]) -> None:
    text = desk.call("recall", "full", query="lecture hall Orion", explain=True).text
    blocks = text.split("\n\n")
    assert len(blocks) >= 3
    for number, block in enumerate(blocks, start=1):
        head, *lines = block.split("\n")
        assert head.startswith(f"[{number}] id=")
        before_content = lines[: next(i for i, line in enumerate(lines) if line.startswith("content: ")) + 1]
        assert all(LINE.match(line) for line in before_content), block
        assert any(line.startswith("why: ") for line in before_content)
    assert "He starts at six." in text and "\n\n\n" not in text


def test_a_hit_says_where_it_lies_in_text_and_in_values(desk: Desk, lamps: list[str]) -> None:
    result = desk.call("recall", "generic", query="Which bulbs does lamp LX-400 take?", limit=3)
    memory = desk.engine.get(desk.principal, lamps[0])
    hit = result.values["hits"][0]
    updated = memory.updated_at.isoformat().replace("+00:00", "Z")
    assert hit["id"] == lamps[0] and hit["path"] == "campus/orion"
    assert hit["space"] == "default" and hit["updated_at"] == updated
    first = result.text.split("\n\n")[0]
    assert f"id={lamps[0]}" in first and "space: default" in first
    assert "path: campus/orion" in first and f"updated: {updated}" in first


def test_a_score_is_the_confidence_with_three_decimals_and_reasons_come_only_when_asked(
    desk: Desk, lamps: list[str]
) -> None:
    result = desk.call("search_memory", "claude", query="Which bulbs does lamp LX-400 take?")
    assert f"score: {result.values['hits'][0]['confidence']:.3f}" in result.text
    assert "why:" not in result.text and "label:" not in result.text
    explained = desk.call("search_memory", "full", query="Which bulbs does lamp LX-400 take?", explain=True)
    assert "why:" in explained.text and found(explained) == found(result)


def test_no_match_is_an_answer_in_one_paragraph_that_forbids_guessing(desk: Desk, lamps: list[str]) -> None:
    for profile in ("generic", "claude"):
        result = desk.call("search_memory", profile, query="Which bulbs does lamp LX-777Z take?")
        assert not result.is_error
        assert result.text.startswith(NO_MATCH) and "\n" not in result.text
        assert "Do not guess" in result.text and "recall" in result.text
        assert result.values["hits"] == []
        assert result.values["no_match"]["reason"] == "identifier_absent"
        assert "PQ9" not in json.dumps(result.wire())


def test_no_match_under_a_filter_names_the_filter_where_the_profile_has_one(desk: Desk, lamps: list[str]) -> None:
    result = desk.call("search_memory", "claude", query="lamp LX-400", path_filter="nowhere/%")
    assert result.text.startswith(NO_MATCH) and "path_filter" in result.text
    assert "path_filter" not in desk.call("search_memory", "generic", query="lamp LX-777Z").text


def test_no_match_is_never_filled_up_with_recalled_memories(desk: Desk, lamps: list[str]) -> None:
    strict = desk.engine.search(desk.principal, Query(text="Which bulbs does lamp LX-777Z take?"))
    assert isinstance(strict, NoMatch)
    result = desk.call("search_memory", "generic", query="Which bulbs does lamp LX-777Z take?")
    assert not [each for each in lamps if each in json.dumps(result.wire())]


def test_a_context_pack_is_the_engines_own_and_its_budget_is_told(desk: Desk, lamps: list[str]) -> None:
    pack = desk.engine.recall_context(
        desk.principal, ContextQuery(query=Query(text="lecture hall Orion", prefer_working=True), max_items=8)
    )
    result = desk.call("recall_context", "generic", query="lecture hall Orion")
    assert result.text == pack.text
    assert result.values["budget"]["used_tokens"] == pack.tokens
    cut = desk.call("recall_context", "generic", query="lecture hall Orion", max_tokens=60)
    assert not cut.is_error and cut.values["budget"]["used_tokens"] <= 60
    none = desk.call("recall_context", "generic", query="lecture hall Orion", max_tokens=3)
    assert "raise max_tokens" in none.text


def test_output_json_is_the_body_of_the_rest_answer(desk: Desk, lamps: list[str]) -> None:
    body = json.loads(desk.call("recall_context", query="lecture hall Orion", output_json=True).text)
    assert body["items"] and body["context_text"].startswith("[1] id=") and body["budget"]["used_items"] >= 1
    explained = json.loads(desk.call("explain_memory", memory_id=lamps[0], query="LX-400", output_json="true").text)
    assert explained["memory"]["id"] == lamps[0] and explained["explanation"]["verdict"]
    assert json.loads(desk.call("memory_stats", output_json=True).text)["totals"]["records"] >= 3


def test_the_identity_has_five_lines_that_clients_split(desk: Desk) -> None:
    lines = desk.call("get_mcp_identity", "generic").text.split("\n")
    assert len(lines) == 5 and ": " not in lines[0]
    fields = dict(line.split(": ", 1) for line in lines[1:])
    assert fields["Owner ID"] == desk.principal.user_id and fields["Agent ID"] not in ("", "none")
    tenant = json.loads(fields["Tenant"])
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,128}", tenant["project_id"]) and tenant["organization_id"]
    assert "memory:read, memory:write" in fields["Scopes"]
    assert desk.as_agent("hermes").call("get_mcp_identity").values["agent_id"] == "hermes"


def test_a_hit_says_whether_the_calling_agent_wrote_it(desk: Desk) -> None:
    hermes, other = desk.as_agent("hermes"), desk.as_agent("atlas")
    hermes.values("remember", {"content": "Tram 11 stops at Quarry Hill.", "path": "town/trams"})
    assert "boundary: self" in hermes.call("recall", query="Where does tram 11 stop?", limit=1).text
    assert "boundary: other_agent" in other.call("recall", query="Where does tram 11 stop?", limit=1).text


def test_forgotten_is_gone_at_once_and_restored_under_its_id(desk: Desk) -> None:
    memory_id = desk.values("remember", {"content": "Barge Wanda moors at pier 7.", "path": "port"})["id"]
    query = {"query": "Where does barge Wanda moor?"}
    assert memory_id in found(desk.send("search_memory", query, "claude"))
    forgotten = desk.call("forget", "claude", target=memory_id)
    assert memory_id in forgotten.text and "restore_memory" in forgotten.text
    assert memory_id not in found(desk.send("recall", query, "claude"))
    assert desk.call("explain_memory", memory_id=memory_id).is_error
    assert not desk.call("restore_memory", "claude", memory_id=memory_id).is_error
    assert memory_id in found(desk.send("search_memory", query, "claude"))


def test_current_is_what_the_agent_stored_last(desk: Desk) -> None:
    agent = desk.as_agent("painter")
    kept = agent.values("remember", {"content": "The blue paint is in shed 3.", "path": "shed"})["id"]
    last = agent.values("remember", {"content": "The red paint is in shed 4.", "path": "shed"})["id"]
    desk.values("remember", {"content": "Somebody else's note about paint.", "path": "shed"})
    assert agent.values("forget", {})["id"] == last
    assert agent.engine.get(agent.principal, kept)


@pytest.mark.parametrize("mode", ["soft_delete", "hard_delete", "redact"])
def test_forgetting_by_id_has_three_ways(desk: Desk, mode: str) -> None:
    memory_id = desk.values("remember", {"content": f"Crate {mode} holds quartz.", "path": "store"})["id"]
    assert not desk.call("forget_memory", memory_id=memory_id, mode=mode).is_error
    assert f"Crate {mode} holds quartz" not in desk.call("recall", query=f"Crate {mode}").text
    assert desk.call("restore_memory", memory_id=memory_id).is_error is (mode == "hard_delete")


def test_a_write_that_is_sent_again_with_its_key_is_done_once(desk: Desk) -> None:
    first = desk.send("remember", {"content": "Ferry 8 sails at dawn.", "path": "port"}, key="k-1")
    again = desk.send("remember", {"content": "Ferry 8 sails at dawn.", "path": "port"}, key="k-1", again=True)
    assert again.values["id"] == first.values["id"]
    for tool, sent in (
        ("record_event", {"content": "Ferry 8 was late."}),
        ("create_memory_todo", {"content": "Ask about ferry 8."}),
        ("update_state", {"current_task": "ferry 8"}),
        ("create_pending_decision", {"context": "Ferry 8 or the bridge?"}),
    ):
        assert desk.send(tool, sent, key=tool).values["id"] == desk.send(tool, sent, key=tool, again=True).values["id"]
    conversation = {"messages": {"messages": [{"role": "user", "content": "Ferry 8 is full on Fridays."}]}}
    twice = [desk.send("add_memory", conversation, "crosmos", key="k-2") for _ in range(2)]
    assert twice[0].values["source_ids"] == twice[1].values["source_ids"]


def test_forgetting_that_is_sent_again_does_not_forget_another(desk: Desk) -> None:
    kept = desk.values("remember", {"content": "Locker 5 is Amal's.", "path": "gym"})["id"]
    gone = desk.values("remember", {"content": "Locker 6 is Ben's.", "path": "gym"})["id"]
    assert not desk.send("forget", {"target": gone}, key="f").is_error
    assert not desk.send("forget", {"target": gone}, key="f", again=True).is_error
    assert desk.send("forget", {}, key="g", again=True).is_error
    assert desk.engine.get(desk.principal, kept)
    with pytest.raises(NotFound):
        desk.engine.get(desk.principal, gone)


def test_texts_of_the_crosmos_tools_are_those_of_the_contract(desk: Desk) -> None:
    space = desk.engine.create_space(desk.principal, "observatory", description="stars")
    sent = {"space_id": space.id, "sources": [{"content": "Comet Brandt returns in 2061.", "meta": {"a": 1}}]}
    assert desk.send("add_memory", sent, "crosmos").text == "Memory saved successfully."
    assert desk.send("add_memory", sent, "crosmos").text == "Memory saved successfully."
    hit = desk.send("search_memories", {"query": "When does comet Brandt return?", "space_id": space.id}, "crosmos")
    head, entry = hit.text.split("\n\n")
    assert head == 'Found 1 memories for "When does comet Brandt return?":'
    assert re.fullmatch(
        r"1\. \(score: \d\.\d{3}, type: (semantic|episode|viewpoint)\)\n   Comet Brandt returns in 2061\.", entry
    )
    other = desk.send("search_memories", {"query": "Zebra crossing paint supplier", "space_id": space.id}, "crosmos")
    assert other.text == "No memories found matching your query." and not other.is_error
    assert f"[ID: {space.id}] observatory - stars" in desk.send("list_spaces", {}, "crosmos").text
    assert desk.send("health_check", {}, "crosmos").text == "Memvouch status: ok"


def test_errors_of_the_crosmos_tools_are_those_of_the_contract(desk: Desk) -> None:
    both = {"sources": [{"content": "x"}], "messages": {"messages": [{"role": "user", "content": "x"}]}}
    for sent in (both, {}):
        result = desk.send("add_memory", sent, "crosmos")
        assert result.is_error
        assert result.text == "Error adding memory: Invalid input: Provide exactly one of 'sources' or 'messages'"
    unknown = "00000000-0000-4000-8000-000000000000"
    result = desk.send("search_memories", {"query": "x", "space_id": unknown}, "crosmos")
    assert result.is_error and result.text.startswith("Error searching memories: API Error 404: ")
    assert f"Space {unknown} not found" in result.text
    result = desk.send("search_memories", {"query": ""}, "crosmos")
    assert result.is_error and result.text.startswith("MCP error -32602: Input validation error: ")


def test_null_fields_of_a_published_client_are_taken_as_unset(desk: Desk) -> None:
    source = {
        "content": "Balloon 3 lifts off at noon.",
        "content_type": "text",
        "role": None,
        "sequence": 0,
        "meta": None,
    }
    sent = {"space_id": None, "sources": [source], "messages": None}
    assert not desk.send("add_memory", sent, "crosmos").is_error
    message = {"role": "user", "content": "Balloon 4 follows."}
    conversation = {"messages": [message], "session_id": None, "session_date": None, "meta": None}
    assert not desk.send("add_memory", {"messages": json.dumps(conversation)}, "crosmos").is_error


def test_an_unknown_tool_is_an_error_that_lists_the_known_ones(desk: Desk) -> None:
    result = desk.call("forget_everything", "generic")
    assert result.is_error and "search_memory" in result.text


def test_a_snapshot_gives_back_the_state_and_none_says_so(desk: Desk) -> None:
    scope = "restart-test"
    assert "no restart snapshot" in desk.call("restore_restart_snapshot", scope=scope).text
    desk.values("update_state", {"current_task": "sort the archive", "scope": scope})
    made = desk.values("create_restart_snapshot", {"scope": scope})
    back = desk.call("restore_restart_snapshot", scope=scope)
    assert back.values["restored"] and back.values["id"] == made["id"] and "sort the archive" in back.text


def test_a_project_gathers_what_lies_in_its_scope(desk: Desk) -> None:
    made = desk.values("project", {"query": "A bridge over the Orle", "project_id": "orle"})
    desk.values("remember", {"content": "The Orle bridge has four piers.", "path": "orle", "scope": made["scope"]})
    text = desk.call("get_project_context", "claude", project_id="orle", query="How many piers?").text
    assert "four piers" in text and "A bridge over the Orle" in text
    assert "Nothing is stored" in desk.call("get_project_context", project_id="empty").text
    assert desk.call("get_project_context", project_id="no such id!").is_error
