"""Whole files: `import` and `export`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any, BinaryIO

import typer
from rich.console import Console
from rich.text import Text

from cli import cards, documents
from cli.console import ExitCode, State, state_of
from cli.import_run import Importer, Left, Tally, left_for_expiry, open_journal
from cli.options import JsonOption, SpaceOption, SpacesOption
from cli.session import Verbs, session, settings_of
from engine.domain.access import Principal
from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.domain.query import Filters, ListQuery, TimeAxis, TimeOrder, TimeWindow
from engine.upkeep.portable import (
    ImportDefaults,
    Item,
    LineForm,
    Skipped,
    export_line,
    markdown_files,
    read_lines,
    read_markdown,
)

_LISTED = 10
_PAGE = 2_000
_MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd"})
STDIN = Path("-")


class Format(StrEnum):
    """How to read a source."""

    AUTO = "auto"
    JSONL = "jsonl"
    CONVERSATION = "conversation"
    MARKDOWN = "markdown"


_LINE_FORMS = {
    Format.AUTO: LineForm.AUTO,
    Format.JSONL: LineForm.RECORDS,
    Format.CONVERSATION: LineForm.CONVERSATION,
}


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to import. `total_bytes` is `None` for a stream."""

    label: str
    full_name: str
    total_bytes: int | None
    others: int
    items: Callable[[], Iterator[Item]]


def import_memories(
    context: typer.Context,
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE...", help="JSON Lines or Markdown files, folders; - for stdin."),
    ],
    form: Annotated[
        Format, typer.Option("--format", "-f", help="How to read them. auto: by name and by each line's members.")
    ] = Format.AUTO,
    space: SpaceOption = None,
    path: Annotated[str | None, typer.Option("--path", "-p", help="Path for what names none.")] = None,
    memory_type: Annotated[MemoryType | None, typer.Option("--type", "-t", help="Type for what names none.")] = None,
    bucket: Annotated[str | None, typer.Option(help="Bucket for what names none.")] = None,
    scope: Annotated[str | None, typer.Option(help="Scope for what names none.")] = None,
    source_name: Annotated[str | None, typer.Option("--source", help="Source for what names none.")] = None,
    dedupe: Annotated[bool, typer.Option("--dedupe", help="Merge what says the same as a stored memory.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Do not skip what an earlier import of the same source stored.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read everything, store nothing.")] = False,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="Progress bar. Default: on a terminal.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Import files: JSON Lines, conversations, Markdown folders.

    Stopped or killed, run it again: it goes on where it was. What is left out is listed with its line
    and the reason; the exit code is 0 unless nothing at all could be stored.

    [bold]Examples[/bold]
      memvouch import chat.jsonl
      memvouch import notes/ --space work --path wiki
      cat turns.jsonl | memvouch import - --format conversation --path chats/today
      memvouch import backup.jsonl --dry-run
    """
    state = state_of(context)
    defaults = ImportDefaults(
        path=path, bucket=bucket, scope=scope, source=source_name, memory_type=memory_type, dedupe=dedupe
    )
    found = [_source(each, form, defaults) for each in sources]
    if dry_run:
        _show_tally(state, _read_only(found), found, dry_run=True)
        return
    tally = _run(state, found, space, again=again, progress=state.err.is_terminal if progress is None else progress)
    _show_tally(state, tally, found, dry_run=False)
    if tally.failed:
        raise typer.Exit(ExitCode.USAGE)


def export_memories(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="File to write; - for stdout.")] = STDIN,
    space: SpacesOption = None,
    active_only: Annotated[bool, typer.Option("--active-only", help="Leave out archived memories.")] = False,
    json: JsonOption = False,
) -> None:
    """Export memories to JSON Lines that import reads back, with all fields.

    Forgotten and expired memories are not in it. --json prints a summary and needs a FILE.

    [bold]Examples[/bold]
      memvouch export backup.jsonl
      memvouch export - --space work | gzip > work.jsonl.gz
    """
    state = state_of(context)
    if state.json and target == STDIN:
        raise typer.BadParameter("the export itself goes to stdout; name a FILE to get a summary", param_hint="--json")
    statuses = frozenset({Status.ACTIVE} if active_only else {Status.ACTIVE, Status.ARCHIVED})
    with session(state) as (verbs, me):
        chosen = [verbs.space(me, ref) for ref in space] if space else verbs.spaces(me)
        with _written_whole(target) as file:
            counts = {
                each.space.name: _export_space(verbs, me, each.space.id, each.space.name, statuses, file)
                for each in chosen
            }
    total = sum(counts.values())
    if state.json:
        state.emit(lambda: {"file": str(target), "exported": total, "spaces": counts}, lambda _: None)
    else:
        state.say(f"exported {total:,} memories of {len(counts)} space(s)")


def _source(path: Path, form: Format, defaults: ImportDefaults) -> Source:
    """What a path names. Raises `typer.BadParameter` if it is nothing that can be read."""
    if path == STDIN:
        if form is Format.MARKDOWN:
            raise typer.BadParameter("Markdown is read from files and folders, not from stdin", param_hint="--format")
        lines = _line_items(lambda: sys.stdin.buffer, "stdin", form, defaults)
        return Source("stdin", "stdin", None, 0, lines)
    if not path.exists():
        raise typer.BadParameter(f"{path} does not exist", param_hint="SOURCE")
    if form is Format.MARKDOWN or (form is Format.AUTO and (path.is_dir() or path.suffix.casefold() in _MARKDOWN)):
        files = markdown_files(path)
        return Source(
            str(path), str(path.resolve()), files.total_bytes, files.others, partial(read_markdown, files, defaults)
        )
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; only Markdown is read from folders", param_hint="--format")
    lines = _line_items(lambda: path.open("rb"), path.stem, form, defaults)
    return Source(str(path), str(path.resolve()), path.stat().st_size, 0, lines)


def _line_items(
    opened: Callable[[], BinaryIO], name: str, form: Format, defaults: ImportDefaults
) -> Callable[[], Iterator[Item]]:
    def items() -> Iterator[Item]:
        with opened() as stream:
            yield from read_lines(stream, defaults, name=name, form=_LINE_FORMS[form])

    return items


def _read_only(sources: list[Source]) -> Tally:
    """What an import would do, as far as the sources alone can tell."""
    tally = Tally()
    now = datetime.now(UTC)
    for source in sources:
        for item in source.items():
            if isinstance(item, Skipped):
                tally.skipped.append(Left(source.label, item.position, item.reason.value, item.detail))
            elif (lapsed := left_for_expiry(source.label, item, now)) is not None:
                tally.skipped.append(lapsed)
            else:
                tally.created += 1
                tally.notes.extend(Left(source.label, item.position, "kept", note) for note in item.notes)
    return tally


def _run(state: State, sources: list[Source], space: str | None, *, again: bool, progress: bool) -> Tally:
    data_dir = settings_of(state).data_dir
    with session(state) as (verbs, me):
        importer = Importer(verbs, me, space=space, now=datetime.now(UTC))
        try:
            for source in sources:
                with (
                    open_journal(data_dir, source.full_name, source.label, again=again) as journal,
                    _bar(state, source, importer.tally, shown=progress) as advance,
                ):
                    importer.run(source.label, source.items(), journal, advance)
        except BaseException:
            state.say(f"stopped; {importer.tally.stored:,} are stored. The same command goes on from there.")
            raise
    return importer.tally


@contextmanager
def _bar(state: State, source: Source, tally: Tally, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """A bar over the source's bytes with the rate in memories; silent unless `shown`."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[stored]:,} stored, {task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    before = tally.stored
    with Progress(*columns, console=state.err, transient=True, disable=not shown) as bar:
        task = bar.add_task(cards.visible(source.label), total=source.total_bytes, stored=0, rate="")

        def advance(offset: int) -> None:
            stored = tally.stored - before
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{stored / elapsed:,.0f}/s" if elapsed > 0 else ""
            bar.update(task, completed=offset, stored=stored, rate=rate)

        yield advance


def _show_tally(state: State, tally: Tally, sources: list[Source], *, dry_run: bool) -> None:
    others = sum(source.others for source in sources)
    document: dict[str, Any] = {
        "dry_run": dry_run,
        "sources": [source.label for source in sources],
        "created": tally.created,
        "updated": tally.updated,
        "unchanged": tally.unchanged,
        "already_imported": tally.known,
        "skipped": documents.plain(tally.skipped),
        "notes": documents.plain(tally.notes),
        "new_spaces": tally.new_spaces,
        "other_files": others,
    }
    state.emit(lambda: document, lambda console: _show_counts(console, tally, dry_run=dry_run))
    if state.json:
        return
    for name in tally.new_spaces:
        state.say(f"made the space {cards.visible(name)}")
    if others:
        state.say(f"{others} file(s) that are not Markdown were left alone")
    reasons = Counter(each.reason for each in tally.skipped).most_common()
    _show_left(state, tally.skipped, "skipped: " + ", ".join(f"{count:,} {reason}" for reason, count in reasons))
    _show_left(state, tally.notes, f"kept in another form: {len(tally.notes):,}")


def _show_counts(console: Console, tally: Tally, *, dry_run: bool) -> None:
    if dry_run:
        console.print(f"would store {tally.created:,}, skip {len(tally.skipped):,} (nothing was stored)")
        return
    rows = (
        (tally.created, "new"),
        (tally.updated, "updated to a new version"),
        (tally.unchanged, "already stored"),
        (tally.known, "already imported by an earlier run"),
        (len(tally.skipped), "skipped"),
    )
    for count, what in rows:
        if count or what == "new":
            console.print(Text(f"{count:>9,}", style="bold").append(f"  {what}", style="not bold"))


def _show_left(state: State, left: list[Left], heading: str) -> None:
    if not left:
        return
    state.say(heading)
    for each in left[:_LISTED]:
        state.say(cards.visible(f"  {each.source}, {each.position}: {each.detail}"))
    if len(left) > _LISTED:
        state.say(f"  ... and {len(left) - _LISTED:,} more; --json lists all")


def _export_space(
    verbs: Verbs, me: Principal, space_id: str, name: str, statuses: frozenset[Status], file: IO[str]
) -> int:
    count = 0
    for memory in _all_memories(verbs, me, space_id, statuses):
        file.write(export_line(memory, name))
        count += 1
    return count


def _all_memories(verbs: Verbs, me: Principal, space_id: str, statuses: frozenset[Status]) -> Iterator[Memory]:
    """Every memory of a space, oldest first.

    Pages begin at the time where the last one ended and leave out as many as were already seen at
    that time: an offset from the very start would make a large export slower with every page.
    """
    since: datetime | None = None
    seen_at_since = 0
    while True:
        filters = Filters(
            statuses=statuses, kinds=frozenset(Kind), window=TimeWindow(since=since, axis=TimeAxis.CREATED)
        )
        query = ListQuery(
            spaces=(space_id,),
            filters=filters,
            limit=_PAGE,
            offset=seen_at_since,
            order_by=TimeAxis.CREATED,
            order=TimeOrder.ASCENDING,
        )
        page = verbs.list_memories(me, query)
        for memory in page.memories:
            seen_at_since = seen_at_since + 1 if memory.created_at == since else 1
            since = memory.created_at
            yield memory
        if page.next_offset is None:
            return


@contextmanager
def _written_whole(target: Path) -> Iterator[IO[str]]:
    """A file that takes the target's place only when all is written; stdout for `-`."""
    if target == STDIN:
        yield sys.stdout
        sys.stdout.flush()
        return
    draft = target.with_name(target.name + ".part")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
