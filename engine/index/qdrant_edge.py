"""The embedded index: Qdrant Edge in this process.

One shard in one folder holds all spaces. Search is exact: no graph is ever built, so that writing
stays cheap and recall is 1. Dense vectors are stored as float16, which halves what a scan reads;
scores move by less than 1e-3 (3e-5 on vectors like those of a real embedder).

All keywords of a point lie in one list under one key, `facets`, as `key=value`. Every payload index
has files of its own that a flush must sync one by one; one index instead of fifteen halves the
time of a flush and opens a new folder four times as fast, and filters cost the same.

What the engine's traps ask for:

* A call holds Python's interpreter lock until it ends: batches are small and `optimize` is bounded.
* The write-ahead log is on: an acknowledged write survives a kill, and the folder is locked
  against a second process. `flush` makes writes safe against power loss.
* A shard does not survive `fork`: a call in the child would hang, so it is refused.
* Errors come as bare `Exception`s with a text; `_translated` is the only place that reads it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, assert_never, cast

import numpy as np
import qdrant_edge as edge

from engine.domain.memory import Status
from engine.embedding.protocol import Vectors
from engine.errors import CorruptData, EmbedderMismatch, FolderBusy, IndexUnavailable
from engine.index.conditions import Between, Condition, OneOf, alive, can_match, one_of
from engine.index.grouping import top_records
from engine.index.lanes import conjunctions, lane_facets
from engine.index.payload import DENSE, HIT_KEYS, LEXICAL, TENANT_KEY, TIME_KEYS, hit, keywords, position, times
from engine.index.points import batches, check_dense, check_lexical, check_limit, check_points, point_id
from engine.index.protocol import IndexFilter, IndexHit, IndexInfo, Point, SparseVector

_FACETS = "facets"
_NO_GRAPH = 10**9
"""Kilobytes of vectors from which a graph would be built: never."""

_VACUUM_POINTS = 10_000
_VACUUM_FLUSH_SECONDS = 0.2
_OPEN_PATIENCE_SECONDS = 1.0
_OPEN_PAUSE_SECONDS = 0.05
_PAGE = 1000
_EXACT = edge.SearchParams(exact=True)
_HIT_PAYLOAD = edge.PayloadSelector.Include(list(HIT_KEYS))


class EdgeIndex:
    """An `Index` over one Qdrant Edge shard. Safe for threads; one process at a time."""

    def __init__(self, shard: edge.EdgeShard, path: Path, dimension: int) -> None:
        self._shard = shard
        self._path = path
        self._dimension = dimension
        self._process = os.getpid()

    @classmethod
    def open(cls, path: Path, dimension: int) -> EdgeIndex:
        """Open the shard in `path`, or create it there.

        Raises `FolderBusy` while another process holds it, `EmbedderMismatch` if it was built for
        another dimension, `CorruptData` if the engine cannot read it.
        """
        path.mkdir(parents=True, exist_ok=True)
        index = cls(_load(path, dimension), path, dimension)
        index._create_missing_payload_indexes()
        return index

    def upsert(self, points: Sequence[Point]) -> None:
        check_points(points, self._dimension)
        with self._translated():
            for batch in batches(points):
                self._shard.update(edge.UpdateOperation.upsert_points([_stored(point) for point in batch]))

    def delete_records(self, record_ids: Sequence[str]) -> None:
        self._delete_passages(record_ids, keep=())

    def delete_space(self, space_id: str) -> None:
        # Page by page: one call for a large space would hold the interpreter lock for seconds.
        for page in self._pages(_all_of(one_of(TENANT_KEY, space_id))):
            with self._translated():
                self._shard.update(edge.UpdateOperation.delete_points([record.id for record in page]))

    def replace_records(self, record_ids: Sequence[str], points: Sequence[Point]) -> None:
        # Written before the rest is deleted: a kill in between leaves too much, never too little.
        self.upsert(points)
        self._delete_passages(record_ids, keep=[point_id(point.record_id, point.ordinal) for point in points])

    def search_dense(self, vector: Vectors, where: IndexFilter, limit: int) -> list[IndexHit]:
        # Arrays are taken as they are; the engine's stubs know of lists only.
        checked = cast("list[float]", check_dense(vector, self._dimension))
        return self._search(edge.Query.Nearest(checked, using=DENSE), where, limit)

    def search_lexical(self, vector: SparseVector, where: IndexFilter, limit: int) -> list[IndexHit]:
        query = edge.Query.Nearest(_sparse(check_lexical(vector)), using=LEXICAL)
        return [found for found in self._search(query, where, limit) if found.score > 0]

    def sample_vectors(self, space_id: str, alive_at: datetime, limit: int) -> Vectors:
        live = _all_of(one_of(TENANT_KEY, space_id), one_of("status", Status.ACTIVE), alive(alive_at))
        rows: list[Any] = []
        for page in self._pages(live, with_vector=[DENSE]):
            rows.extend(cast("dict[str, Any]", record.vector)[DENSE] for record in page)
            if len(rows) >= limit:
                break
        return np.array(rows[:limit], dtype=np.float32).reshape(-1, self._dimension)

    def record_ids(self, space_id: str | None = None) -> set[str]:
        where = None if space_id is None else _all_of(one_of(TENANT_KEY, space_id))
        pages = self._pages(where, with_payload=["record_id"])
        return {_carried(record)["record_id"] for page in pages for record in page}

    def info(self) -> IndexInfo:
        with self._translated():
            points = self._shard.info().points_count
        return IndexInfo(
            engine=f"qdrant-edge {version('qdrant-edge-py')}",
            points=points,
            path=str(self._path),
            capabilities=frozenset({"exact"}),
        )

    def flush(self) -> None:
        with self._translated():
            self._shard.flush()

    def optimize(self) -> None:
        """Vacuum, if more than a fifth is deleted, at most 10,000 points are left and the disk is quick.

        A vacuum holds the interpreter lock for 0.1 ms a point and for as many syncs as a few flushes.
        """
        started = time.monotonic()
        self.flush()
        is_slow = time.monotonic() - started > _VACUUM_FLUSH_SECONDS
        with self._translated():
            if not is_slow and self._shard.info().points_count <= _VACUUM_POINTS:
                self._shard.optimize()

    def close(self) -> None:
        with self._translated():
            self._shard.close()

    def _search(self, query: edge.Query, where: IndexFilter, limit: int) -> list[IndexHit]:
        check_limit(limit)
        if not can_match(where):
            return []
        filters = [_all_of(*conditions) for conditions in conjunctions(where)]

        def fetch(width: int) -> list[IndexHit]:
            requests = [
                edge.QueryRequest(query=query, filter=filter_, limit=width, with_payload=_HIT_PAYLOAD, params=_EXACT)
                for filter_ in filters
            ]
            with self._translated():
                answers = self._shard.query_batch(edge.QueryBatchRequest(requests))
            hits = [hit(_carried(point), point.score) for answer in answers for point in answer]
            return sorted(hits, key=lambda found: -found.score)[:width]

        return top_records(fetch, limit)

    def _delete_passages(self, record_ids: Sequence[str], keep: Sequence[str]) -> None:
        kept: list[Any] = [edge.HasIdCondition(set(keep))] if keep else []
        with self._translated():
            for batch in batches(record_ids):
                of_records = _condition(one_of("record_id", *batch))
                gone = edge.Filter(must=[of_records], must_not=kept)
                self._shard.update(edge.UpdateOperation.delete_points_by_filter(gone))

    def _pages(
        self,
        where: edge.Filter | None,
        *,
        with_payload: list[str] | bool = False,
        with_vector: list[str] | bool = False,
    ) -> Iterator[list[edge.Record]]:
        """All points that match, in the order of their ids."""
        offset = None
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_PAGE, filter=where, with_payload=with_payload, with_vector=with_vector
            )
            with self._translated():
                page, offset = self._shard.scroll(request)
            yield page
            if offset is None:
                return

    def _create_missing_payload_indexes(self) -> None:
        schemas = {_FACETS: edge.PayloadSchemaType.Keyword} | dict.fromkeys(TIME_KEYS, edge.PayloadSchemaType.Integer)
        with self._translated():
            present = self._shard.info().payload_schema
            for key in schemas.keys() - present.keys():
                self._shard.update(edge.UpdateOperation.create_field_index(key, schemas[key]))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise what the engine raises as `IndexUnavailable`."""
        if os.getpid() != self._process:
            raise IndexUnavailable("the index was opened before this process was forked; open it after")
        try:
            yield
        except Exception as error:
            raise IndexUnavailable(f"the embedded index failed: {error}") from error


def _load(path: Path, dimension: int) -> edge.EdgeShard:
    deadline = time.monotonic() + _OPEN_PATIENCE_SECONDS
    while True:
        try:
            return edge.EdgeShard.load(str(path), _config(dimension))
        except Exception as error:
            text = str(error)
            if "WouldBlock" in text and time.monotonic() < deadline:
                # A shard that was just dropped, here or by a dying process, frees its lock a moment later.
                time.sleep(_OPEN_PAUSE_SECONDS)
                continue
            raise _opening_error(path, text) from error


def _opening_error(path: Path, text: str) -> Exception:
    if "WouldBlock" in text:
        return FolderBusy(f"another process has the index in {path} open; stop it or talk to it instead")
    if "incompatible" in text:
        return EmbedderMismatch(f"the index in {path} was built for another embedder; run `memvouch reindex` ({text})")
    return CorruptData(f"the index in {path} does not open; run `memvouch reindex` to build it anew ({text})")


def _config(dimension: int) -> edge.EdgeConfig:
    dense = edge.EdgeVectorParams(
        size=dimension, distance=edge.Distance.Cosine, datatype=edge.VectorStorageDatatype.Float16
    )
    return edge.EdgeConfig(
        vectors={DENSE: dense},
        sparse_vectors={LEXICAL: edge.EdgeSparseVectorParams()},
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_NO_GRAPH),
        wal_enabled=True,
    )


def _stored(point: Point) -> edge.Point:
    vectors: dict[str, Any] = {DENSE: point.dense, LEXICAL: _sparse(point.lexical)}
    return edge.Point(point_id(point.record_id, point.ordinal), vectors, _payload(point))


def _payload(point: Point) -> dict[str, Any]:
    facets = [_facet(key, value) for key, value in (keywords(point) | lane_facets(point)).items()]
    return position(point) | times(point) | {_FACETS: facets}


def _facet(key: str, value: str) -> str:
    return f"{key}={value}"


def _carried(point: edge.Record | edge.ScoredPoint) -> dict[str, Any]:
    if point.payload is None:
        raise CorruptData("a point of the index carries no payload; run `memvouch reindex`")
    return point.payload


def _sparse(vector: SparseVector) -> edge.SparseVector:
    return edge.SparseVector(vector.indices.tolist(), vector.values.tolist())


def _all_of(*conditions: Condition) -> edge.Filter:
    return edge.Filter(must=[_condition(condition) for condition in conditions])


def _condition(condition: Condition) -> edge.FieldCondition:
    match condition:
        case OneOf(key, values) if len(values) == 1:
            return edge.FieldCondition(key=_FACETS, match=edge.MatchValue(_facet(key, *values)))
        case OneOf(key, values):
            return edge.FieldCondition(key=_FACETS, match=edge.MatchAny([_facet(key, value) for value in values]))
        case Between(key=key, at_least=at_least, below=below, above=above):
            return edge.FieldCondition(key=key, range=edge.RangeFloat(gte=at_least, lt=below, gt=above))
        case _:
            assert_never(condition)
