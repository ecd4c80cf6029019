"""What a surface can ask of ingest: take sources in, look at them and their jobs, delete them.

Everything is asked for a caller: a source, job or entity outside of the spaces that the caller may
read is `NotFound`, exactly like one that does not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection

from engine.domain.access import Principal, Scope
from engine.domain.memory import Memory
from engine.domain.source import (
    Accepted,
    Entity,
    JobReport,
    Nature,
    NewConversation,
    NewSource,
    Source,
)
from engine.embedding.protocol import Embedder
from engine.errors import Forbidden, NotFound
from engine.store import access, audit, catalogue, entities, jobs, memories, sources
from engine.store.database import Database
from engine.writing.applier import Applier, count_out, counted
from engine.writing.ingest.extraction import Extractor
from engine.writing.ingest.intake import Intake
from engine.writing.ingest.worker import Worker
from engine.writing.remember import Rememberer
from engine.writing.rights import require_scope
from engine.writing.traces import erase_turns


class Ingest:
    """The ingest room of an open engine. Jobs are worked on between `start` and `close`."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        applier: Applier,
        rememberer: Rememberer,
        extractor: Extractor | None = None,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._applier = applier
        self._intake = Intake(database)
        self._extractor = extractor
        self.worker = Worker(database, embedder, rememberer, extractor)

    def start(self, threads: int = 2) -> None:
        """Work on jobs in threads until `close`."""
        self.worker.start(threads)

    def close(self) -> None:
        """Stop working; what waits is kept for the next start."""
        self.worker.close()
        if self._extractor is not None:
            self._extractor.close()

    # Taking in

    def take_sources(self, principal: Principal, space: str, new: Sequence[NewSource]) -> Accepted:
        """Store sources; a job makes memories of them. Raises `NotFound`, `Forbidden`."""
        accepted = self._intake.take_sources(principal, space, new, _now())
        self.worker.wake()
        return accepted

    def take_conversation(self, principal: Principal, space: str, new: NewConversation) -> Accepted:
        """Store what is new of a conversation; a job makes memories of it."""
        accepted = self._intake.take_conversation(principal, space, new, _now())
        self.worker.wake()
        return accepted

    # Looking

    def job(self, principal: Principal, job_id: str) -> JobReport:
        """A job with its sources: only for the user who sent them."""
        with self._database.reading() as connection:
            job = jobs.get(connection, job_id)
            spaces = self._readable(connection, principal, None)
            if job is None or job.space_id not in spaces or job.user_id != principal.user_id:
                raise NotFound(f"Job {job_id} not found")
            return JobReport(job, tuple(sources.of_job(connection, job.id)))

    def sources(
        self,
        principal: Principal,
        space: str | None,
        *,
        content_type: str | None = None,
        status: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[list[Source], int]:
        """A page of the sources of a space, or of all, newest first; and how many in all."""
        with self._database.reading() as connection:
            spaces = self._readable(connection, principal, space)
            return sources.page(
                connection, spaces, content_type=content_type, status=status, limit=limit, offset=offset
            )

    def source(self, principal: Principal, source_id: str, space: str | None = None) -> Source:
        """A source by id."""
        _require_read(principal)
        with self._database.reading() as connection:
            return _source(connection, principal, source_id, space)

    def texts(self, principal: Principal, space: str, source_ids: Collection[str]) -> dict[str, str]:
        """Whole texts of sources of a space; a record that names a source of another space gets none."""
        with self._database.reading() as connection:
            (space_id,) = self._readable(connection, principal, space)
            return sources.texts(connection, space_id, source_ids)

    def memories(
        self,
        principal: Principal,
        space: str | None,
        *,
        nature: str | None = None,
        order_by: str = "created_at",
        descending: bool = True,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[list[Memory], int]:
        """A page of records without working state; `nature` is `semantic`, `episode` or `viewpoint`."""
        with self._database.reading() as connection:
            return catalogue.page(
                connection,
                self._readable(connection, principal, space),
                _now(),
                nature=nature,
                order_by=order_by,
                descending=descending,
                limit=limit,
                offset=offset,
            )

    @staticmethod
    def nature(memory: Memory) -> Nature:
        """The nature of a record."""
        return catalogue.nature_of(memory)

    @staticmethod
    def shows(memory: Memory) -> bool:
        """Whether lists of this room hold such a record."""
        return catalogue.is_shown(memory)

    def entities(
        self,
        principal: Principal,
        space: str | None,
        *,
        entity_type: str | None = None,
        text: str | None = None,
        order_by: str = "name",
        descending: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[list[Entity], int]:
        """A page of what the live records of a space, or of all, name; and how many in all."""
        with self._database.reading() as connection:
            return entities.page(
                connection,
                self._readable(connection, principal, space),
                _now(),
                entity_type=entity_type,
                text=text,
                order_by=order_by,
                descending=descending,
                limit=limit,
                offset=offset,
            )

    def entity(self, principal: Principal, entity_id: str, space: str | None = None) -> tuple[Entity, list[Memory]]:
        """An entity with the records that name it."""
        with self._database.reading() as connection:
            found = entities.get(connection, self._readable(connection, principal, space), entity_id, _now())
        if found is None:
            raise NotFound(f"Entity {entity_id} not found")
        return found

    # Changing

    def set_visibility(self, principal: Principal, source_id: str, visibility: str, space: str | None = None) -> Source:
        """Note who a source is for; rights follow the space, so nothing else changes.

        The answer has no text for a caller without the scope to read.
        """
        require_scope(principal, Scope.WRITE)
        found = self._writable(principal, source_id, space)
        with self._database.writing() as connection:
            sources.update(connection, found.id, _now(), visibility=visibility)
        noted = replace(found, visibility=visibility)
        return noted if principal.has(Scope.READ) else replace(noted, content="", messages=(), meta={})

    def delete_source(self, principal: Principal, source_id: str, space: str | None = None) -> None:
        """Remove a source and all memories that came from it, for good."""
        require_scope(principal, Scope.DELETE, Scope.WRITE)
        found = self._writable(principal, source_id, space)
        with self.worker.holding(found.id), self._applier.change() as (connection, change):
            ids = sources.memory_ids(connection, found.space_id, found.id)
            for memory in memories.get_many(connection, ids).values():
                if memories.delete(connection, memory.id) and counted(memory):
                    count_out(connection, memory)
                change.drop(memory.id)
            sources.delete(connection, found.id)
            erase_turns(connection, change, self._embedder, found, found.messages, _now())
            audit.append(connection, principal, "source.delete", _now(), target=found.id, space_id=found.space_id)

    def _writable(self, principal: Principal, source_id: str, space: str | None) -> Source:
        with self._database.reading() as connection:
            found = _source(connection, principal, source_id, space)
            access.resolve(connection, principal, [found.space_id], write=True)
        return found

    @staticmethod
    def _readable(connection: Connection, principal: Principal, space: str | None) -> set[str]:
        _require_read(principal)
        return _reachable(connection, principal, space)


def _source(connection: Connection, principal: Principal, source_id: str, space: str | None) -> Source:
    found = sources.get(connection, source_id)
    if found is None or found.space_id not in _reachable(connection, principal, space):
        raise NotFound(f"Source {source_id} not found")
    return found


def _reachable(connection: Connection, principal: Principal, space: str | None) -> set[str]:
    found = access.readable(connection, principal) if space is None else access.resolve(connection, principal, [space])
    return {each.space.id for each in found}


def _require_read(principal: Principal) -> None:
    if not principal.has(Scope.READ):
        raise Forbidden("this token lacks the scope memory:read")


def _now() -> datetime:
    return datetime.now(UTC)
