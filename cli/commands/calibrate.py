"""`calibrate`: fit how sure the engine is to the user's own data, and say what that changes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import cards, documents
from cli.console import ExitCode, State, state_of
from cli.options import JsonOption
from cli.session import session
from engine.domain.calibration import OPERATING_POINTS, CalibrationReport, Keep

if TYPE_CHECKING:
    from engine.domain.calibration import LabelledQuestion

_LISTED = 5
_STDIN = Path("-")


def calibrate(
    context: typer.Context,
    labelled: Annotated[
        Path | None,
        typer.Argument(
            metavar="[LABELLED]",
            help='JSON Lines of {"query", "relevant": [memory ids]}; [] means that nothing stored answers.',
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report only; keep the calibration in use.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Keep the fit even if it is no better.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the shipped calibration.")] = False,
    json: JsonOption = False,
) -> None:
    """Fit confidences and thresholds to your own questions, on top of the shipped calibration.

    Exit code 0 if the fit is in use now (or would be), 1 if it is no better and was left aside.

    [bold]Examples[/bold]
      memvouch calibrate labelled.jsonl --dry-run
      memvouch calibrate labelled.jsonl
      memvouch calibrate --reset
    """
    state = state_of(context)
    if reset:
        _reset(state, alone=labelled is None and not dry_run and not force)
        return
    if labelled is None:
        raise typer.BadParameter("name the file of labelled questions, or give --reset")
    if dry_run and force:
        raise typer.BadParameter("--dry-run keeps nothing, --force keeps everything: give one of them")
    keep = Keep.NEVER if dry_run else Keep.ALWAYS if force else Keep.IF_BETTER
    report = _fit(state, _read(labelled), keep)
    state.emit(lambda: documents.plain(report), lambda console: _show(console, report, dry_run=dry_run))
    if not report.better and not report.written:
        raise typer.Exit(ExitCode.NO_MATCH)


def _reset(state: State, *, alone: bool) -> None:
    if not alone:
        raise typer.BadParameter("--reset stands alone")
    with session(state) as (verbs, me):
        existed = verbs.reset_calibration(me)
    said = "The shipped calibration is in use again." if existed else "The shipped calibration was in use already."
    state.emit(lambda: {"reset": existed}, lambda console: console.print(said))


def _fit(state: State, questions: list[LabelledQuestion], keep: Keep) -> CalibrationReport:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("questions"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        session(state) as (verbs, me),
        Progress(*columns, console=state.err, transient=True, disable=not state.err.is_terminal) as bar,
    ):
        task = bar.add_task("questions", total=None)
        return verbs.calibrate(
            me, questions, keep=keep, progress=lambda done, total: bar.update(task, completed=done, total=total)
        )


def _read(path: Path) -> list[LabelledQuestion]:
    """The questions of a file. Raises `InvalidRequest` that lists the lines which are none."""
    from pydantic import TypeAdapter, ValidationError

    from engine.domain.calibration import LabelledQuestion
    from engine.errors import InvalidRequest

    line_form = TypeAdapter(LabelledQuestion)
    try:
        data = sys.stdin.buffer.read() if path == _STDIN else path.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}", field="labelled") from None
    questions, faults = [], []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            questions.append(line_form.validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            faults.append(f"line {number}: {f'{place}: ' if place else ''}{first['msg']}")
    if faults:
        more = f"; and {len(faults) - _LISTED} more" if len(faults) > _LISTED else ""
        raise InvalidRequest(
            f"not every line is a labelled question ({'; '.join(faults[:_LISTED])}{more})", field="labelled"
        )
    return questions


def _show(console: Console, report: CalibrationReport, *, dry_run: bool) -> None:
    if report.written:
        console.print(Text("Your own calibration is in use.", style="bold green"))
    elif report.better:
        console.print(Text("The fit is better; this was a dry run, nothing has changed.", style="bold"))
    else:
        console.print(Text("The fit is no better; nothing has changed.", style="bold yellow"))
    rows = [
        ("why", report.why),
        ("labels", f"{report.answerable} answerable, {report.unanswerable} with nothing stored that answers"),
        ("looked at", f"a relevant memory was looked at in {report.pooled} of {report.answerable}"),
        ("embedder", report.embedder),
        ("pair scorer", report.pair_scorer or "none"),
    ]
    cards.print_facts(console, rows)
    console.print()
    console.print(_table(report))
    for name in report.unresolved:
        console.print(
            f"{name}: {report.unanswerable} unanswerable questions cannot show {OPERATING_POINTS[name]:.0%}; its "
            f"threshold lets none of them through, which only shows less than {_at_most(report.unanswerable):.0%}."
        )
    if not report.better and not report.written and not dry_run:
        console.print("memvouch calibrate --force keeps the fit all the same.")


def _table(report: CalibrationReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("on held-out halves", "shipped", "fitted"):
        table.add_column(heading, justify="left" if heading == "on held-out halves" else "right")
    before, after = report.before, report.after
    rows: list[tuple[str, Any, Any]] = [
        ("AUROC", before.auroc, after.auroc),
        ("calibration error", before.ece, after.ece),
        ("squared error", before.squared_error, after.squared_error),
    ]
    for name, rate in OPERATING_POINTS.items():
        rows += [
            (f"{name}: threshold", report.thresholds_before[name], report.thresholds_after[name]),
            (f"{name}: hit@5", before.hit5[name], after.hit5[name]),
            (f"{name}: false matches (aim {rate:.0%})", before.false_matches[name], after.false_matches[name]),
        ]
    for name, shipped, fitted in rows:
        table.add_row(name, f"{shipped:.3f}", f"{fitted:.3f}")
    return table


def _at_most(questions: int) -> float:
    """Upper end of the 95 % interval of a rate that was never seen in so many questions."""
    return float(1 - 0.05 ** (1 / questions))
