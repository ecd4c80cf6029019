"""Taking sources in: checked, told apart from what came before, and stored with a job.

No client sends an idempotency key, so repetition is recognised by content. The same text, role and
meta in the same space within `WINDOW` is the same source. A message of a named session is known by
session, role, content and how often it has been said before it: of a session that is sent again
only what is new is taken. A request that brings nothing new answers with the earlier job.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from engine.domain.access import Principal, Scope
from engine.domain.source import (
    Accepted,
    ContentType,
    Job,
    JobStatus,
    Message,
    NewConversation,
    NewSource,
    Source,
    SourceStatus,
)
from engine.store import jobs, sources
from engine.store.columns import digest
from engine.store.database import Database, hold_space
from engine.store.ids import new_id
from engine.writing.ingest.conversations import DEFAULT
from engine.writing.rights import require_scope, writable_spaces

WINDOW = timedelta(minutes=10)


class Intake:
    """Writes sources and jobs; the worker does the rest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take_sources(self, principal: Principal, space: str, new: Sequence[NewSource], now: datetime) -> Accepted:
        """Store sources with one job. Raises `NotFound`, `Forbidden`."""
        require_scope(principal, Scope.WRITE)
        with self._database.writing() as connection:
            space_id = writable_spaces(connection, principal, [space])[0].id
            hold_space(connection, space_id)
            job = _new_job(principal, space_id, now)
            made = [_source_of(each, job, now) for each in new]
            known = sources.find_recent(connection, space_id, [each.fingerprint for each in made], now - WINDOW)
            fresh: dict[str, Source] = {}
            for source in made:
                if source.fingerprint not in known:
                    fresh.setdefault(source.fingerprint, source)
            by_fingerprint = {**known, **fresh}
            ids = [by_fingerprint[each.fingerprint].id for each in made]
            if not fresh:
                return Accepted(by_fingerprint[made[-1].fingerprint].job_id, tuple(ids))
            jobs.add(connection, job)
            sources.add(connection, list(fresh.values()))
        return Accepted(job.id, tuple(ids))

    def take_conversation(self, principal: Principal, space: str, new: NewConversation, now: datetime) -> Accepted:
        """Store what is new of a conversation with a job. Raises `NotFound`, `Forbidden`."""
        require_scope(principal, Scope.WRITE)
        with self._database.writing() as connection:
            space_id = writable_spaces(connection, principal, [space])[0].id
            hold_space(connection, space_id)
            job = _new_job(principal, space_id, now)
            if new.session_id is None:
                return _take_unnamed(connection, job, new, now)
            digests = _digests(principal.user_id, new.session_id, new.messages)
            claimed = sources.claimed(connection, space_id, digests)
            marked = [
                replace(message, fresh=key not in claimed) for message, key in zip(new.messages, digests, strict=True)
            ]
            if not any(message.fresh for message in marked):
                earlier = sources.get(connection, claimed[digests[-1]])
                assert earlier is not None
                return Accepted(earlier.job_id, (earlier.id,))
            kept = _unforgotten(connection, marked, [claimed.get(key) for key in digests])
            source = _conversation(replace(new, messages=kept), job, new.session_id, now)
            jobs.add(connection, job)
            sources.add(connection, [source])
            sources.claim(connection, space_id, source.id, [key for key in digests if key not in claimed])
        return Accepted(job.id, (source.id,))


def _take_unnamed(connection: Connection, job: Job, new: NewConversation, now: datetime) -> Accepted:
    """A conversation without a session: known as a whole, like a source."""
    source = _conversation(new, job, new_id(), now)
    known = sources.find_recent(connection, job.space_id, [source.fingerprint], now - WINDOW)
    if earlier := known.get(source.fingerprint):
        return Accepted(earlier.job_id, (earlier.id,))
    jobs.add(connection, job)
    sources.add(connection, [source])
    return Accepted(job.id, (source.id,))


def _unforgotten(
    connection: Connection, marked: Sequence[Message], brought_by: Sequence[str | None]
) -> tuple[Message, ...]:
    """The new messages with their context, without messages that were forgotten since a source brought them."""
    context = set(_with_context(marked))
    kept = []
    for message, source_id in zip(marked, brought_by, strict=True):
        if message not in context:
            continue
        source = None if source_id is None else sources.get(connection, source_id)
        if message.fresh or (source is not None and any(each.line == message.line for each in source.messages)):
            kept.append(message)
    return tuple(kept)


def _with_context(marked: Sequence[Message]) -> tuple[Message, ...]:
    """The new messages, and those before each that the segments may look back to."""
    fresh = [index for index, message in enumerate(marked) if message.fresh]
    kept = {index - back for index in fresh for back in range(DEFAULT.lookback + 1) if index >= back}
    return tuple(marked[index] for index in sorted(kept))


def _digests(user_id: str, session_id: str, messages: Sequence[Message]) -> list[str]:
    said: Counter[tuple[str, str]] = Counter()
    found = []
    for message in messages:
        words = (message.role, message.content)
        found.append(digest(user_id, session_id, *words, str(said[words])))
        said[words] += 1
    return found


def _conversation(new: NewConversation, job: Job, session_id: str, now: datetime) -> Source:
    fresh = [message for message in new.messages if message.fresh]
    text = "\n".join(message.line for message in fresh)
    date = new.session_date.isoformat() if new.session_date else None
    return Source(
        number=0,
        id=new_id(),
        space_id=job.space_id,
        tenant_id=job.tenant_id,
        user_id=job.user_id,
        job_id=job.id,
        content=text,
        content_type=ContentType.CONVERSATION,
        role=None,
        visibility=new.visibility,
        session_id=session_id,
        event_time=new.session_date,
        messages=new.messages,
        meta={"session_id": session_id, "date": date, **new.meta},
        fingerprint=digest(job.user_id, text, new.session_id, date, _canonical(new.meta)),
        status=SourceStatus.PENDING,
        error=None,
        token_count=0,
        memory_count=0,
        created_at=now,
        updated_at=now,
    )


def _source_of(new: NewSource, job: Job, now: datetime) -> Source:
    meta = {**new.meta, **({"role": new.role} if new.role else {})}
    return Source(
        number=0,
        id=new_id(),
        space_id=job.space_id,
        tenant_id=job.tenant_id,
        user_id=job.user_id,
        job_id=job.id,
        content=new.content,
        content_type=new.content_type,
        role=new.role,
        visibility=new.visibility,
        session_id=None,
        event_time=None,
        messages=(),
        meta=meta,
        fingerprint=digest(job.user_id, new.content, new.content_type, new.role, _canonical(new.meta)),
        status=SourceStatus.PENDING,
        error=None,
        token_count=0,
        memory_count=0,
        created_at=now,
        updated_at=now,
    )


def _new_job(principal: Principal, space_id: str, now: datetime) -> Job:
    return Job(
        id=new_id(),
        space_id=space_id,
        tenant_id=principal.tenant_id,
        user_id=principal.user_id,
        status=JobStatus.PENDING,
        stage=None,
        attempts=0,
        memory_count=0,
        entity_count=0,
        edge_count=0,
        tokens_used=0,
        error=None,
        created_at=now,
        started_at=None,
        completed_at=None,
        updated_at=now,
    )


def _canonical(meta: object) -> str:
    return json.dumps(meta, sort_keys=True, ensure_ascii=False, default=str)
