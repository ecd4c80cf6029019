"""Teams: `team create`, `list`, `members`, `add`, `remove`, `delete`. They work while a host serves the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import cards
from cli.commands.administration import TenantOption, administering
from cli.console import GuardedGroup, state_of
from cli.options import JsonOption
from engine.domain.access import Role, Team, TeamMember

TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="Name or id of the team.")]
UserArgument = Annotated[str, typer.Argument(metavar="USER", help="Name of the user.")]

app = typer.Typer(cls=GuardedGroup, help="Teams and their members.", no_args_is_help=True, rich_markup_mode="rich")


@app.command("create")
def create_team(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name; its first space has the same.")],
    tenant: TenantOption = None,
    json: JsonOption = False,
) -> None:
    """Make a team with a space of its own. You are its first owner.

    [bold]Examples[/bold]
      memvouch team create platform
      memvouch team add platform ada --role writer --create
    """
    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        team = administration.create_team(actor, name)
        space = administration.team_spaces(actor, team.id)[0].space
    document = {"team": _plain(team), "space": {"id": space.id, "name": space.name}}
    state.emit(
        lambda: document,
        lambda console: console.print(Text("created  ", style="green").append(f"{team.name}  {team.id}", "default")),
    )


@app.command("list")
def list_teams(context: typer.Context, tenant: TenantOption = None, json: JsonOption = False) -> None:
    """List the teams, oldest first."""
    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        found = administration.teams(actor)
    state.emit(
        lambda: {"teams": [_plain(team) for team in found]},
        lambda console: _table(console, ("name", "id"), [(cards.visible(team.name), team.id) for team in found]),
    )


@app.command("members")
def list_members(
    context: typer.Context, team: TeamArgument, tenant: TenantOption = None, json: JsonOption = False
) -> None:
    """List who is in a team, and as what."""
    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        found = administration.members(actor, team)
        names = {user.id: user.name for user in administration.users(actor)}
    state.emit(
        lambda: {"members": [_member(each, names) for each in found]},
        lambda console: _table(
            console,
            ("user", "role", "id"),
            [(cards.visible(names[each.user_id]), each.role.value, each.user_id) for each in found],
        ),
    )


@app.command("add")
def add_member(
    context: typer.Context,
    team: TeamArgument,
    user: UserArgument,
    role: Annotated[Role, typer.Option(help="reader, writer or owner.")] = Role.READER,
    create: Annotated[bool, typer.Option("--create", help="Make the user if there is none.")] = False,
    tenant: TenantOption = None,
    json: JsonOption = False,
) -> None:
    """Put a user into a team, or change its role."""
    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        found = administration.user_named(actor, user, create=create)
        member = administration.set_role(actor, team, found.id, role)
    state.emit(
        lambda: {"member": _member(member, {found.id: found.name})},
        lambda console: console.print(f"{found.name} is {member.role.value} of {team}", markup=False),
    )


@app.command("remove")
def remove_member(
    context: typer.Context,
    team: TeamArgument,
    user: UserArgument,
    tenant: TenantOption = None,
    json: JsonOption = False,
) -> None:
    """Take a user out of a team."""
    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        found = administration.user_named(actor, user)
        administration.remove_member(actor, team, found.id)
    state.emit(
        lambda: {"removed": {"user_id": found.id, "team": team}},
        lambda console: console.print(f"{found.name} is out of {team}", markup=False),
    )


@app.command("delete")
def delete_team(
    context: typer.Context, team: TeamArgument, tenant: TenantOption = None, json: JsonOption = False
) -> None:
    """Delete a team that has no spaces left."""
    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        deleted = administration.delete_team(actor, team)
    state.emit(
        lambda: {"deleted": _plain(deleted)}, lambda console: console.print(f"deleted {deleted.name}", markup=False)
    )


def _plain(team: Team) -> dict[str, Any]:
    return {"id": team.id, "name": team.name, "created_at": team.created_at.isoformat()}


def _member(member: TeamMember, names: Mapping[str, str]) -> dict[str, Any]:
    return {"user_id": member.user_id, "name": names.get(member.user_id), "role": member.role.value}


def _table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
