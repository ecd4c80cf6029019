"""The Claude Code plugin and the registry entry: what they name exists and runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from cli.main import app
from cli.turns import last_turn
from mcp_profiles.catalog import CATALOG
from mcp_profiles.profile import load
from tests.cli.terminal import Terminal
from tests.shared_data import ROOT

PLUGIN = ROOT / "plugin"
SKILL = (PLUGIN / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PLUGIN / name).read_text(encoding="utf-8"))
    return found


def transcript(folder: Path, *entries: object) -> Path:
    file = folder / "session.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return file


def said(kind: str, content: object) -> dict[str, object]:
    return {"type": kind, "message": {"role": kind, "content": content}}


def test_the_manifest_names_the_plugin_and_the_present_version() -> None:
    manifest = read(".claude-plugin/plugin.json")
    assert re.fullmatch(r"[a-z][a-z0-9-]*", manifest["name"]) and manifest["description"]
    assert manifest["version"] == version("memvouch")


def test_the_server_is_the_claude_profile() -> None:
    server = read(".mcp.json")["mcpServers"]["memvouch"]
    assert server["command"] == "memvouch"
    assert server["args"][:2] == ["mcp", "--profile"]
    assert len(load(server["args"][2]).exposures) == 16


def test_the_skill_has_a_description_and_names_only_tools_of_the_profile() -> None:
    _, front, body = SKILL.split("---\n", 2)
    meta = yaml.safe_load(front)
    assert meta["name"] == "memory" and 80 <= len(meta["description"]) <= 1024
    listed = {each.name for each in load("claude").exposures}
    parameters = {parameter.name for tool in CATALOG.values() for parameter in tool.parameters}
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", body)) | {"recall", "remember", "forget", "todo"}
    assert named - parameters <= listed
    assert "search_memory" in named and "no strong match" in body


def test_the_hooks_call_commands_that_exist() -> None:
    hooks = read("hooks/hooks.json")["hooks"]
    assert set(hooks) == {"SessionStart", "Stop"}
    root = get_command(app)
    for groups in hooks.values():
        for hook in (hook for group in groups for hook in group["hooks"]):
            assert hook["type"] == "command" and 0 < hook["timeout"] <= 60
            program, group_name, name = hook["command"].split()
            assert program == "memvouch"
            assert name in root.commands[group_name].commands  # type: ignore[attr-defined]


def test_a_turn_that_ends_is_recalled_when_the_next_session_starts(terminal: Terminal, tmp_path: Path) -> None:
    file = transcript(
        tmp_path,
        said("user", "Rename the lighthouse module."),
        said("assistant", [{"type": "text", "text": "Done in 12 files."}]),
        said("user", [{"type": "text", "text": "Now fix the beacon tests."}]),
        said("assistant", [{"type": "tool_use", "name": "Bash"}, {"type": "text", "text": "Two of them pass."}]),
        said("user", [{"type": "tool_result", "content": "ok"}]),
    )
    event = {"cwd": "/src/lighthouse", "session_id": "s1", "transcript_path": str(file)}
    assert terminal("hook", "stop", stdin=json.dumps(event)).code == 0
    started = terminal("hook", "session-start", stdin=json.dumps({"cwd": "/src/lighthouse"}))
    assert started.code == 0
    told = json.loads(started.out)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert "Now fix the beacon tests." in told["additionalContext"]
    assert "Two of them pass." in told["additionalContext"]


@pytest.mark.parametrize("stdin", ["", "{", "[]", "{}", '{"transcript_path": "/nowhere", "cwd": 7}'])
def test_a_hook_never_stops_a_session(terminal: Terminal, stdin: str) -> None:
    for name in ("session-start", "stop"):
        ran = terminal("hook", name, stdin=stdin)
        assert ran.code == 0 and ran.out == ""


def test_a_long_request_is_cut_at_a_word_and_broken_lines_are_skipped(tmp_path: Path) -> None:
    file = transcript(tmp_path, said("user", "word " * 500))
    file.write_text('tail of a line"}\n' + file.read_text(encoding="utf-8") + "7\n", encoding="utf-8")
    asked = last_turn(file).asked
    assert asked and asked.endswith("word …") and len(asked) < 620


def test_the_registry_entry_fits_the_package_and_its_command_runs(tmp_path: Path) -> None:
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == project["version"]
    assert package["identifier"] == project["name"] and len(entry["description"]) <= 100
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    words = [word for each in package["packageArguments"] for word in (each.get("name"), each["value"]) if word]
    hello = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    command = [sys.executable, "-m", "cli.main", *words, "--data-dir", str(tmp_path), "--in-process"]
    done = subprocess.run(command, input=hello, capture_output=True, text=True, check=False, timeout=60)
    assert len(json.loads(done.stdout)["result"]["tools"]) == 10, done.stderr
