"""`init`, `doctor`, `reindex`, `demo`, and the command as a whole."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cli.console import EXIT_CODE_MEANINGS, ExitCode
from cli.main import app
from engine.engine import Engine
from engine.settings import Settings
from tests.cli.terminal import Terminal
from tests.shared_data import ROOT

HEAVY = ("numpy", "onnxruntime", "tokenizers", "sqlalchemy", "qdrant_client", "qdrant_edge", "pydantic", "fastapi")


def commands(group: Any, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    found: dict[str, Any] = group.commands
    for name, command in sorted(found.items()):
        if hasattr(command, "commands"):
            yield from commands(command, (*prefix, name))
        else:
            yield (*prefix, name), command


ALL_COMMANDS = dict(commands(get_command(app)))
SPEAK_A_PROTOCOL = {("mcp",), ("hook", "session-start"), ("hook", "stop")}
"""Commands for programs only: their one output is a protocol of JSON already."""


def test_init_makes_the_folder_and_says_what_to_do_next(terminal: Terminal) -> None:
    ran = terminal("init")
    assert ran.code == 0
    assert str(terminal.data_dir) in ran.out and "memvouch import" in ran.out
    assert terminal("init", "--json").document["records"] == 0


def test_doctor_finds_truth_and_index_equal(terminal: Terminal) -> None:
    terminal.stored("The gate code is 4417.")
    ran = terminal("doctor", "--json")
    assert ran.code == 0
    assert (ran.document["equal"], ran.document["records"], ran.document["indexed"]) == (True, 1, 1)
    assert "equal" in terminal("doctor").out


def test_doctor_tells_a_lost_index_and_repairs_it(terminal: Terminal) -> None:
    terminal.stored("The gate code is 4417.")
    (index,) = terminal.data_dir.glob("index-*")
    shutil.rmtree(index)
    ran = terminal("doctor")
    assert ran.code == ExitCode.SETUP
    assert "differ" in ran.out and "--repair" in ran.out
    assert terminal("doctor", "--repair", "--json").document["equal"] is True
    assert terminal("search", "what is the gate code?").code == 0


def test_reindex_builds_the_index_anew(terminal: Terminal) -> None:
    terminal.stored("The gate code is 4417.")
    assert terminal("reindex", "--json").document == {"written": 1}
    assert terminal("search", "what is the gate code?").code == 0


def test_a_folder_in_use_is_a_setup_error_that_says_what_to_do(terminal: Terminal) -> None:
    terminal("init")
    with Engine.open(Settings(data_dir=terminal.data_dir)):
        ran = terminal("search", "anything")
    assert ran.code == ExitCode.SETUP
    assert "another process" in ran.err and "--data-dir" in ran.err


def test_a_setting_that_does_not_parse_names_its_variable(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMVOUCH_POOL_SIZE", "many")
    ran = terminal("list")
    assert ran.code == ExitCode.SETUP
    assert "MEMVOUCH_POOL_SIZE" in ran.err


def test_the_demo_shows_four_outcomes_all_as_expected(terminal: Terminal) -> None:
    document = terminal("demo", "--json")
    assert document.code == 0
    questions = document.document["questions"]
    assert [each["as_expected"] for each in questions] == [True] * 4
    assert [each["outcome"]["matched"] for each in questions] == [True, False, False, True]
    assert questions[1]["outcome"]["no_match"]["reason"] == "identifier_absent"
    text = terminal("demo").out
    assert text.count("as expected") == 4 and "NOT" not in text


def test_the_demo_without_a_folder_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ran = subprocess.run([sys.executable, "-m", "cli.main", "demo"], cwd=ROOT, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert list(tmp_path.glob("memvouch-*")) == []


@pytest.mark.parametrize("name", sorted({words[0] for words in ALL_COMMANDS}))
def test_the_help_of_every_command_or_of_its_group_has_an_example(name: str) -> None:
    texts = [command.help or "" for words, command in ALL_COMMANDS.items() if words[0] == name]
    examples = "".join(text.partition("[bold]Examples[/bold]")[2] for text in texts)
    assert re.search(rf"memvouch (?:--\S+ \S+ )?{name}\b", examples)


@pytest.mark.parametrize("words", sorted(set(ALL_COMMANDS) - SPEAK_A_PROTOCOL), ids=" ".join)
def test_every_command_has_a_machine_readable_form(words: tuple[str, ...]) -> None:
    assert "--json" in {name for option in ALL_COMMANDS[words].params for name in option.opts}


def test_the_help_lists_the_exit_codes(terminal: Terminal) -> None:
    text = " ".join(terminal("--help").out.split())
    for code, meaning in EXIT_CODE_MEANINGS.items():
        assert f"{int(code)} {meaning.split(';')[0]}" in text


def test_the_version_is_that_of_the_package(terminal: Terminal) -> None:
    assert re.fullmatch(r"memvouch \d+\.\d+\.\d+\S*\n", terminal("--version").out)


def test_help_loads_nothing_heavy() -> None:
    code = f"import sys, json, cli.main; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []
