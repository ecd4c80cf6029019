"""Changes: `remember`, `update`, `forget`, `restore`, `state`."""

from __future__ import annotations

import sys
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli import cards, documents
from cli.console import ExitCode, State, state_of
from cli.options import (
    ExpiresOption,
    IdArgument,
    JsonOption,
    MetadataOption,
    SpaceOption,
    YesOption,
    duration,
    moment,
    pairs,
    time_to_live,
)
from cli.session import session, space_names
from engine.domain.memory import (
    DEFAULT_PATH,
    DEFAULT_STATE_KEY,
    ForgetMode,
    Kind,
    Memory,
    MemoryPatch,
    MemoryType,
    NewMemory,
    StateUpdate,
    Status,
    Written,
)
from engine.domain.query import Filters, ListQuery

ContentArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads stdin.")]
TypeOption = Annotated[
    MemoryType | None, typer.Option("--type", "-t", help="Type of memory. Default: the engine decides.")
]
TtlOption = Annotated[str | None, typer.Option("--ttl", metavar="DURATION", help="Gone after this time: 30m, 2h, 7d.")]
EventTimeOption = Annotated[
    datetime | None, typer.Option("--when", parser=moment, metavar="TIME", help="When it happened.")
]


class Forgetting(StrEnum):
    """How `forget` forgets."""

    SOFT = "soft"
    HARD = "hard"
    REDACT = "redact"


class PatchStatus(StrEnum):
    """Statuses that `update` may set."""

    ACTIVE = "active"
    ARCHIVED = "archived"


_MODES = {
    Forgetting.SOFT: ForgetMode.SOFT,
    Forgetting.HARD: ForgetMode.HARD,
    Forgetting.REDACT: ForgetMode.REDACT,
}


def remember(
    context: typer.Context,
    text: ContentArgument,
    path: Annotated[str, typer.Option("--path", "-p", help="Where it belongs, like a folder.")] = DEFAULT_PATH,
    memory_type: TypeOption = None,
    space: SpaceOption = None,
    bucket: Annotated[str, typer.Option(help="Bucket.")] = "work",
    scope: Annotated[str | None, typer.Option(help="Scope.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    semantic_key: Annotated[
        str | None, typer.Option("--key", help="Name of the concept; a second text under it is its next version.")
    ] = None,
    importance: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="How much it matters, 0 to 1.")] = None,
    event_time: EventTimeOption = None,
    expires: ExpiresOption = None,
    ttl: TtlOption = None,
    meta: MetadataOption = None,
    dedupe: Annotated[bool, typer.Option("--dedupe", help="Do not store what is already there.")] = False,
    idempotency_key: Annotated[
        str | None, typer.Option("--idempotency-key", help="The same key again gives the first answer again.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Store one memory. It can be found as soon as the command ends.

    [bold]Examples[/bold]
      memvouch remember "The release train leaves on Tuesdays at 14:00." --path team/release
      memvouch remember "On call this week: Ilse." --key oncall --ttl 7d
      git log -1 | memvouch remember - --path repo/commits --source git
    """
    state = state_of(context)
    if ttl is not None and expires is not None:
        raise typer.BadParameter("give --ttl or --expires, not both", param_hint="--ttl")
    new = NewMemory(
        content=_text(text),
        path=path,
        space=space,
        memory_type=memory_type,
        bucket=bucket,
        scope=scope,
        source=source,
        semantic_key=semantic_key,
        importance=importance,
        event_time=event_time,
        expires_at=expires if ttl is None else datetime.now(UTC) + duration(ttl),
        dedupe=dedupe,
        metadata=pairs(meta or (), "--meta"),
    )
    with session(state) as (verbs, me):
        written = verbs.remember(me, new, idempotency_key=idempotency_key)
        names = space_names(verbs, me)
    _show_written(state, written, names)


def update(
    context: typer.Context,
    memory_id: IdArgument,
    text: Annotated[str | None, typer.Option("--text", help="New text; - reads stdin.")] = None,
    path: Annotated[str | None, typer.Option("--path", "-p", help="New path.")] = None,
    memory_type: TypeOption = None,
    bucket: Annotated[str | None, typer.Option(help="New bucket.")] = None,
    scope: Annotated[str | None, typer.Option(help="New scope.")] = None,
    status: Annotated[PatchStatus | None, typer.Option(help="Archive it, or bring it back.")] = None,
    semantic_key: Annotated[str | None, typer.Option("--key", help="New semantic key.")] = None,
    importance: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="How much it matters, 0 to 1.")] = None,
    event_time: EventTimeOption = None,
    expires: ExpiresOption = None,
    no_expiry: Annotated[bool, typer.Option("--no-expiry", help="Keep it for good.")] = False,
    meta: MetadataOption = None,
    if_version: Annotated[
        int | None, typer.Option("--if-version", min=1, help="Only if the memory is still at this version.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Change a memory; its former state is kept as a version. Metadata is added to what is there.

    [bold]Examples[/bold]
      memvouch update 01890a5d-ac96-774b-bcce-b302099a8057 --text "The train now leaves on Wednesdays."
      memvouch update 01890a5d-ac96-774b-bcce-b302099a8057 --status archived
    """
    state = state_of(context)
    patch = MemoryPatch(
        content=None if text is None else _text(text),
        path=path,
        bucket=bucket,
        scope=scope,
        memory_type=memory_type,
        status=None if status is None else Status(status.value),
        importance=importance,
        semantic_key=semantic_key,
        event_time=event_time,
        expires_at=expires,
        clear_expiry=no_expiry,
        metadata=pairs(meta, "--meta") if meta else None,
        merge_metadata=True,
        expected_version=if_version,
    )
    unchanged = MemoryPatch(merge_metadata=True, expected_version=if_version)
    if all(getattr(patch, field.name) == getattr(unchanged, field.name) for field in fields(MemoryPatch)):
        raise typer.BadParameter("say what to change, e.g. --text or --path", param_hint="update")
    with session(state) as (verbs, me):
        memory = verbs.update(me, memory_id, patch)
        names = space_names(verbs, me)
    state.emit(
        lambda: {"memory": documents.plain(memory)},
        lambda console: _show_done(console, f"version {memory.version}", memory, names),
    )


def forget(
    context: typer.Context,
    memory_id: IdArgument,
    mode: Annotated[
        Forgetting,
        typer.Option(help="soft: can be restored. hard: nothing is left. redact: the text is replaced for good."),
    ] = Forgetting.SOFT,
    reason: Annotated[str | None, typer.Option(help="Kept in the audit log.")] = None,
    replacement: Annotated[str | None, typer.Option(help="Text that stands in for a redacted one.")] = None,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Forget a memory. From then on no command returns its text.

    [bold]Examples[/bold]
      memvouch forget 01890a5d-ac96-774b-bcce-b302099a8057
      memvouch forget 01890a5d-ac96-774b-bcce-b302099a8057 --mode redact --reason "customer request" --yes
    """
    state = state_of(context)
    if mode is not Forgetting.SOFT and not yes:
        _ask(f"{mode.value} cannot be undone. Go on?")
    with session(state) as (verbs, me):
        left = verbs.forget(me, memory_id, _MODES[mode], reason=reason, replacement=replacement)
    document = {"id": memory_id, "mode": mode.value, "memory": documents.plain(left)}
    undo = f"; memvouch restore {memory_id} brings it back" if mode is Forgetting.SOFT else ""
    state.emit(lambda: document, lambda console: console.print(f"Forgotten ({mode.value}){undo}.", markup=False))


def restore(context: typer.Context, memory_id: IdArgument, json: JsonOption = False) -> None:
    """Bring back a memory that was forgotten softly.

    [bold]Examples[/bold]
      memvouch restore 01890a5d-ac96-774b-bcce-b302099a8057
    """
    state = state_of(context)
    with session(state) as (verbs, me):
        memory = verbs.restore(me, memory_id)
        names = space_names(verbs, me)
    state.emit(
        lambda: {"memory": documents.plain(memory)},
        lambda console: _show_done(console, "restored", memory, names),
    )


def working_state(
    context: typer.Context,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="What is going on now; - reads stdin.")] = None,
    key: Annotated[str, typer.Option("--key", help="Name of the slot.")] = DEFAULT_STATE_KEY,
    task: Annotated[str | None, typer.Option("--task", help="The current task.")] = None,
    next_action: Annotated[str | None, typer.Option("--next", help="The next action.")] = None,
    blocked: Annotated[str | None, typer.Option("--blocked", help="What blocks it.")] = None,
    ttl: TtlOption = None,
    space: SpaceOption = None,
    bucket: Annotated[str, typer.Option(help="Bucket.")] = "work",
    scope: Annotated[str | None, typer.Option(help="Scope.")] = None,
    meta: MetadataOption = None,
    json: JsonOption = False,
) -> None:
    """Write the working state of a task, or show what is there if nothing is given.

    A slot holds one state; each write replaces it and starts its time to live anew.

    [bold]Examples[/bold]
      memvouch state "Moving billing to the new queue" --next "drain the old one" --ttl 8h
      memvouch state
    """
    state = state_of(context)
    if text is None and task is None and next_action is None and blocked is None:
        _show_states(state, space, bucket, scope)
        return
    update = StateUpdate(
        state_key=key,
        content=None if text is None else _text(text),
        current_task=task,
        next_action=next_action,
        blocked_reason=blocked,
        ttl_seconds=None if ttl is None else time_to_live(ttl),
        space=space,
        bucket=bucket,
        scope=scope,
        metadata=pairs(meta or (), "--meta"),
    )
    with session(state) as (verbs, me):
        written = verbs.update_state(me, update)
        names = space_names(verbs, me)
    _show_written(state, written, names)


def _show_states(state: State, space: str | None, bucket: str, scope: str | None) -> None:
    query = ListQuery(
        spaces=(space,) if space else (),
        filters=Filters(kinds=frozenset({Kind.STATE}), bucket=bucket, scope=scope),
    )
    with session(state) as (verbs, me):
        page = verbs.list_memories(me, query)
        names = space_names(verbs, me)

    def show_all(console: Console) -> None:
        for memory in page.memories:
            head = Text(f"{cards.visible(memory.state_key or '')}", style="bold")
            head.append(f"  version {memory.version}, {cards.when(memory.updated_at)}", style="dim")
            if memory.expires_at:
                head.append(f", until {cards.when(memory.expires_at)}", style="dim")
            head.append(f"  {cards.place(memory, names)}", style="dim")
            console.print(head)
            console.print(Text(cards.visible(memory.content)))
        if not page.memories:
            state.say("no working state")

    state.emit(lambda: documents.plain(page), show_all)
    if not page.memories:
        raise typer.Exit(ExitCode.NO_MATCH)


def _show_written(state: State, written: Written, names: cards.SpaceNames) -> None:
    state.emit(
        lambda: documents.plain(written),
        lambda console: _show_done(console, written.status.value, written.memory, names),
    )


def _show_done(console: Console, what: str, memory: Memory, names: cards.SpaceNames) -> None:
    console.print(Text(what, style="green").append(f"  {cards.place(memory, names)}  ", style="default"), end="")
    console.print(Text(memory.id, style="dim"))


def _text(argument: str) -> str:
    """The text of an argument, or all of stdin for `-`."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode("utf-8").rstrip("\n")
    except UnicodeDecodeError:
        raise typer.BadParameter("stdin is not UTF-8", param_hint="-") from None


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("this cannot be undone; say --yes", param_hint="--yes")
    if not typer.confirm(question, err=True):
        raise typer.Abort
