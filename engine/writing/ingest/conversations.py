"""Segments of a conversation: the turns that become one memory.

A segment is a run of up to `size` neighbouring new turns; `lookback` turns before it are repeated
in front, as context. A turn that is long by itself ends the segment, and a segment ends before it
grows past what one vector can say. Turns that were ingested before are context only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.domain.source import Message

SEGMENT_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Segmentation:
    """How many turns a segment has at most, and how many before it are repeated."""

    size: int = 2
    lookback: int = 1


DEFAULT = Segmentation()
"""Of those that `benchmarks/ingest.py` compares, the one that holds most answers in 400 and in 800 tokens."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One memory to be: its own turns and the context before them, in order."""

    turns: tuple[Message, ...]
    context: tuple[Message, ...]

    @property
    def own(self) -> str:
        """The text of its turns without their context."""
        return "\n".join(message.line for message in self.turns)

    @property
    def text(self) -> str:
        """All of it, as it is stored."""
        return "\n".join(message.line for message in (*self.context, *self.turns))


def segments(
    messages: Sequence[Message], count_tokens: Callable[[str], int], by: Segmentation = DEFAULT
) -> Iterator[Segment]:
    """The segments of a conversation in order; every new turn that says anything is in exactly one."""
    size, lookback = by.size, by.lookback
    said = [message for message in messages if message.content.strip()]
    tokens = [count_tokens(message.line) for message in said] if size > 1 or lookback else [0] * len(said)
    start = 0
    while start < len(said):
        if not said[start].fresh:
            start += 1
            continue
        end, used = start + 1, tokens[start]
        while end < len(said) and end - start < size and said[end].fresh and used + tokens[end] <= SEGMENT_TOKENS:
            used += tokens[end]
            end += 1
        first = start
        while first > 0 and start - first < lookback and used + tokens[first - 1] <= SEGMENT_TOKENS:
            first -= 1
            used += tokens[first]
        yield Segment(tuple(said[start:end]), tuple(said[first:start]))
        start = end
