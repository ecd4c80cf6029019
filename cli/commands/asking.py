"""Questions: `search` (strict), `recall` (forgiving), `context` (a packed answer for a prompt)."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import cards, documents
from cli.console import ExitCode, State, state_of
from cli.options import (
    AgentFilterOption,
    BucketFilterOption,
    ExplainOption,
    FullOption,
    JsonOption,
    LimitOption,
    PathFilterOption,
    QueryArgument,
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
    WorkingOption,
    filters,
)
from cli.session import session, space_names
from engine.domain.outcome import NoMatch
from engine.domain.query import MATCH_ALL, ContextQuery, Mode, Query


def search(
    context: typer.Context,
    question: QueryArgument,
    limit: LimitOption = 5,
    min_confidence: Annotated[
        float | None,
        typer.Option("--min-confidence", min=0.0, max=1.0, help="Another threshold than the calibrated one."),
    ] = None,
    prefer_working: WorkingOption = False,
    explain: ExplainOption = False,
    full: FullOption = False,
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
    """Answer strictly: what is stored and answers the question, or a plain no-match.

    Exit code 0 with hits, 1 without. The question "*" lists everything under the filters.

    [bold]Examples[/bold]
      memvouch search "when does the release train leave?"
      memvouch search "E1042-XQ7" --path projects/heron --since 30d
      memvouch search "who owns billing?" --explain
      memvouch search "deploy steps" --json | jq -r '.hits[0].memory.content'
    """
    query = Query(
        text=question,
        mode=Mode.STRICT,
        limit=limit,
        spaces=tuple(space or ()),
        filters=filters(
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
        ),
        prefer_working=prefer_working,
        explain=explain,
        min_confidence=min_confidence,
    )
    _answer(state_of(context), query, full=full)


def recall(
    context: typer.Context,
    question: QueryArgument,
    limit: LimitOption = 5,
    prefer_working: WorkingOption = False,
    explain: ExplainOption = False,
    full: FullOption = False,
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
    """Give the best effort: the nearest memories, each labelled strong, likely or weak.

    Exit code 1 only if no memory passes the filters. A weak hit is no answer: use search to know.

    [bold]Examples[/bold]
      memvouch recall "something about the deploy going wrong"
      memvouch recall "budget" --space work --type semantic -n 10
    """
    query = Query(
        text=question,
        mode=Mode.FORGIVING,
        limit=limit,
        spaces=tuple(space or ()),
        filters=filters(
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
        ),
        prefer_working=prefer_working,
        explain=explain,
    )
    _answer(state_of(context), query, full=full)


def pack_context(
    context: typer.Context,
    question: QueryArgument,
    max_items: Annotated[int, typer.Option(min=1, max=1000, help="At most this many memories.")] = 8,
    max_tokens: Annotated[
        int, typer.Option(min=0, max=100_000, help="Budget for all of the text, as the bundled tokenizer counts.")
    ] = 2000,
    prefer_working: WorkingOption = False,
    space: SpacesOption = None,
    path: PathFilterOption = MATCH_ALL,
    memory_type: TypeFilterOption = MATCH_ALL,
    bucket: BucketFilterOption = None,
    scope: ScopeFilterOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    time: TimeChoiceOption = TimeChoice.CREATED,
    json: JsonOption = False,
) -> None:
    """Pack the best memories into a token budget, ready to paste into a prompt.

    The text goes to stdout, what was left out to stderr. Exit code 1 if nothing is in the pack.

    [bold]Examples[/bold]
      memvouch context "what did we decide about caching?" --max-tokens 800
      memvouch context "project heron" --path projects/heron > context.md
    """
    state = state_of(context)
    chosen = filters(
        path=path, memory_type=memory_type, bucket=bucket, scope=scope, since=since, until=until, time=time
    )
    query = Query(text=question, spaces=tuple(space or ()), filters=chosen, prefer_working=prefer_working)
    with session(state) as (verbs, me):
        pack = verbs.recall_context(me, ContextQuery(query=query, max_items=max_items, max_tokens=max_tokens))
    if pack.text and not state.json:
        state.out.print(cards.visible(pack.text), markup=False, soft_wrap=True)
    if state.json:
        state.emit(lambda: documents.pack_document(pack), lambda _: None)
    else:
        cards.show_pack_notes(state.err, pack)
    if not pack.items:
        raise typer.Exit(ExitCode.NO_MATCH)


def _answer(state: State, query: Query, *, full: bool) -> None:
    with session(state) as (verbs, me):
        outcome = verbs.search(me, query)
        names = space_names(verbs, me)
    strict = query.mode is Mode.STRICT
    state.emit(
        lambda: documents.outcome_document(outcome),
        lambda console: cards.show_outcome(console, outcome, query.text, names, strict=strict, full=full),
    )
    if isinstance(outcome, NoMatch):
        raise typer.Exit(ExitCode.NO_MATCH)
