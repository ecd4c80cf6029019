"""Hooks of the Claude Code plugin: `hook session-start` recalls, `hook stop` keeps the working state.

A hook reads one JSON object on stdin. What it cannot do it says on stderr; it never stops a session.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from cli.console import GuardedGroup, State, state_of
from cli.session import session
from cli.turns import last_turn
from engine.domain.memory import StateUpdate
from engine.domain.query import ContextQuery, Mode, Query
from engine.errors import MemvouchError

app = typer.Typer(
    cls=GuardedGroup, help="Hooks of the Claude Code plugin.", no_args_is_help=True, rich_markup_mode="rich"
)

MAX_ITEMS = 8
MAX_TOKENS = 1200
STATE_DAYS = 7
_DAY_SECONDS = 86_400


@app.command("session-start")
def session_start(context: typer.Context) -> None:
    """Recall what is known of the project that a session starts in. Reads the hook's JSON on stdin.

    [bold]Examples[/bold]
      echo '{"cwd": "/src/atlas"}' | memvouch hook session-start
    """
    state, event = state_of(context), _event()
    project = _project(event)
    question = Query(text=f"{project}: current task, decisions, conventions", mode=Mode.FORGIVING, prefer_working=True)
    try:
        with session(state) as (verbs, me):
            pack = verbs.recall_context(me, ContextQuery(query=question, max_items=MAX_ITEMS, max_tokens=MAX_TOKENS))
    except MemvouchError as error:
        _give_up(state, error)
        return
    if pack.text:
        intro = "From memory, about this project or near it; verify before you rely on it:"
        told = {"hookEventName": "SessionStart", "additionalContext": f"{intro}\n\n{pack.text}"}
        sys.stdout.write(json.dumps({"hookSpecificOutput": told}) + "\n")


@app.command("stop")
def stop(context: typer.Context) -> None:
    """Keep what the session is doing as its working state. Reads the hook's JSON on stdin.

    [bold]Examples[/bold]
      echo '{"cwd": "/src/atlas", "transcript_path": "session.jsonl"}' | memvouch hook stop
    """
    state, event = state_of(context), _event()
    turn = last_turn(Path(str(event.get("transcript_path", ""))))
    if turn.asked is None:
        return
    update = StateUpdate(
        current_task=turn.asked,
        content=f"Last answer: {turn.answered}" if turn.answered else None,
        ttl_seconds=STATE_DAYS * _DAY_SECONDS,
        scope=f"claude-code/{_project(event)}",
        source="claude-code",
        metadata={"session_id": str(event.get("session_id", "")), "cwd": str(event.get("cwd", ""))},
    )
    try:
        with session(state) as (verbs, me):
            verbs.update_state(me, update)
    except MemvouchError as error:
        _give_up(state, error)


def _event() -> Mapping[str, Any]:
    try:
        event = json.load(sys.stdin)
    except ValueError:
        event = None
    return event if isinstance(event, dict) else {}


def _project(event: Mapping[str, Any]) -> str:
    folder = event.get("cwd")
    return Path(folder if isinstance(folder, str) and folder else Path.cwd()).name or "project"


def _give_up(state: State, error: MemvouchError) -> None:
    state.say(f"memvouch: {error}")
