"""What a record that is forgotten for good leaves elsewhere: in its source, and as context of its neighbours.

A record that was ingested says what its source says. So with it go

- the turns of the conversation, or the part of the text, that it was made of; where that part cannot be
  found again (a fact from an extractor, a JSON leaf, a text that was edited), the source's whole text;
- the whole text and the meta of a source of which no other record is left;
- the copies of its turns that neighbours of the session carry in front as context, and that later
  sources of the session brought along as context.

The digests by which a repeated session or text is known stay, so that sending it again does not bring
the forgotten part back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from engine.domain.memory import Memory
from engine.domain.source import Message, Source, SourceStatus
from engine.embedding.protocol import Embedder
from engine.errors import Conflict
from engine.index.projection import project
from engine.store import memories, sources
from engine.writing.applier import Change, count_and_index

REDACTED = "[redacted]"
_UNDER_WORK = (SourceStatus.PENDING, SourceStatus.PROCESSING)


def erase(connection: Connection, change: Change, embedder: Embedder, gone: Memory, now: datetime) -> None:
    """Take the text of a record out of its source and its neighbours; the record itself is for the caller.

    Has to come before the record's versions are removed. Raises `Conflict` while the source is being
    taken in: its job would write the record anew after a crash.
    """
    source = sources.get(connection, gone.source_id) if gone.source_id else None
    if source is None or source.space_id != gone.space_id:
        return
    if source.status in _UNDER_WORK:
        raise Conflict("the source of that memory is still being taken in; try again when its job has ended")
    turns = _turns(source, gone)
    erase_turns(connection, change, embedder, source, turns, now, gone_id=gone.id)
    siblings = [each for each in sources.memory_ids(connection, source.space_id, source.id) if each != gone.id]
    texts = [gone.content, *(version.content for version in memories.versions(connection, gone.id))]
    left = _without_turns(source, turns) if turns else _without_texts(source, texts)
    if not siblings or left is None:
        left = replace(source, content=REDACTED, messages=(), meta={})
    sources.rewrite(connection, left, now)


def erase_turns(
    connection: Connection,
    change: Change,
    embedder: Embedder,
    source: Source,
    turns: Sequence[Message],
    now: datetime,
    *,
    gone_id: str | None = None,
) -> None:
    """Take copies of a source's turns out of the context of the session's other records and sources."""
    lines = {turn.line for turn in turns if turn.fresh}
    if not lines or source.session_id is None:
        return
    for each in sources.of_session(connection, source.space_id, source.session_id):
        ids = set(sources.memory_ids(connection, each.space_id, each.id)) - {gone_id}
        for memory in memories.get_many(connection, ids).values():
            _drop_context(connection, change, embedder, each, memory, lines, now)
        copies = [message for message in each.messages if not message.fresh and message.line in lines]
        if copies and each.id != source.id:
            sources.rewrite(connection, _without_turns(each, copies), now)


def _drop_context(
    connection: Connection,
    change: Change,
    embedder: Embedder,
    source: Source,
    memory: Memory,
    lines: Collection[str],
    now: datetime,
) -> None:
    own = "\n".join(turn.line for turn in _turns(source, memory))
    context = memory.content.removesuffix(f"\n{own}") if own else memory.content
    new = memory
    if context != memory.content and _say(context.splitlines(), lines):
        new = replace(memory, content=own, updated_at=max(now, memory.updated_at), version=memory.version + 1)
    former = memories.versions(connection, memory.id) if memory.version > 1 else []
    if new is memory and not _say((each.content for each in former), lines):
        return
    memories.redact(connection, memory, new)
    if new is not memory:
        count_and_index(connection, change, memory, new, project([new], embedder)[0])


def _say(texts: Iterable[str], lines: Collection[str]) -> bool:
    return any(line in text for text in texts for line in lines)


def _turns(source: Source, memory: Memory) -> list[Message]:
    """The turns of a conversation that a record was made of; none if its provenance does not tell."""
    position = memory.provenance.get("position")
    if not isinstance(position, dict) or not {"first", "last"} <= position.keys():
        return []
    return [turn for turn in source.messages if position["first"] <= turn.position <= position["last"]]


def _without_turns(source: Source, turns: Collection[Message]) -> Source:
    messages = tuple(replace(each, content=REDACTED) if each in turns else each for each in source.messages)
    return replace(source, messages=messages, content="\n".join(each.line for each in messages if each.fresh))


def _without_texts(source: Source, texts: Iterable[str]) -> Source | None:
    """A text without those parts; `None` if none of them is found in it. A part may have its headings in front."""
    content = source.content
    for text in texts:
        for part in (text, text.partition("\n")[2]):
            if part.strip():
                content = content.replace(part, REDACTED)
    return None if source.messages or content == source.content else replace(source, content=content)
