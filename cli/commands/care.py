"""Upkeep: `init`, `doctor`, `reindex`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from cli import cards, documents
from cli.console import ExitCode, state_of
from cli.options import JsonOption
from cli.session import session, settings_of, space_names

if TYPE_CHECKING:
    from engine.upkeep.doctor import Report

_LISTED = 5


def init(context: typer.Context, json: JsonOption = False) -> None:
    """Make the data folder and its first space. Every command does this by itself when needed.

    [bold]Examples[/bold]
      memvouch init
      memvouch --data-dir ./memory init
    """
    state = state_of(context)
    data_dir = settings_of(state).data_dir
    with session(state) as (verbs, me):
        report = verbs.doctor()
        names = space_names(verbs, me)
    space = names.get(me.default_space_id or "", "")
    document: dict[str, Any] = {
        "data_dir": str(data_dir),
        "database": report.database,
        "index": report.index.engine,
        "embedder": report.embedder_id,
        "space": space,
        "space_id": me.default_space_id,
        "records": report.records,
    }

    def show(console: Console) -> None:
        console.print(Text("Ready.", style="bold green"))
        shown = ("data_dir", "database", "index", "embedder", "space", "records")
        cards.print_facts(console, [(name.replace("_", " "), str(document[name])) for name in shown])
        console.print('\nNext:  memvouch remember "..."    memvouch import FILE    memvouch search "..."')

    state.emit(lambda: document, show)


def doctor(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write what the index lacks, drop what it has too much.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Check that the index holds what the store says, and name the parts in use.

    Exit code 0 if truth and index are equal, 6 if not.

    [bold]Examples[/bold]
      memvouch doctor
      memvouch doctor --repair
    """
    state = state_of(context)
    data_dir = settings_of(state).data_dir
    with session(state) as (verbs, _):
        report = verbs.doctor(repair=repair)
    document = {"equal": report.equal, "data_dir": str(data_dir), **documents.plain(report)}
    state.emit(lambda: document, lambda console: _show_report(console, report, str(data_dir)))
    if not report.equal:
        raise typer.Exit(ExitCode.SETUP)


def reindex(context: typer.Context, json: JsonOption = False) -> None:
    """Build the index anew from the store, e.g. after MEMVOUCH_EMBEDDER has changed.

    Stopped or killed, run it again: it goes on where it was.

    [bold]Examples[/bold]
      MEMVOUCH_EMBEDDER=fastembed:BAAI/bge-small-en-v1.5 memvouch reindex
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    state = state_of(context)
    columns = (TextColumn("reindex"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        session(state, for_reindex=True) as (verbs, _),
        Progress(*columns, console=state.err, transient=True, disable=not state.err.is_terminal) as bar,
    ):
        task = bar.add_task("reindex", total=None)
        written = verbs.reindex(lambda done, total: bar.update(task, completed=done, total=total))
    state.emit(lambda: {"written": written}, lambda console: console.print(f"indexed {written:,} memories"))


def _show_report(console: Console, report: Report, data_dir: str) -> None:
    if report.equal:
        console.print(Text("Truth and index are equal.", style="bold green"))
    else:
        console.print(Text("Truth and index differ.", style="bold red"))
    rows = [("memories", f"{report.records:,} in the store, {report.indexed:,} in the index")]
    for name, ids in (("missing", report.missing), ("orphaned", report.orphaned)):
        if ids:
            rows.append((name, f"{len(ids):,}: {', '.join(ids[:_LISTED])}{' ...' if len(ids) > _LISTED else ''}"))
    if report.repaired:
        rows.append(("repaired", f"{report.repaired:,}"))
    rows += [
        ("pending", f"{report.pending:,} changes wait for the index"),
        ("data folder", data_dir),
        ("database", report.database),
        ("index", f"{report.index.engine}, {report.index.points:,} points, {report.index.path}"),
        ("embedder", report.embedder_id),
        ("text analysis", report.analysis_version),
        ("pair scorer", report.pair_scorer or "none"),
        ("calibration", report.calibration),
    ]
    cards.print_facts(console, rows)
    if not report.equal:
        console.print("memvouch doctor --repair makes them equal; memvouch reindex builds the index anew.")
