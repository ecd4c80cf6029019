"""`memvouch install`: write the configuration that lets an agent start its memory."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.syntax import Syntax

from cli import agent_configs
from cli.agent_configs import Agent
from cli.console import state_of
from cli.options import JsonOption, YesOption


def install(
    context: typer.Context,
    agent: Annotated[Agent, typer.Argument(help="The agent that gets a memory.")],
    profile: Annotated[
        str | None, typer.Option("--profile", "-P", help="Which tools it sees. Default: what suits the agent.")
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", envvar="MEMVOUCH_DATA_DIR", file_okay=False, help="Folder of the memories."),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the entry.")] = "memvouch",
    project: Annotated[
        Path | None,
        typer.Option("--project", file_okay=False, exists=True, help="For this project only, not for all of yours."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change and end.")] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Let an agent start its memory: shows the change, asks, keeps a copy of the old file.

    [bold]Examples[/bold]
      memvouch install claude-code
      memvouch install cursor --project . --profile generic
      memvouch install codex --dry-run
    """
    from mcp_profiles.profile import named

    state = state_of(context)
    folder = data_dir or state.data_dir
    wanted = profile or agent_configs.PLACES[agent].profile
    named(wanted, folder)
    file = agent_configs.file_of(agent, project)
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    new = agent_configs.with_entry(agent, file, old, name, agent_configs.server_entry(agent, wanted, folder))
    changed = new != old
    diff = "".join(
        difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), str(file), str(file), n=2)
    )
    if changed and not json:
        state.err.print(Syntax(diff, "diff", background_color="default"))
    backup = None
    writes = changed and not dry_run
    if writes:
        if not yes:
            typer.confirm(f"Write {file}?", abort=True, err=True)
        backup = agent_configs.write(file, new)
    document = {
        "file": str(file),
        "changed": changed,
        "written": writes,
        "backup": str(backup) if backup else None,
        "diff": diff,
    }
    state.emit(lambda: document, lambda console: _show(console, agent, file, backup, changed=changed, written=writes))


def _show(console: Console, agent: Agent, file: Path, backup: Path | None, *, changed: bool, written: bool) -> None:
    if not changed:
        console.print(f"{file} has the entry already.", markup=False)
    elif not written:
        console.print("Nothing was written.")
    else:
        console.print(f"Wrote {file}. Start {agent} anew to use it.", markup=False)
        if backup:
            console.print(f"The former file is {backup}.", markup=False)
