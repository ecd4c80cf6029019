"""Spaces: `spaces list`, `spaces create`, `spaces delete`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli import cards, documents
from cli.console import GuardedGroup, State, state_of
from cli.options import JsonOption, YesOption
from cli.session import session
from engine.domain.access import ReadableSpace

NameArgument = Annotated[str, typer.Argument(metavar="SPACE", help="Name or id of the space.")]

app = typer.Typer(
    cls=GuardedGroup,
    help="Spaces: sets of memories with statistics and rights of their own.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)


@app.callback()
def spaces(context: typer.Context, json: JsonOption = False) -> None:
    """Spaces: sets of memories with statistics and rights of their own. Alone: list them."""
    if context.invoked_subcommand is None:
        _list(state_of(context))


@app.command("list")
def list_spaces(context: typer.Context, json: JsonOption = False) -> None:
    """List the spaces that you may read, oldest first.

    [bold]Examples[/bold]
      memvouch spaces list --json
    """
    _list(state_of(context))


@app.command("create")
def create_space(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name; no two spaces have the same.")],
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    json: JsonOption = False,
) -> None:
    """Make a space.

    [bold]Examples[/bold]
      memvouch spaces create work --description "the day job"
    """
    state = state_of(context)
    with session(state) as (verbs, me):
        space = verbs.create_space(me, name, description=description)
    state.emit(
        lambda: {"space": documents.plain(space)},
        lambda console: console.print(Text("created  ", style="green").append(f"{space.name}  {space.id}", "default")),
    )


@app.command("delete")
def delete_space(context: typer.Context, space: NameArgument, yes: YesOption = False, json: JsonOption = False) -> None:
    """Delete a space and every memory in it, for good.

    [bold]Examples[/bold]
      memvouch spaces delete scratch --yes
    """
    state = state_of(context)
    with session(state) as (verbs, me):
        held = verbs.stats(me, (space,))[0]
        if not yes:
            _ask(f"Delete {held.name} and its {held.records:,} memories for good?")
        deleted = verbs.delete_space(me, space)
    state.emit(
        lambda: {"space": documents.plain(deleted), "records": held.records},
        lambda console: console.print(Text(f"deleted {deleted.name} and its {held.records:,} memories")),
    )


def _list(state: State) -> None:
    with session(state) as (verbs, me):
        found = verbs.spaces(me)
    document = {"spaces": [documents.plain(each) for each in found], "default_space_id": me.default_space_id}
    state.emit(lambda: document, lambda console: _show(console, found, me.default_space_id))


def _show(console: Console, found: Sequence[ReadableSpace], default_id: str | None) -> None:
    for each in found:
        space = each.space
        head = Text(cards.visible(space.name), style="bold").append(f"  {space.id}", style="not bold dim")
        console.print(head)
        rows = [
            ("right", f"{each.reason}, {'read and write' if each.can_write else 'read'}"),
            ("created", cards.when(space.created_at)),
        ]
        if space.description:
            rows.append(("about", space.description))
        if space.id == default_id:
            rows.append(("default", "memories that name no space go here"))
        cards.print_facts(console, rows, margin=3)


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("this cannot be undone; say --yes", param_hint="--yes")
    if not typer.confirm(question, err=True):
        raise typer.Abort
