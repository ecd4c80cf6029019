"""Profiles of MCP tools: `profile list`, `profile show`, `profile check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cli.console import ExitCode, GuardedGroup, State, state_of
from cli.options import JsonOption
from mcp_profiles import listing
from mcp_profiles.profile import Profile, load, names, problems, read_document

app = typer.Typer(
    cls=GuardedGroup,
    help="Profiles: which MCP tools a client sees, and in which words.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.command("list")
def list_profiles(context: typer.Context, json: JsonOption = False) -> None:
    """List the profiles: the built-in ones and those in the folder's profiles/.

    [bold]Examples[/bold]
      memvouch profile list
    """
    state = state_of(context)
    folder = _folder(state)
    found = [(name, load(name, folder)) for name in names(folder)]
    document = [{"name": name, "tools": [each.name for each in profile.exposures]} for name, profile in found]

    def show(console: Console) -> None:
        table = Table("profile", "tools", box=None, pad_edge=False)
        for name, profile in found:
            table.add_row(name, ", ".join(each.name for each in profile.exposures))
        console.print(table)

    state.emit(lambda: {"profiles": document}, show)


@app.command("show")
def show_profile(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PROFILE", help="Name of a profile, or path of its file.")],
    json: JsonOption = False,
) -> None:
    """Show what a profile exposes. With --json: exactly what clients get.

    [bold]Examples[/bold]
      memvouch profile show claude
      memvouch profile show ./mine.toml --json
    """
    state = state_of(context)
    profile = load(name, _folder(state))
    state.emit(lambda: _document(profile), lambda console: _show(console, profile))


@app.command("check")
def check_profile(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(dir_okay=False, exists=True, help="TOML or YAML file of a profile.")],
    json: JsonOption = False,
) -> None:
    """Check a profile of your own: everything that is wrong with it, or what it exposes.

    [bold]Examples[/bold]
      memvouch profile check ./mine.toml
    """
    state = state_of(context)
    found = list(problems(read_document(file)))

    def show(console: Console) -> None:
        if found:
            for problem in found:
                console.print(f"- {problem}", markup=False, highlight=False)
        else:
            _show(console, load(str(file)))

    state.emit(lambda: {"sound": not found, "problems": found}, show)
    if found:
        raise typer.Exit(ExitCode.USAGE)


def _folder(state: State) -> Path:
    from cli.session import settings_of

    return settings_of(state).data_dir


def _document(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "title": profile.title,
        "instructions": profile.instructions,
        "refuses_unknown": profile.refuses_unknown,
        "tools": listing.tools(profile),
    }


def _show(console: Console, profile: Profile) -> None:
    console.print(f"{profile.name}: {len(profile.exposures)} tools", style="bold", markup=False, highlight=False)
    console.print(profile.instructions, markup=False, highlight=False)
    table = Table("tool", "effect", "parameters (default)", box=None, pad_edge=False)
    for each in profile.exposures:
        parameters = [
            f"{parameter.name}*" if parameter.required else f"{parameter.name}{_default(parameter.default)}"
            for parameter in each.parameters
        ]
        table.add_row(each.name, each.tool.effect.value, ", ".join(parameters) or "-")
    console.print(table)


def _default(value: object) -> str:
    return "" if value is None else f" ({value})"
