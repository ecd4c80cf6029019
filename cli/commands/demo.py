"""`demo`: a small conversation, four questions, and what the engine really answers.

Nothing is staged: the conversation goes through the same import as anybody's file, the questions
through the same search, with default settings. Each question is printed with what is expected of
it, so that a miss is seen as one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from cli import cards, documents
from cli.console import ExitCode, State, state_of
from cli.import_run import Importer, open_journal
from cli.options import JsonOption
from cli.session import Verbs, session
from engine.domain.access import Principal
from engine.domain.outcome import Label, Matches, NoMatch, NoMatchReason, Outcome
from engine.domain.query import Mode, Query
from engine.upkeep.portable import ImportDefaults, read_lines

CONVERSATION = "demo_conversation.jsonl"


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the demo. `answer` is a text that the first hit has to hold; `None`: no match."""

    text: str
    mode: Mode
    about: str
    answer: str | None = None
    reason: NoMatchReason | None = None

    def met(self, outcome: Outcome) -> bool:
        """Whether the outcome is what an honest memory would say."""
        match outcome:
            case Matches(hits=hits) if self.mode is Mode.FORGIVING:
                return all(hit.label is Label.WEAK for hit in hits)
            case Matches(hits=hits):
                return self.answer is not None and self.answer in hits[0].memory.content
            case NoMatch(reason=reason):
                return self.answer is None and self.mode is Mode.STRICT and reason is self.reason


QUESTIONS = (
    Question(
        text="How long is an offline ticket valid without reception?",
        mode=Mode.STRICT,
        about="It was told. The turn that says so has to come back.",
        answer="valid for 48 hours",
    ),
    Question(
        text="What was the cause of HRN-428?",
        mode=Mode.STRICT,
        about="HRN-482 is stored, HRN-428 is not. Two digits swapped is another ticket.",
        reason=NoMatchReason.IDENTIFIER_ABSENT,
    ),
    Question(
        text="Which hotel did the team book in Gdansk?",
        mode=Mode.STRICT,
        about="The trip to Gdansk is stored, a hotel was never mentioned.",
        reason=NoMatchReason.BELOW_THRESHOLD,
    ),
    Question(
        text="Which hotel did the team book in Gdansk?",
        mode=Mode.FORGIVING,
        about="The same question to recall: the nearest memories, none dressed up as the answer.",
    ),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its outcome and how long it took."""

    question: Question
    outcome: Outcome
    milliseconds: float


def demo(context: typer.Context, json: JsonOption = False) -> None:
    """See it work: import a small conversation, ask four questions, offline, in seconds.

    It runs in a temporary folder, or in --data-dir if that is given, where you can go on asking.
    Exit code 1 if an outcome is not the expected one.

    [bold]Examples[/bold]
      memvouch demo
      memvouch --data-dir ./heron demo && memvouch --data-dir ./heron search "who decides about prices?"
    """
    state = state_of(context)
    with _folder(state) as place, session(place) as (verbs, me):
        began = perf_counter()
        turns = _import(verbs, me, place)
        seconds = perf_counter() - began
        if not state.json:
            _show_import(state.out, turns, seconds)
        asked = []
        for number, question in enumerate(QUESTIONS, start=1):
            asked.append(_ask(verbs, me, question))
            if not state.json:
                _show_asked(state.out, number, asked[-1])
    met = all(each.question.met(each.outcome) for each in asked)
    state.emit(lambda: _document(asked, turns, seconds), lambda console: _show_end(console, met=met))
    if not met:
        raise typer.Exit(ExitCode.NO_MATCH)


@contextmanager
def _folder(state: State) -> Iterator[State]:
    """The state to run in: the named data folder, or a temporary one that is removed afterwards."""
    if state.data_dir is not None:
        yield state
        return
    with tempfile.TemporaryDirectory(prefix="memvouch-demo-") as folder:
        yield replace(state, data_dir=Path(folder), in_process=True)


def _import(verbs: Verbs, me: Principal, place: State) -> int:
    """The number of turns that are stored, by this run or an earlier one in the same folder."""
    if place.data_dir is None:
        raise TypeError("the demo needs a folder")
    importer = Importer(verbs, me, space=None, now=datetime.now(UTC))
    lines = BytesIO(files("cli").joinpath(CONVERSATION).read_bytes())
    with open_journal(place.data_dir, CONVERSATION, CONVERSATION) as journal:
        importer.run(CONVERSATION, read_lines(lines, ImportDefaults(), name="heron"), journal, lambda _: None)
    return importer.tally.stored


def _ask(verbs: Verbs, me: Principal, question: Question) -> Asked:
    limit = 1 if question.mode is Mode.STRICT else 3
    began = perf_counter()
    outcome = verbs.search(me, Query(text=question.text, mode=question.mode, limit=limit))
    return Asked(question, outcome, (perf_counter() - began) * 1000)


def _show_import(console: Console, turns: int, seconds: float) -> None:
    console.print()
    console.print(Text("Memvouch demo", style="bold"))
    console.print(f"A conversation of {turns} turns about a ferry app, imported in {seconds:.1f} s.")
    console.print("Strict search answers only what it can vouch for; recall gives its best effort, labelled.")


def _show_asked(console: Console, number: int, asked: Asked) -> None:
    strict = asked.question.mode is Mode.STRICT
    command = f'memvouch {"search" if strict else "recall"} "{asked.question.text}"'
    console.print()
    console.print(Text(f"Question {number}  ", style="bold").append(command, style="bold cyan"))
    console.print(Text(asked.question.about, style="italic dim"))
    cards.show_outcome(console, asked.outcome, asked.question.text, {}, strict=strict, ids=False)
    verdict = "as expected" if asked.question.met(asked.outcome) else "NOT as expected"
    style = "green" if asked.question.met(asked.outcome) else "bold red"
    console.print(Text(f"{verdict}, {asked.milliseconds:.0f} ms", style=style))


def _show_end(console: Console, *, met: bool) -> None:
    console.print()
    if met:
        console.print("Next: memvouch import FILE reads your own conversations and notes; memvouch --help shows more.")
    else:
        console.print(Text("An outcome was not the expected one; please report it.", style="bold red"))


def _document(asked: list[Asked], turns: int, seconds: float) -> dict[str, Any]:
    return {
        "turns": turns,
        "import_seconds": round(seconds, 3),
        "questions": [
            {
                "question": each.question.text,
                "mode": each.question.mode.value,
                "about": each.question.about,
                "as_expected": each.question.met(each.outcome),
                "milliseconds": round(each.milliseconds, 1),
                "outcome": documents.outcome_document(each.outcome),
            }
            for each in asked
        ],
    }
