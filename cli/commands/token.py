"""Tokens: `token create`, `token list`, `token revoke`. They work while a host serves the folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import cards
from cli.commands.administration import TenantOption, administering
from cli.console import GuardedGroup, state_of
from cli.options import JsonOption, duration
from engine.domain.access import DEFAULT_SCOPES, Scope, Token
from engine.errors import InvalidRequest

RefArgument = Annotated[str, typer.Argument(metavar="TOKEN", help="Id or prefix of the token, as list prints it.")]

app = typer.Typer(cls=GuardedGroup, help="Tokens for clients.", no_args_is_help=True, rich_markup_mode="rich")


@app.command("create")
def create_token(
    context: typer.Context,
    name: Annotated[str, typer.Option("--name", "-n", help="What it is for.")],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="memory:read, write, delete, restore, admin. Repeatable. Default: read, write."),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option("--space", "-s", help="Only SPACE, or SPACE:read. Repeatable. A new name makes a space."),
    ] = None,
    expires: Annotated[str | None, typer.Option("--expires", help="30d, 12h, 2w. Default: never.")] = None,
    kind: Annotated[str, typer.Option("--kind", help="mv, or csk for Crosmos clients.")] = "mv",
    user: Annotated[str | None, typer.Option("--user", help="For this user, by name. Default: the owner.")] = None,
    tenant: TenantOption = None,
    create: Annotated[bool, typer.Option("--create", help="Make the user or tenant if it does not exist.")] = False,
    json: JsonOption = False,
) -> None:
    """Make a token. Its secret is printed once and stored nowhere.

    [bold]Examples[/bold]
      memvouch token create --name laptop
      memvouch token create --name ci --scope memory:read --space builds --expires 30d --json
      memvouch token create --name ada --user ada --create
    """
    from engine.upkeep.administration import TokenKind, TokenRequest, public_view

    if kind not in list(TokenKind):
        raise typer.BadParameter(f"{kind!r} is no kind; use mv or csk", param_hint="--kind")
    state = state_of(context)
    with administering(state, tenant, create=create) as (administration, actor):
        holder = administration.user_named(actor, user, create=create) if user else None
        owner = replace(actor, user_id=holder.id, default_space_id=None) if holder else actor
        spaces: list[tuple[str, bool]] = []
        for ref in space or ():
            wanted, can_write = _space_right(ref)
            found, made = administration.ensure_space(owner, wanted)
            spaces.append((found.id, can_write))
            if made:
                state.say(f"Made the space {found.name}.")
        issued = administration.issue_token(
            actor,
            TokenRequest(
                name=name,
                user_id=owner.user_id,
                scopes=_scopes(scope),
                spaces=tuple(spaces) if spaces else None,
                expires_at=datetime.now(UTC) + duration(expires) if expires else None,
                kind=TokenKind(kind),
            ),
        )
    document = {"token": issued.secret, **public_view(issued.token)}
    state.emit(lambda: document, lambda console: _show_issued(console, issued.token, issued.secret))


@app.command("list")
def list_tokens(context: typer.Context, tenant: TenantOption = None, json: JsonOption = False) -> None:
    """List tokens by prefix; the secrets are not stored."""
    from engine.upkeep.administration import public_view

    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        found = administration.tokens(actor)
    state.emit(
        lambda: {"tokens": [dict(public_view(each)) for each in found]}, lambda console: _show_all(console, found)
    )


@app.command("revoke")
def revoke_token(
    context: typer.Context, token: RefArgument, tenant: TenantOption = None, json: JsonOption = False
) -> None:
    """End a token for good, from the next request on."""
    from engine.upkeep.administration import public_view

    state = state_of(context)
    with administering(state, tenant) as (administration, actor):
        revoked = administration.revoke_token(actor, token)
    document: dict[str, Any] = {"revoked": dict(public_view(revoked))}
    state.emit(lambda: document, lambda console: console.print(f"revoked {revoked.prefix}", markup=False))


def _scopes(texts: Sequence[str] | None) -> frozenset[Scope]:
    if not texts:
        return DEFAULT_SCOPES
    known = {scope.value: scope for scope in Scope} | {scope.value.partition(":")[2]: scope for scope in Scope}
    wanted = [part for text in texts for part in text.replace(",", " ").split()]
    unknown = [text for text in wanted if text not in known]
    if unknown:
        raise InvalidRequest(f"unknown scope {unknown[0]}; known are {', '.join(Scope)}", field="scope")
    return frozenset(known[text] for text in wanted)


def _space_right(ref: str) -> tuple[str, bool]:
    name, colon, right = ref.rpartition(":")
    if colon and right in ("read", "r", "write", "rw"):
        return name, right in ("write", "rw")
    return ref, True


def _show_issued(console: Console, token: Token, secret: str) -> None:
    console.print(secret, markup=False, soft_wrap=True)
    console.print(Text("Shown once. Keep it; only a hash of it is stored.", style="dim"))
    console.print(Text(f"id {token.id}, scopes {', '.join(sorted(token.scopes))}", style="dim"))


def _show_all(console: Console, found: Sequence[Token]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("prefix", "name", "scopes", "spaces", "expires", "last used", "state", "id"):
        table.add_column(heading)
    for each in found:
        expired = each.expires_at is not None and each.expires_at <= datetime.now(UTC)
        state = "revoked" if each.revoked_at else "expired" if expired else "active"
        table.add_row(
            each.prefix,
            Text(cards.visible(each.name), style="bold"),
            ", ".join(sorted(scope.value.partition(":")[2] for scope in each.scopes)),
            "all" if each.space_rights is None else str(len(each.space_rights)),
            cards.when(each.expires_at),
            cards.when(each.last_used_at),
            state,
            each.id,
        )
    console.print(table)
