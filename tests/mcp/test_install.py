"""`memvouch install`: the right entry in the right file, everything else as it was, and a way back."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli import agent_configs
from cli.agent_configs import Agent
from cli.console import ExitCode
from tests.cli.terminal import Terminal

WITH_PROJECTS = [agent for agent in Agent if agent_configs.PLACES[agent].project_file]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    return folder


def document(agent: Agent, file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    return found


def entry(agent: Agent, file: Path) -> dict[str, Any]:
    found: dict[str, Any] = document(agent, file)[agent_configs.PLACES[agent].key]["memvouch"]
    return found


@pytest.mark.parametrize("agent", list(Agent))
def test_the_entry_starts_a_server_with_the_folder(terminal: Terminal, home: Path, agent: Agent) -> None:
    ran = terminal("install", agent.value, "--yes", "--json")
    assert ran.code == 0
    file = Path(ran.document["file"])
    assert file.is_relative_to(home) and ran.document["backup"] is None
    found = entry(agent, file)
    profile = "claude" if agent.value.startswith("claude") else "generic"
    assert found["args"][-5:] == ["mcp", "--profile", profile, "--data-dir", str(terminal.data_dir)]
    hello = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n'
    done = subprocess.run(
        [found["command"], *found["args"]], input=hello, capture_output=True, text=True, check=False, timeout=60
    )
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "memvouch", done.stderr


@pytest.mark.parametrize("agent", list(Agent))
def test_everything_else_in_the_file_stays_and_a_copy_is_kept(terminal: Terminal, agent: Agent) -> None:
    file = agent_configs.file_of(agent, None)
    file.parent.mkdir(parents=True, exist_ok=True)
    key = agent_configs.PLACES[agent].key
    if file.suffix == ".toml":
        old = f'# my notes\nmodel = "x"\n\n[{key}.other]\ncommand = "o" # keep\n\n[{key}.memvouch]\ncommand = "old"\n'
    else:
        old = json.dumps({"theme": "därk", key: {"other": {"command": "o"}, "memvouch": {"command": "old"}}})
    file.write_text(old, encoding="utf-8")
    file.chmod(0o640)
    ran = terminal("install", agent.value, "--yes", "--json")
    assert ran.code == 0
    assert Path(ran.document["backup"]).read_text(encoding="utf-8") == old
    assert file.stat().st_mode & 0o777 == 0o640
    assert document(agent, file)[key]["other"] == {"command": "o"}
    assert entry(agent, file)["command"] != "old"
    if file.suffix == ".toml":
        assert "# my notes" in file.read_text() and "# keep" in file.read_text()
    else:
        assert document(agent, file)["theme"] == "därk"
    assert terminal("install", agent.value, "--yes", "--json").document["changed"] is False


def test_a_dry_run_shows_the_change_and_writes_nothing(terminal: Terminal, home: Path) -> None:
    ran = terminal("install", "cursor", "--dry-run")
    assert ran.code == 0 and '+    "memvouch"' in ran.err and "Nothing was written" in ran.out
    assert not list(home.rglob("*.json"))


def test_without_a_yes_nothing_is_written(terminal: Terminal, home: Path) -> None:
    assert terminal("install", "cursor", stdin="n\n").code != 0
    assert not list(home.rglob("*.json"))
    assert terminal("install", "cursor", stdin="y\n").code == 0
    assert list(home.rglob("mcp.json"))


@pytest.mark.parametrize("agent", WITH_PROJECTS)
def test_a_project_can_have_an_entry_of_its_own(terminal: Terminal, home: Path, tmp_path: Path, agent: Agent) -> None:
    ran = terminal("install", agent.value, "--project", str(tmp_path), "--profile", "full", "--yes", "--json")
    assert Path(ran.document["file"]).is_relative_to(tmp_path)
    assert "full" in entry(agent, Path(ran.document["file"]))["args"]
    assert not list(home.rglob("*.json")) + list(home.rglob("*.toml"))


def test_an_agent_without_projects_and_an_unknown_profile_are_refused(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal("install", "claude-desktop", "--project", str(tmp_path), "--yes").code == ExitCode.SETUP
    assert terminal("install", "cursor", "--profile", "nope", "--yes").code == ExitCode.NOT_FOUND


@pytest.mark.parametrize("text", ["// a comment\n{}", "[]", '{"mcpServers": 7}'])
def test_a_file_that_cannot_be_changed_safely_is_left_and_the_entry_is_shown(terminal: Terminal, text: str) -> None:
    file = agent_configs.file_of(Agent.CURSOR, None)
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    ran = terminal("install", "cursor", "--yes")
    assert ran.code == ExitCode.SETUP and "by hand" in ran.err and '"mcpServers"' in ran.err
    assert file.read_text(encoding="utf-8") == text


def test_without_the_command_in_the_path_the_interpreter_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert agent_configs.own_command() == (sys.executable, "-m", "cli.main")
