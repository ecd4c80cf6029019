"""What was said last in a session, from the transcript that Claude Code keeps.

A transcript is a file of JSON lines; those of `type` user and assistant hold a message whose
content is a text or a list of parts. Only the end of the file is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_READ_BYTES = 512 * 1024
_SHOWN_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The last request of the user and the last answer, cut to a length that a state can hold."""

    asked: str | None
    answered: str | None


def last_turn(transcript: Path) -> LastTurn:
    """The last turn; empty if the file is missing or holds none."""
    asked = answered = None
    for kind, text in _messages(transcript):
        if kind == "user":
            asked, answered = text, None
        else:
            answered = text
    return LastTurn(_cut(asked), _cut(answered))


def _messages(transcript: Path) -> Iterator[tuple[str, str]]:
    for line in _last_lines(transcript):
        try:
            entry = json.loads(line)
        except ValueError:
            # The first line may be the end of a longer one.
            continue
        if not isinstance(entry, dict) or entry.get("type") not in ("user", "assistant") or entry.get("isMeta"):
            continue
        message = entry.get("message")
        if isinstance(message, dict) and (text := _text(message.get("content"))):
            yield entry["type"], text


def _last_lines(transcript: Path) -> list[bytes]:
    if not transcript.is_file():
        return []
    with transcript.open("rb") as file:
        file.seek(max(0, transcript.stat().st_size - _READ_BYTES))
        return file.read().splitlines()


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= _SHOWN_CHARACTERS:
        return text
    return text[:_SHOWN_CHARACTERS].rsplit(maxsplit=1)[0] + " …"
