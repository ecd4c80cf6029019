"""Looking: `show` one memory, `list` many, `stats` in figures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli import cards, documents
from cli.console import ExitCode, state_of
from cli.options import (
    AgentFilterOption,
    BucketFilterOption,
    IdArgument,
    JsonOption,
    PathFilterOption,
    ReadStatus,
    ScopeFilterOption,
    SinceOption,
    SourceFilterOption,
    SpacesOption,
    StatusFilterOption,
    TimeChoice,
    TimeChoiceOption,
    TypeFilterOption,
    UntilOption,
    filters,
)
from cli.session import session, space_names
from engine.domain.query import MATCH_ALL, ListQuery, TimeAxis, TimeOrder

if TYPE_CHECKING:
    from engine.upkeep.stats import SpaceStats


def show(
    context: typer.Context,
    memory_id: IdArgument,
    versions: Annotated[bool, typer.Option("--versions", help="Also its former states, newest first.")] = False,
    question: Annotated[
        str | None,
        typer.Option("--for", metavar="QUESTION", help="Also why strict search returns it for this question, or not."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show one memory with all its fields.

    [bold]Examples[/bold]
      memvouch show 01890a5d-ac96-774b-bcce-b302099a8057 --versions
      memvouch show 01890a5d-ac96-774b-bcce-b302099a8057 --for "when does the train leave?"
    """
    state = state_of(context)
    with session(state) as (verbs, me):
        explanation = verbs.explain(me, memory_id, question)
        former = verbs.versions(me, memory_id) if versions else []
        names = space_names(verbs, me)

    def show_all(console: Console) -> None:
        cards.show_memory(console, explanation.memory, names)
        if former:
            console.print()
            cards.show_versions(console, former)
        if explanation.considered is not None:
            cards.show_trace(console, [explanation.considered], explanation.threshold or 0.0)

    state.emit(
        lambda: {**documents.plain(explanation), "former": documents.plain(former) if versions else None}, show_all
    )


def list_memories(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="At most this many.")] = 20,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave out this many first.")] = 0,
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="Oldest first instead of newest.")] = False,
    space: SpacesOption = None,
    path: PathFilterOption = MATCH_ALL,
    memory_type: TypeFilterOption = MATCH_ALL,
    bucket: BucketFilterOption = None,
    scope: ScopeFilterOption = None,
    status: StatusFilterOption = ReadStatus.ACTIVE,
    source: SourceFilterOption = None,
    agent: AgentFilterOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    time: TimeChoiceOption = TimeChoice.CREATED,
    json: JsonOption = False,
) -> None:
    """List memories, newest first. Exit code 1 if there are none.

    [bold]Examples[/bold]
      memvouch list --path projects/heron --since 7d
      memvouch list --type "%" --status archived --json
    """
    state = state_of(context)
    chosen = filters(
        path=path,
        memory_type=memory_type,
        bucket=bucket,
        scope=scope,
        status=status,
        source=source,
        agent=agent,
        since=since,
        until=until,
        time=time,
    )
    query = ListQuery(
        spaces=tuple(space or ()),
        filters=chosen,
        limit=limit,
        offset=offset,
        order_by=TimeAxis(chosen.window.axis),
        order=TimeOrder.ASCENDING if oldest_first else TimeOrder.DESCENDING,
    )
    with session(state) as (verbs, me):
        page = verbs.list_memories(me, query)
        names = space_names(verbs, me)

    def show_page(console: Console) -> None:
        if page.memories:
            cards.show_memories(console, page.memories, names)
        shown = f"{offset + 1} to {offset + len(page.memories)} of {page.total}" if page.memories else "none"
        state.say(f"{shown}{'; --offset ' + str(page.next_offset) + ' goes on' if page.next_offset else ''}")

    state.emit(lambda: documents.plain(page), show_page)
    if not page.memories:
        raise typer.Exit(ExitCode.NO_MATCH)


def stats(context: typer.Context, space: SpacesOption = None, json: JsonOption = False) -> None:
    """Count what is stored, by space, type and path.

    [bold]Examples[/bold]
      memvouch stats --space work
    """
    state = state_of(context)
    with session(state) as (verbs, me):
        found = verbs.stats(me, tuple(space or ()))
    state.emit(lambda: {"spaces": documents.plain(found)}, lambda console: _show_stats(console, found))


def _show_stats(console: Console, found: Sequence[SpaceStats]) -> None:
    for each in found:
        console.print(Text(cards.visible(each.name), style="bold"), Text(each.space_id, style="dim"))
        rows = [
            ("records", f"{each.records:,}"),
            ("text", f"{each.content_bytes:,} bytes"),
            ("created", _span(each.oldest, each.newest)),
        ]
        for heading, counts in (("types", each.by_type), ("buckets", each.by_bucket), ("paths", each.by_path)):
            for number, (name, count) in enumerate(counts.items()):
                rows.append(("" if number else heading, f"{count:>7,}  {name}"))
        cards.print_facts(console, rows, margin=3)


def _span(oldest: datetime | None, newest: datetime | None) -> str:
    return f"{cards.when(oldest)} to {cards.when(newest)}" if oldest else "-"
