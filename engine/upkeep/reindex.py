"""Building the index anew from the truth, while reads go on.

A second index (a new *generation*: another folder or collection) is filled in the order of record
ids, a batch at a time; writes that arrive meanwhile go to both. When all is in, the generations
change places. A journal in the data folder remembers how far it came: a second run goes on from
there, and takes again whatever has changed since the first one began.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from engine.embedding.protocol import Embedder
from engine.index.projection import project
from engine.index.protocol import Index
from engine.store import memories
from engine.store.database import Database
from engine.store.index_state import IndexState
from engine.upkeep.generations import Generations
from engine.upkeep.recovery import indexed
from engine.writing.applier import Applier

BATCH = 64

Progress = Callable[[int, int], None]
"""Called with (records done, records in all)."""


@dataclass(frozen=True, slots=True)
class Journal:
    """How far a reindex came. `last_id` is the highest record id in the new generation."""

    generation: str
    embedder_id: str
    analysis_version: str
    started_at: str
    last_id: str = ""

    @classmethod
    def read(cls, path: Path) -> Journal | None:
        """`None` if there is none or it was cut short by a crash; then all starts over."""
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def write(self, path: Path) -> None:
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)), encoding="utf-8")
        draft.replace(path)


@dataclass(frozen=True, slots=True)
class _Copied:
    """One batch: the last record id looked at, and how many records were written."""

    last_id: str
    live: int


class Reindexer:
    """One run over a store."""

    def __init__(
        self,
        database: Database,
        applier: Applier,
        embedder: Embedder,
        generations: Generations,
        journal_path: Path,
    ) -> None:
        self._database = database
        self._applier = applier
        self._embedder = embedder
        self._generations = generations
        self._journal_path = journal_path

    def run(
        self, old: IndexState, clock: Callable[[], datetime], progress: Progress | None = None
    ) -> tuple[IndexState, int]:
        """Build, swap, remove the old generation. Returns the new state and the records written."""
        new = self._generations.successor(old)
        journal = self._resume(new) or self._begin(new, clock)
        target = self._generations.open(new)
        self._applier.mirror = target
        try:
            written = self._fill(target, journal, clock, progress)
            with self._applier.paused():
                self._drop_orphans(target, clock)
                target.flush()
                self._generations.adopt(new)
                replaced, self._applier.index, self._applier.mirror = self._applier.index, target, None
        except BaseException:
            self._applier.mirror = None
            target.close()
            raise
        replaced.close()
        self._generations.remove(old)
        self._journal_path.unlink(missing_ok=True)
        return new, written

    def _resume(self, new: IndexState) -> Journal | None:
        journal = Journal.read(self._journal_path)
        fits = journal is not None and (journal.generation, journal.embedder_id, journal.analysis_version) == (
            new.generation,
            new.embedder_id,
            new.analysis_version,
        )
        return journal if fits else None

    def _begin(self, new: IndexState, clock: Callable[[], datetime]) -> Journal:
        self._generations.remove(new)
        journal = Journal(new.generation, new.embedder_id, new.analysis_version, clock().isoformat())
        journal.write(self._journal_path)
        return journal

    def _fill(self, target: Index, journal: Journal, clock: Callable[[], datetime], progress: Progress | None) -> int:
        with self._database.reading() as connection:
            total = len(memories.live_ids(connection, clock()))
        written = 0
        while copied := self._copy(target, journal.last_id, clock):
            written += copied.live
            journal = replace(journal, last_id=copied.last_id)
            target.flush()
            journal.write(self._journal_path)
            if progress:
                progress(min(written, total), total)
        after = ""
        since = datetime.fromisoformat(journal.started_at)
        while copied := self._copy(target, after, clock, since):
            written += copied.live
            after = copied.last_id
        return written

    def _copy(
        self, target: Index, after: str, clock: Callable[[], datetime], updated_since: datetime | None = None
    ) -> _Copied | None:
        # Reading and writing a batch under the lock keeps a newer write from being overwritten.
        with self._applier.paused(), self._database.reading() as connection:
            batch = memories.batch_after(connection, after, BATCH)
            now = clock()
            live = [
                each
                for each in batch
                if indexed(each, now) and (updated_since is None or each.updated_at >= updated_since)
            ]
            if live:
                points = [point for each in project(live, self._embedder) for point in each.points]
                target.replace_records([each.id for each in live], points)
        return _Copied(batch[-1].id, len(live)) if batch else None

    def _drop_orphans(self, target: Index, clock: Callable[[], datetime]) -> None:
        with self._database.reading() as connection:
            orphans = target.record_ids() - memories.live_ids(connection, clock())
        if orphans:
            target.delete_records(sorted(orphans))
