"""Where agents keep the list of their MCP servers, and how an entry gets into it.

An entry is added or replaced; everything else in the file stays as it is. Files are JSON, but for
Codex, whose TOML keeps its comments.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from engine.errors import SetupError


class Agent(StrEnum):
    """An agent whose configuration can be written."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"


@dataclass(frozen=True, slots=True)
class Place:
    """An agent's configuration: the user's file, a project's file if there is one, and the key of the list."""

    user_file: Callable[[], Path]
    project_file: str | None
    key: str
    profile: str
    has_type: bool = False


def _roaming(folder: str, *parts: str) -> Path:
    """A file in the user's configuration of an application, by platform custom."""
    return user_config_path(folder, appauthor=False, roaming=True).joinpath(*parts)


PLACES = {
    Agent.CLAUDE_CODE: Place(lambda: Path.home() / ".claude.json", ".mcp.json", "mcpServers", "claude", True),
    Agent.CLAUDE_DESKTOP: Place(lambda: _roaming("Claude", "claude_desktop_config.json"), None, "mcpServers", "claude"),
    Agent.CURSOR: Place(lambda: Path.home() / ".cursor" / "mcp.json", ".cursor/mcp.json", "mcpServers", "generic"),
    Agent.VSCODE: Place(lambda: _roaming("Code", "User", "mcp.json"), ".vscode/mcp.json", "servers", "generic", True),
    Agent.CODEX: Place(lambda: Path.home() / ".codex" / "config.toml", ".codex/config.toml", "mcp_servers", "generic"),
}


def file_of(agent: Agent, project: Path | None) -> Path:
    """The file to write. Raises `SetupError` for an agent that knows no files of projects."""
    place = PLACES[agent]
    if project is None:
        return place.user_file()
    if place.project_file is None:
        raise SetupError(f"{agent} has no configuration of projects; leave out --project")
    return project / place.project_file


def server_entry(agent: Agent, profile: str, data_dir: Path | None) -> dict[str, Any]:
    """How the agent starts its server."""
    command, *arguments = own_command()
    arguments += ["mcp", "--profile", profile]
    if data_dir is not None:
        arguments += ["--data-dir", str(data_dir.expanduser().resolve())]
    entry: dict[str, Any] = {"command": command, "args": arguments}
    return {"type": "stdio", **entry} if PLACES[agent].has_type else entry


def own_command() -> Sequence[str]:
    """How this `memvouch` is called from anywhere."""
    found = shutil.which("memvouch")
    return (found,) if found else (sys.executable, "-m", "cli.main")


def with_entry(agent: Agent, file: Path, text: str, name: str, entry: dict[str, Any]) -> str:
    """The text of the file with the entry in it. Raises `SetupError` for a file that does not parse."""
    key = PLACES[agent].key
    return _toml(file, text, key, name, entry) if file.suffix == ".toml" else _json(file, text, key, name, entry)


def write(file: Path, text: str) -> Path | None:
    """Write the file in one step; the copy of what was there, if there was something."""
    backup = None
    mode = 0o600
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        mode = file.stat().st_mode & 0o777
        backup = file.with_name(f"{file.name}.backup-{datetime.now():%Y%m%d-%H%M%S}")
        shutil.copy2(file, backup)
    # A link stays a link: what it points to is written.
    target = file.resolve()
    draft = target.with_name(f"{target.name}.new")
    draft.touch(mode=mode)
    draft.write_text(text, encoding="utf-8")
    draft.chmod(mode)
    draft.replace(target)
    return backup


def _json(file: Path, text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    snippet = json.dumps({key: {name: entry}}, indent=2)
    try:
        document = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise SetupError(f"{file} is no plain JSON ({error}). Add this by hand:\n{snippet}") from error
    if not isinstance(document, dict) or not isinstance(document.get(key, {}), dict):
        raise SetupError(f"{file} has no place for servers. Add this by hand:\n{snippet}")
    servers = {**document.get(key, {}), name: entry}
    return json.dumps({**document, key: servers}, ensure_ascii=False, indent=2) + "\n"


def _toml(file: Path, text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    # Loaded only for the one agent that needs it: every command imports this module.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        if key not in document:
            document[key] = tomlkit.table(is_super_table=True)
        servers: Any = document[key]
        servers[name] = entry
    except (TOMLKitError, TypeError) as error:
        raise SetupError(f"{file} does not parse as TOML: {error}") from error
    return tomlkit.dumps(document)
