"""The threads that turn waiting jobs into memories.

    claim a job -> for each source: plan -> write in batches -> note what it names -> job's status

A batch is written by `remember`, with ids that follow from the source, so a job that a crash cut off
is simply done again: what is there is left alone. A source at fault fails by itself; an outage puts
the whole job back, to be tried again a little later. While a batch of a source is written, the
source cannot be deleted, so no memory outlives its source.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from engine.domain.access import Principal, Scope
from engine.domain.memory import NewMemory
from engine.domain.source import Job, JobStatus, Source, SourceStatus
from engine.embedding.protocol import Embedder
from engine.errors import AccessError, InvalidRequest, MemvouchError, NotFound, Unavailable
from engine.store import entities, jobs, memories, sources
from engine.store.database import Database
from engine.writing.ingest.extraction import Extractor
from engine.writing.ingest.plan import Planned, plan
from engine.writing.remember import Rememberer

BATCH = 64
ATTEMPTS = 5
_POLL_SECONDS = 0.2
_LOCKS = 64

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Progress:
    """Counts of a job under work; `settled` are the memories of its finished sources."""

    settled: int = 0
    memories: int = 0
    entities: int = 0
    edges: int = 0
    tokens: int = 0


class Worker:
    """A pool of threads over the jobs of a store."""

    def __init__(
        self, database: Database, embedder: Embedder, rememberer: Rememberer, extractor: Extractor | None
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._rememberer = rememberer
        self._extractor = extractor
        self._stop = threading.Event()
        self._work = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def start(self, threads: int) -> None:
        """Take up what a crash left and begin to work."""
        if self._database.dialect == "sqlite":
            # The folder is locked: nobody else can be at work on its jobs.
            with self._database.writing() as connection:
                jobs.release_all(connection)
        for number in range(threads):
            thread = threading.Thread(target=self._run, name=f"memvouch-ingest-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def wake(self) -> None:
        """Look for work now instead of at the next turn."""
        with self._work:
            self._work.notify()

    def close(self) -> None:
        """Finish the batch under way and stop; the rest waits for the next start."""
        self._stop.set()
        with self._work:
            self._work.notify_all()
        for thread in self._threads:
            thread.join()

    def holding(self, source_id: str) -> threading.Lock:
        """The lock under which batches of a source are written and the source is deleted."""
        return self._locks[int(source_id[-8:], 16) % _LOCKS]

    def drain(self) -> int:
        """Work in this thread until no job waits. Returns how many jobs were done."""
        done = 0
        while not self._stop.is_set() and self._next():
            done += 1
        return done

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                worked = self._next()
            except MemvouchError as error:
                log.warning("ingest_failed", error=str(error))
                worked = False
            if not worked:
                with self._work:
                    if not self._stop.is_set():
                        self._work.wait(_POLL_SECONDS)

    def _next(self) -> bool:
        with self._database.reading() as connection:
            if not jobs.has_waiting(connection, _now()):
                return False
        with self._database.writing() as connection:
            job = jobs.claim(connection, _now())
        if job is None:
            return False
        try:
            self._do(job)
        except Unavailable as error:
            self._put_back(job, error)
        return True

    def _do(self, job: Job) -> None:
        with self._database.reading() as connection:
            found = sources.of_job(connection, job.id)
        settled = sum(source.memory_count for source in found if source.status is SourceStatus.COMPLETED)
        progress = Progress(settled, job.memory_count, job.entity_count, job.edge_count, job.tokens_used)
        for source in found:
            if source.status in (SourceStatus.COMPLETED, SourceStatus.FAILED):
                continue
            if self._stop.is_set():
                self._step(job, progress, status=JobStatus.PENDING.value, stage=None)
                return
            try:
                self._ingest(job, source, progress)
            except (InvalidRequest, AccessError, NotFound) as error:
                with self._database.writing() as connection:
                    sources.update(connection, source.id, _now(), status=SourceStatus.FAILED.value, error=str(error))
        self._finish(job, progress)

    def _ingest(self, job: Job, source: Source, progress: Progress) -> None:
        with self._database.writing() as connection:
            if not sources.update(connection, source.id, _now(), status=SourceStatus.PROCESSING.value):
                return
        facts = self._extractor.facts(source) if self._extractor else []
        planned = plan(source, self._embedder.count_tokens, facts)
        tokens = self._embedder.count_tokens(source.content)
        written = 0
        for start in range(0, len(planned), BATCH):
            batch = planned[start : start + BATCH]
            if not self._write(source, [each.new for each in batch]):
                return
            written += len(batch)
            # A job that starts again counts the same memories again: the count must not go back meanwhile.
            progress.memories = max(progress.memories, progress.settled + written)
            self._step(job, progress, stage=f"{source.number}: {written} of {len(planned)}")
        self._complete(job, source, planned, tokens, progress)

    def _write(self, source: Source, news: Sequence[NewMemory]) -> bool:
        """Write what is not there yet; whether the source still is."""
        writer = Principal(tenant_id=source.tenant_id, user_id=source.user_id, scopes=frozenset({Scope.WRITE}))
        with self.holding(source.id):
            with self._database.reading() as connection:
                if sources.get(connection, source.id) is None:
                    return False
                present = memories.get_many(connection, [new.id for new in news if new.id])
            missing = [new for new in news if new.id not in present]
            if missing:
                self._rememberer.remember(writer, missing, _now())
        return True

    def _complete(self, job: Job, source: Source, planned: Sequence[Planned], tokens: int, progress: Progress) -> None:
        with self.holding(source.id), self._database.writing() as connection:
            named = {each.new.id: each.mentions for each in planned if each.new.id}
            there = memories.get_many(connection, list(named))
            found, links = entities.record(connection, source.space_id, {key: named[key] for key in there}, _now())
            progress.settled += len(planned)
            progress.entities += found
            progress.edges += links
            progress.tokens += tokens
            jobs.update(connection, job.id, _now(), **_counts(progress))
            sources.update(
                connection,
                source.id,
                _now(),
                status=SourceStatus.COMPLETED.value,
                token_count=tokens,
                memory_count=len(planned),
            )

    def _step(self, job: Job, progress: Progress, **values: object) -> None:
        with self._database.writing() as connection:
            jobs.update(connection, job.id, _now(), **_counts(progress), **values)

    def _finish(self, job: Job, progress: Progress) -> None:
        with self._database.writing() as connection:
            found = sources.of_job(connection, job.id)
            failed = [source for source in found if source.status is SourceStatus.FAILED]
            status = JobStatus.COMPLETED
            if failed:
                status = JobStatus.FAILED if len(failed) == len(found) else JobStatus.PARTIAL
            jobs.update(
                connection,
                job.id,
                _now(),
                **_counts(progress),
                status=status.value,
                stage=None,
                error=failed[0].error if failed else None,
                completed_at=_now(),
            )

    def _put_back(self, job: Job, error: Unavailable) -> None:
        """Let a job wait a little, or fail when it has been tried often enough."""
        now = _now()
        with self._database.writing() as connection:
            if job.attempts < ATTEMPTS:
                later = now + timedelta(seconds=max(error.retry_after_seconds, 2.0**job.attempts))
                jobs.update(connection, job.id, later, status=JobStatus.PENDING.value, stage=None, error=str(error))
                return
            for source in sources.of_job(connection, job.id):
                if source.status is not SourceStatus.COMPLETED:
                    sources.update(connection, source.id, now, status=SourceStatus.FAILED.value, error=str(error))
            jobs.update(
                connection, job.id, now, status=JobStatus.FAILED.value, error=str(error), stage=None, completed_at=now
            )


def _counts(progress: Progress) -> dict[str, int]:
    return {
        "memory_count": progress.memories,
        "entity_count": progress.entities,
        "edge_count": progress.edges,
        "tokens_used": progress.tokens,
    }


def _now() -> datetime:
    return datetime.now(UTC)
