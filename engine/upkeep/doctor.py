"""Does the index hold what the truth says? And if not: make it so.

Compared are the record ids that should have points with those that have. Which text the points of
a record were made from is not compared; the outbox guarantees that, and `reindex` renews it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from engine.embedding.protocol import Embedder
from engine.index.projection import project
from engine.index.protocol import Index, IndexInfo
from engine.store import memories, outbox
from engine.store.database import Database

BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found. `equal` is the verdict; `calibration` says where the confidences are from."""

    records: int
    indexed: int
    missing: tuple[str, ...]
    orphaned: tuple[str, ...]
    pending: int
    index: IndexInfo
    embedder_id: str
    analysis_version: str
    database: str
    repaired: int = 0
    pair_scorer: str | None = None
    calibration: str = ""

    @property
    def equal(self) -> bool:
        return not self.missing and not self.orphaned


def examine(database: Database, index: Index, embedder: Embedder, analysis_version: str, now: datetime) -> Report:
    """Compare truth and index."""
    with database.reading() as connection:
        truth = memories.live_ids(connection, now)
        pending = outbox.count(connection)
    held = index.record_ids()
    return Report(
        records=len(truth),
        indexed=len(held),
        missing=tuple(sorted(truth - held)),
        orphaned=tuple(sorted(held - truth)),
        pending=pending,
        index=index.info(),
        embedder_id=embedder.id,
        analysis_version=analysis_version,
        database=database.dialect,
    )


def repair(database: Database, index: Index, embedder: Embedder, report: Report, now: datetime) -> Report:
    """Write what is missing, drop what is orphaned, and look again."""
    for start in range(0, len(report.missing), BATCH):
        with database.reading() as connection:
            found = memories.get_many(connection, report.missing[start : start + BATCH])
        points = [point for each in project(list(found.values()), embedder) for point in each.points]
        index.replace_records(list(found), points)
    if report.orphaned:
        index.delete_records(report.orphaned)
    index.flush()
    after = examine(database, index, embedder, report.analysis_version, now)
    return replace(after, repaired=len(report.missing) + len(report.orphaned))
