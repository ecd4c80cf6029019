"""What every command says and how it ends: streams, one JSON document, exit codes.

Answers go to stdout, messages and progress to stderr. With `--json`, stdout carries exactly one JSON
document, also for an error. Errors of the engine's tree become one sentence, a way out and an exit
code; `--debug` shows the traceback instead.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from engine.errors import (
    AccessError,
    Conflict,
    EmbedderMismatch,
    Forbidden,
    InvalidRequest,
    MemvouchError,
    NotFound,
    SetupError,
    Unavailable,
)

_WIDTH_OFF_TERMINAL = 1_000
"""No wrapping in pipes: one paragraph stays one line for the next program."""


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    NO_MATCH = 1
    USAGE = 2
    NOT_FOUND = 3
    ACCESS = 4
    UNAVAILABLE = 5
    SETUP = 6
    INTERNAL = 70
    INTERRUPTED = 130


EXIT_CODE_MEANINGS = {
    ExitCode.DONE: "found, or done",
    ExitCode.NO_MATCH: "no match: nothing stored answers",
    ExitCode.USAGE: "the command or its input cannot be served as given",
    ExitCode.NOT_FOUND: "no such memory or space",
    ExitCode.ACCESS: "not allowed",
    ExitCode.UNAVAILABLE: "store, index or embedder do not answer; trying again may help",
    ExitCode.SETUP: "a person has to act: folder in use, index of another embedder, damaged data",
    ExitCode.INTERNAL: "a defect of Memvouch; --debug shows the traceback",
    ExitCode.INTERRUPTED: "stopped with Ctrl-C",
}

_ERRORS: tuple[tuple[type[MemvouchError], ExitCode, str], ...] = (
    (InvalidRequest, ExitCode.USAGE, "invalid"),
    (Conflict, ExitCode.USAGE, "conflict"),
    (NotFound, ExitCode.NOT_FOUND, "not_found"),
    (AccessError, ExitCode.ACCESS, "access"),
    (Unavailable, ExitCode.UNAVAILABLE, "unavailable"),
    (SetupError, ExitCode.SETUP, "setup"),
)

_WAYS_OUT: tuple[tuple[type[MemvouchError], str], ...] = (
    (Forbidden, "use a token with that right"),
    (NotFound, "`memvouch list` shows what is stored, `memvouch spaces` the spaces"),
    (EmbedderMismatch, "`memvouch reindex` builds it anew from the memories"),
    (Unavailable, "`memvouch doctor` tells which part it is"),
)


@dataclass(slots=True)
class State:
    """What the global options said, and where output goes. One for each run of the command."""

    data_dir: Path | None = None
    in_process: bool = False
    debug: bool = False
    json: bool = False
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))

    def emit(self, document: Callable[[], Any], show: Callable[[Console], None]) -> None:
        """The answer: `document` as JSON if that was asked for, else `show` for a person."""
        if self.json:
            write_json(document())
        else:
            show(self.out)

    def say(self, message: str) -> None:
        """A message beside the answer, on stderr."""
        self.err.print(message, markup=False, highlight=False)


def state_of(context: typer.Context) -> State:
    """The state of this run; commands get it from their context."""
    state = context.find_root().obj
    if not isinstance(state, State):
        raise TypeError("the root command has not made the state")
    return state


def write_json(document: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OFF_TERMINAL
    return console


class GuardedGroup(TyperGroup):
    """A command group that ends errors of the engine and of files with an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except MemvouchError as error:
            self._end(ctx, error, *classify(error))
        except KeyboardInterrupt:
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            self._end(ctx, error, ExitCode.SETUP, "file")

    @staticmethod
    def _end(ctx: typer.Context, error: Exception, code: ExitCode, kind: str) -> None:
        state = state_of(ctx)
        if state.debug:
            state.err.print_exception()
        report(state, error, code, kind)
        raise typer.Exit(code) from error


def classify(error: MemvouchError) -> tuple[ExitCode, str]:
    """Exit code and kind of an error of the engine's tree."""
    return next(
        ((code, kind) for family, code, kind in _ERRORS if isinstance(error, family)), (ExitCode.INTERNAL, "internal")
    )


def report(state: State, error: Exception, code: ExitCode, kind: str) -> None:
    """Say what went wrong and what to do."""
    message = _sentence(error, kind)
    way_out = next((text for family, text in _WAYS_OUT if isinstance(error, family)), None)
    if kind == "internal":
        way_out = "run it again with --debug and report what it prints"
    if state.json:
        field_name = error.field if isinstance(error, InvalidRequest) else None
        document = {"kind": kind, "message": message, "field": field_name, "way_out": way_out, "exit_code": int(code)}
        write_json({"error": document})
        return
    state.say(f"Error: {message}")
    if way_out and way_out not in message:
        state.say(f"       {way_out}")


def _sentence(error: Exception, kind: str) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    text = str(error).strip() or type(error).__name__
    return f"{type(error).__name__}: {text}" if kind == "internal" else text
