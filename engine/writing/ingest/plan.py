"""From one source to the memories that it becomes.

Each memory's id is the UUIDv5 of the source's id and its ordinal, so that a job that starts again
after a crash finds what it has written. Its provenance tells where in the source it stood.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.domain.memory import NewMemory
from engine.domain.source import ContentType, Mention, Source
from engine.store.catalogue import NATURE
from engine.text.passages import passages
from engine.writing.ingest.conversations import DEFAULT, Segment, Segmentation, segments
from engine.writing.ingest.documents import PART_TOKENS, parts
from engine.writing.ingest.mentions import mentions
from engine.writing.ingest.nature import memory_type_of, nature_of

CONVERSATIONS, SOURCES = "conversations", "sources"


@dataclass(frozen=True, slots=True)
class Planned:
    """A memory to be written and what it names."""

    new: NewMemory
    mentions: tuple[Mention, ...]


def plan(
    source: Source, count_tokens: Callable[[str], int], facts: Sequence[str] = (), by: Segmentation = DEFAULT
) -> list[Planned]:
    """All memories of a source in order; `facts` are texts that an extractor added.

    Raises `InvalidRequest` for content that is not of its type.
    """
    cut = _turns(source, count_tokens, by) if source.messages else _parts(source, count_tokens)
    planned = [_planned(source, ordinal, *piece) for ordinal, piece in enumerate(cut)]
    extracted: Iterator[_Piece] = ((text, text, (), {"extracted": True}) for text in facts)
    return planned + [_planned(source, len(planned) + more, *piece) for more, piece in enumerate(extracted)]


def memory_id(source_id: str, ordinal: int) -> str:
    """The id of a source's memory."""
    return str(uuid.uuid5(uuid.UUID(source_id), str(ordinal)))


_Piece = tuple[str, str, tuple[Mention, ...], Mapping[str, object]]
"""A text, what of it is new rather than context, what that names, and where it stood."""


def _turns(source: Source, count_tokens: Callable[[str], int], by: Segmentation) -> Iterator[_Piece]:
    for segment in segments(source.messages, count_tokens, by):
        position = {"first": segment.turns[0].position, "last": segment.turns[-1].position}
        for text, own in _texts(segment, count_tokens):
            yield text, own, tuple(mentions(own, segment.turns)), position


def _texts(segment: Segment, count_tokens: Callable[[str], int]) -> Iterator[tuple[str, str]]:
    """The segment as it is and what of it is new, or one long turn in passages, each under its speaker."""
    if len(segment.turns) > 1 or segment.context or count_tokens(segment.text) <= PART_TOKENS:
        yield segment.text, segment.own
        return
    (turn,) = segment.turns
    for span in passages(turn.content, count_tokens, PART_TOKENS - 20, overlap_tokens=0):
        text = f"{turn.role}: {turn.content[span.start : span.end].strip()}"
        yield text, text


def _parts(source: Source, count_tokens: Callable[[str], int]) -> Iterator[_Piece]:
    for number, text in enumerate(parts(source.content, source.content_type, count_tokens)):
        yield text, text, tuple(mentions(text)), {"part": number}


def _planned(
    source: Source, ordinal: int, text: str, own: str, named: tuple[Mention, ...], position: Mapping[str, object]
) -> Planned:
    nature = nature_of(own)
    folder = CONVERSATIONS if source.content_type is ContentType.CONVERSATION else SOURCES
    new = NewMemory(
        id=memory_id(source.id, ordinal),
        content=text,
        path=f"{folder}/{source.id}",
        space=source.space_id,
        memory_type=memory_type_of(nature),
        source=str(source.meta.get("source") or folder)[:255],
        source_id=source.id,
        event_time=source.event_time,
        metadata=dict(source.meta),
        provenance={NATURE: nature.value, "ordinal": ordinal, "position": dict(position)},
    )
    return Planned(new, named)
