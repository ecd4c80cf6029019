"""A profile is data: a user's own file is checked, loaded, shown, and never half believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.console import ExitCode
from engine.errors import NotFound, SetupError
from mcp_profiles.profile import built_in_names, load, named, names, read_document
from mcp_profiles.profile import problems as problems_of
from mcp_profiles.tool import Effect
from tests.cli.terminal import Terminal
from tests.mcp.surfaces import Desk

TOML = """
name = "support"
instructions = "Look up before you answer."
read_only = true
no_match_advice = "Ask the customer."

[tools.search_memory]
parameters = ["query", "limit", "path_filter"]
description = "Find it."
defaults = { path_filter = "support/%", limit = 2 }
maximums = { limit = 3 }
descriptions = { query = "The customer's words." }

[tools.remember]
"""
YAML = """
name: support
instructions: Look up before you answer.
read_only: true
no_match_advice: Ask the customer.
tools:
  search_memory:
    parameters: [query, limit, path_filter]
    description: Find it.
    defaults: {path_filter: support/%, limit: 2}
    maximums: {limit: 3}
    descriptions: {query: The customer's words.}
  remember: {}
"""


def written(folder: Path, text: str, name: str = "support.toml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(("text", "name"), [(TOML, "support.toml"), (YAML, "support.yaml")])
def test_a_file_of_the_users_own_loads_in_both_formats(tmp_path: Path, text: str, name: str) -> None:
    profile = load(str(written(tmp_path, text, name)))
    assert profile.name == "support" and not profile.writes
    (search,) = profile.exposures
    assert search.description == "Find it."
    limit, path_filter = search.parameter("limit"), search.parameter("path_filter")
    assert limit and limit.default == 2 and limit.maximum == 3
    assert path_filter and path_filter.default == "support/%"


def test_its_defaults_limits_and_words_take_effect(desk: Desk, tmp_path: Path) -> None:
    profile = load(str(written(tmp_path, TOML)))
    for number in range(5):
        desk.values("remember", {"content": f"Valve V{number}9 sticks in winter.", "path": f"support/valves/{number}"})
    desk.values("remember", {"content": "Valve V77 sticks in winter.", "path": "elsewhere"})
    result = desk.call("search_memory", profile, query="valve sticks in winter", limit=100)
    assert 0 < len(result.values["hits"]) <= 3
    assert desk.call("search_memory", profile, query="valve V77").text.endswith("Ask the customer.")
    assert desk.call("remember", profile, content="x", path="y").is_error


def test_a_profile_of_the_data_folder_is_known_by_its_name(tmp_path: Path) -> None:
    written(tmp_path / "profiles", TOML)
    assert "support" in names(tmp_path) and "support" not in names()
    assert named("support", tmp_path).name == "support"
    with pytest.raises(NotFound):
        named("support")


def test_a_name_is_never_taken_for_a_path(tmp_path: Path) -> None:
    file = written(tmp_path, TOML)
    for name in (str(file), "../generic", "generic.toml", ""):
        with pytest.raises(NotFound):
            named(name, tmp_path)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ('name = "x"\n', "instructions must be a text"),
        ('name = "x"\ninstructions = "y"\n', "at least one tool"),
        ('name = "x"\ninstructions = "y"\n[tools.nope]\n', "no such tool"),
        ('name = "x"\ninstructions = "y"\ncolour = 1\n[tools.recall]\n', "no key 'colour'"),
        ('name = "x"\ninstructions = "y"\n[tools.recall]\nparameters = ["limit"]\n', "'query' is required"),
        ('name = "x"\ninstructions = "y"\n[tools.recall]\nparameters = ["query", "colour"]\n', "no parameter 'colour'"),
        ('name = "x"\ninstructions = "y"\n[tools.recall]\ndefaults = { limit = "many" }\n', "limit must be a number"),
        ('name = "x"\ninstructions = "y"\n[tools.recall]\ndefaults = { query = "a" }\n', "has no default"),
        ('name = "x"\ninstructions = "y"\n[tools.recall]\nmaximums = { explain = 1 }\n', "no such maximum"),
        ('name = "x"\ninstructions = "y"\nread_only = "yes"\n[tools.recall]\n', "read_only must be true or false"),
        ('name = "x"\ninstructions = "y"\nunknown_arguments = "drop"\n[tools.recall]\n', "must be one of"),
    ],
)
def test_what_is_wrong_is_said_and_the_profile_does_not_load(tmp_path: Path, broken: str, told: str) -> None:
    file = written(tmp_path, broken)
    assert told in "; ".join(problems_of(read_document(file)))
    with pytest.raises(SetupError, match="no sound profile"):
        load(str(file))


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "name ="), ("a.yaml", "a: [1"), ("a.toml", "\x00"), ("a.yml", "7")]
)
def test_a_file_that_does_not_parse_is_a_setup_error(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(SetupError):
        load(str(written(tmp_path, text, name)))


@pytest.mark.parametrize("name", built_in_names())
def test_a_read_only_twin_of_every_profile_lists_only_reading_tools(tmp_path: Path, name: str) -> None:
    declared = "\n".join(f"[tools.{each.name}]" for each in load(name).exposures)
    text = f'name = "twin"\ninstructions = "x"\nread_only = true\n{declared}\n'
    twin = load(str(written(tmp_path, text)))
    assert twin.exposures and all(each.tool.effect is Effect.READS for each in twin.exposures)


def test_the_command_lists_shows_and_checks(terminal: Terminal, tmp_path: Path) -> None:
    listed = {each["name"] for each in terminal("profile", "list", "--json").document["profiles"]}
    assert set(built_in_names()) <= listed
    shown = terminal("profile", "show", "generic", "--json").document
    assert len(shown["tools"]) == 10 and shown["refuses_unknown"] is True
    assert "search_memory" in terminal("profile", "show", "claude").out
    good = terminal("profile", "check", str(written(tmp_path, TOML)))
    assert good.code == 0 and "search_memory" in good.out
    bad = terminal("profile", "check", str(written(tmp_path, 'name = "x"\n', "bad.toml")), "--json")
    assert bad.code == ExitCode.USAGE and bad.document["sound"] is False
    assert terminal("profile", "show", "nope").code == ExitCode.NOT_FOUND
