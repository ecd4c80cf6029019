"""`remember`, `update`, `forget`, `restore`, `state`, `show`, `list`, `spaces`, `stats` on a real engine."""

from __future__ import annotations

import pytest

from tests.cli.terminal import Terminal

MISSING = "00000000-0000-7000-8000-000000000000"


def test_a_memory_is_remembered_with_all_that_was_said_and_shown_again(terminal: Terminal) -> None:
    identifier = terminal.stored(
        "Ilse prefers tea.",
        *("--path", "people/ilse", "--type", "identity", "--source", "chat", "--importance", "0.7"),
        *("--meta", "lang=en", "--when", "2024-05-01T00:00:00+00:00", "--ttl", "2h"),
    )
    memory = terminal("show", identifier, "--json").document["memory"]
    assert (memory["content"], memory["path"], memory["memory_type"]) == (
        "Ilse prefers tea.",
        "people/ilse",
        "identity",
    )
    assert (memory["source"], memory["importance"], memory["metadata"]) == ("chat", 0.7, {"lang": "en"})
    assert memory["event_time"] == "2024-05-01T00:00:00+00:00"
    assert memory["expires_at"] > memory["created_at"]
    assert "Ilse prefers tea." in terminal("show", identifier).out


def test_text_can_come_from_stdin(terminal: Terminal) -> None:
    ran = terminal("remember", "-", "--json", stdin="Grüße aus Köln.\n".encode())
    assert ran.document["memory"]["content"] == "Grüße aus Köln."
    refused = terminal("remember", "-", stdin=b"\xff\xfe")
    assert refused.code == 2 and "UTF-8" in refused.err


def test_a_key_makes_the_second_text_the_next_version(terminal: Terminal) -> None:
    first = terminal.stored("On call: Ilse.", "--key", "oncall")
    second = terminal("remember", "On call: Tomasz.", "--key", "oncall", "--json").document
    assert (second["status"], second["memory"]["id"], second["memory"]["version"]) == ("updated", first, 2)
    former = terminal("show", first, "--versions", "--json").document["former"]
    assert [each["content"] for each in former] == ["On call: Ilse."]


def test_an_update_changes_what_is_named_and_adds_metadata(terminal: Terminal) -> None:
    identifier = terminal.stored("The train leaves on Tuesdays.", "--meta", "a=1")
    updated = terminal("update", identifier, "--text", "It leaves on Wednesdays.", "--meta", "b=2", "--json")
    memory = updated.document["memory"]
    assert (memory["content"], memory["version"], memory["metadata"]) == (
        "It leaves on Wednesdays.",
        2,
        {"a": "1", "b": "2"},
    )
    conflict = terminal("update", identifier, "--path", "x", "--if-version", "1")
    assert conflict.code == 2 and "version 2" in conflict.err
    nothing = terminal("update", identifier)
    assert nothing.code == 2 and "what to change" in nothing.err


def test_a_forgotten_memory_is_gone_from_every_command_until_it_is_restored(terminal: Terminal) -> None:
    identifier = terminal.stored("The gate code is 4417.")
    forgotten = terminal("forget", identifier)
    assert forgotten.code == 0 and "restore" in forgotten.out
    assert terminal("show", identifier).code == 3
    assert terminal("search", "what is the gate code?").code == 1
    assert terminal("list").code == 1
    assert terminal("restore", identifier).code == 0
    assert terminal("show", identifier).code == 0


def test_forgetting_for_good_asks_first_and_off_a_terminal_needs_yes(terminal: Terminal) -> None:
    identifier = terminal.stored("The gate code is 4417.")
    refused = terminal("forget", identifier, "--mode", "hard")
    assert refused.code == 2 and "--yes" in refused.err
    assert terminal("show", identifier).code == 0
    assert terminal("forget", identifier, "--mode", "hard", "--yes").code == 0
    assert terminal("restore", identifier).code == 3


def test_working_state_is_written_shown_and_replaced(terminal: Terminal) -> None:
    assert terminal("state").code == 1
    first = terminal("state", "Moving billing", "--next", "drain the queue", "--ttl", "8h", "--json").document
    again = terminal("state", "Billing moved", "--json").document
    assert first["memory"]["id"] == again["memory"]["id"]
    shown = terminal("state")
    assert shown.code == 0 and "Billing moved" in shown.out and "Moving" not in shown.out
    assert terminal("state", "x", "--ttl", "60d").code == 2


def test_a_list_pages_and_says_how_to_go_on(terminal: Terminal) -> None:
    for number in range(3):
        terminal.stored(f"Note number {number}.", "--path", f"notes/{number}")
    ran = terminal("list", "--limit", "2", "--oldest-first")
    assert "Note number 0." in ran.out and "Note number 2." not in ran.out
    assert "1 to 2 of 3; --offset 2" in ran.err
    rest = terminal("list", "--offset", "2", "--oldest-first", "--json").document
    assert [memory["content"] for memory in rest["memories"]] == ["Note number 2."]


@pytest.mark.parametrize("verb", [("show",), ("update", "--path", "x"), ("forget",), ("restore",)])
def test_a_missing_memory_has_its_own_exit_code_and_no_id_is_a_usage_error(
    terminal: Terminal, verb: tuple[str, ...]
) -> None:
    assert terminal(verb[0], MISSING, *verb[1:]).code == 3
    assert terminal(verb[0], "nonsense", *verb[1:]).code == 2


def test_spaces_are_made_listed_written_to_and_deleted(terminal: Terminal) -> None:
    assert terminal("spaces", "create", "work", "--description", "the day job").code == 0
    taken = terminal("spaces", "create", "work")
    assert taken.code == 2 and "exists" in taken.err
    terminal.stored("The printer is on floor 3.", "--space", "work")
    listed = terminal("spaces", "--json").document
    assert [each["space"]["name"] for each in listed["spaces"]] == ["default", "work"]
    assert "the day job" in terminal("spaces", "list").out
    counts = {each["name"]: each["records"] for each in terminal("stats", "--json").document["spaces"]}
    assert counts == {"default": 0, "work": 1}
    refused = terminal("spaces", "delete", "work")
    assert refused.code == 2 and "--yes" in refused.err
    assert terminal("spaces", "delete", "work", "--yes", "--json").document["records"] == 1
    assert terminal("stats", "--space", "work").code == 3
