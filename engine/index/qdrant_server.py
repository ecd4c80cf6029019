"""The index on a Qdrant server or cluster, over gRPC.

One collection holds all spaces; the space id is the tenant key. Graphs are built per space
(`m=0`, `payload_m=16`), because every search names one: Qdrant's own advice for many tenants. Small
spaces are scanned exactly; in large ones search is approximate, with `hnsw_ef=128`. Vectors are
float16 as in the embedded index, so that both give the same scores.

A server that is older than a parameter ignores it and answers 200; therefore its version is read
first, and below 1.16 it is refused.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, assert_never

import numpy as np
from qdrant_client import models

from engine.domain.memory import Status
from engine.embedding.protocol import Vectors
from engine.errors import CorruptData, EmbedderMismatch, IndexUnavailable, SetupError
from engine.index import payload
from engine.index.conditions import Between, Condition, OneOf, alive, can_match, conjunction, one_of
from engine.index.grouping import top_records
from engine.index.payload import DENSE, LEXICAL, TENANT_KEY
from engine.index.points import batches, check_dense, check_lexical, check_limit, check_points, point_id
from engine.index.protocol import IndexFilter, IndexHit, IndexInfo, Point, SparseVector
from engine.index.server_connection import ServerConnection, remove_collection

__all__ = ["ServerIndex", "remove_collection"]

_OLDEST_VERSION = (1, 16)
_FRESH_PAUSES_SECONDS = (0.1, 0.3, 0.9)
_PAGE = 1000
_SEARCH = models.SearchParams(hnsw_ef=128)


class ServerIndex:
    """An `Index` over one collection of a Qdrant server. Safe for threads and many processes."""

    def __init__(self, connection: ServerConnection, collection: str, dimension: int, version: str) -> None:
        self._connection = connection
        self._call = connection.call
        self._client = connection.client
        self.collection = collection
        self._dimension = dimension
        self._version = version

    @classmethod
    def open(cls, url: str, api_key: str | None, collection: str, dimension: int) -> ServerIndex:
        """Open the collection, or create it.

        Raises `SetupError` for a bad URL, a refused key, a server older than 1.16 or a collection
        that is not Memvouch's, `EmbedderMismatch` for another dimension, `IndexUnavailable` if the
        server does not answer.
        """
        connection = ServerConnection(url, api_key)
        try:
            index = cls(connection, collection, dimension, _supported_version(connection))
            index._create_missing_collection()
            index._check_collection()
            index._create_missing_payload_indexes()
        except BaseException:
            connection.close()
            raise
        return index

    def upsert(self, points: Sequence[Point]) -> None:
        check_points(points, self._dimension)
        for batch in batches(points):
            self._call(self._client.upsert, self.collection, [_stored(point) for point in batch], wait=True)

    def delete_records(self, record_ids: Sequence[str]) -> None:
        self._delete_passages(record_ids, keep=())

    def delete_space(self, space_id: str) -> None:
        self._delete(_all_of(one_of(TENANT_KEY, space_id)))

    def replace_records(self, record_ids: Sequence[str], points: Sequence[Point]) -> None:
        # Written before the rest is deleted: a kill in between leaves too much, never too little.
        self.upsert(points)
        self._delete_passages(record_ids, keep=[point_id(point.record_id, point.ordinal) for point in points])

    def search_dense(self, vector: Vectors, where: IndexFilter, limit: int) -> list[IndexHit]:
        return self._search(check_dense(vector, self._dimension).tolist(), DENSE, where, limit)

    def search_lexical(self, vector: SparseVector, where: IndexFilter, limit: int) -> list[IndexHit]:
        if check_lexical(vector).indices.size == 0:
            return []
        return [found for found in self._search(_sparse(vector), LEXICAL, where, limit) if found.score > 0]

    def sample_vectors(self, space_id: str, alive_at: datetime, limit: int) -> Vectors:
        live = _all_of(one_of(TENANT_KEY, space_id), one_of("status", Status.ACTIVE), alive(alive_at))
        rows: list[Any] = []
        for page in self._pages(live, with_payload=False, with_vectors=[DENSE]):
            rows.extend(record.vector[DENSE] for record in page if isinstance(record.vector, dict))
            if len(rows) >= limit:
                break
        return np.array(rows[:limit], dtype=np.float32).reshape(-1, self._dimension)

    def record_ids(self, space_id: str | None = None) -> set[str]:
        where = None if space_id is None else _all_of(one_of(TENANT_KEY, space_id))
        pages = self._pages(where, with_payload=["record_id"], with_vectors=False)
        return {_carried(record)["record_id"] for page in pages for record in page}

    def info(self) -> IndexInfo:
        points = self._call(self._client.count, self.collection, exact=True).count
        return IndexInfo(
            engine=f"qdrant {self._version}",
            points=points,
            path=f"{self._connection.address}/{self.collection}",
            capabilities=frozenset({"shared"}),
        )

    def flush(self) -> None:
        """Nothing to do: the server has each write in its log before it answers."""

    def optimize(self) -> None:
        """Nothing to do: the server optimises by itself."""

    def close(self) -> None:
        self._connection.close()

    def _search(self, query: Any, using: str, where: IndexFilter, limit: int) -> list[IndexHit]:
        check_limit(limit)
        if not can_match(where):
            return []
        filter_ = _all_of(*conjunction(where))

        def fetch(width: int) -> list[IndexHit]:
            answer = self._call(
                self._client.query_points,
                self.collection,
                query=query,
                using=using,
                query_filter=filter_,
                limit=width,
                search_params=_SEARCH,
                with_payload=list(payload.HIT_KEYS),
            )
            return [payload.hit(_carried(point), point.score) for point in answer.points]

        return top_records(fetch, limit)

    def _delete_passages(self, record_ids: Sequence[str], keep: Sequence[str]) -> None:
        kept = [models.HasIdCondition(has_id=list(keep))] if keep else []
        for batch in batches(record_ids):
            self._delete(models.Filter(must=[_condition(one_of("record_id", *batch))], must_not=[*kept]))

    def _delete(self, gone: models.Filter) -> None:
        self._call(self._client.delete, self.collection, models.FilterSelector(filter=gone), wait=True)

    def _pages(
        self, where: models.Filter | None, *, with_payload: list[str] | bool, with_vectors: list[str] | bool
    ) -> Iterator[list[models.Record]]:
        """All points that match, in the order of their ids."""
        offset: Any = None
        while True:
            page, offset = self._call(
                self._client.scroll,
                self.collection,
                where,
                _PAGE,
                offset=offset,
                with_payload=with_payload,
                with_vectors=with_vectors,
            )
            yield page
            if offset is None:
                return

    def _create_missing_collection(self) -> None:
        dense = models.VectorParams(
            size=self._dimension, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16
        )
        try:
            if not self._exists():
                self._call(
                    self._client.create_collection,
                    self.collection,
                    vectors_config={DENSE: dense},
                    sparse_vectors_config={LEXICAL: models.SparseVectorParams()},
                    hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                )
        except IndexUnavailable:
            # Another replica may have created it in between.
            if not self._exists():
                raise

    def _exists(self) -> bool:
        return self._call(self._client.collection_exists, self.collection)

    def _described(self) -> models.CollectionInfo:
        """What the server says of the collection. One that another replica made just now takes a moment to be read."""
        for pause in _FRESH_PAUSES_SECONDS:
            try:
                return self._call(self._client.get_collection, self.collection)
            except IndexUnavailable:
                time.sleep(pause)
        return self._call(self._client.get_collection, self.collection)

    def _check_collection(self) -> None:
        params = self._described().config.params
        dense = params.vectors.get(DENSE) if isinstance(params.vectors, dict) else None
        if dense is None or LEXICAL not in (params.sparse_vectors or {}):
            raise SetupError(f"the collection {self.collection} is not Memvouch's; set MEMVOUCH_INDEX_COLLECTION")
        if dense.size != self._dimension or dense.distance != models.Distance.COSINE:
            raise EmbedderMismatch(
                f"the collection {self.collection} holds vectors of {dense.size} dimensions and the embedder "
                f"gives {self._dimension}; run `memvouch reindex`"
            )

    def _create_missing_payload_indexes(self) -> None:
        keyword, integer = models.KeywordIndexType.KEYWORD, models.IntegerIndexType.INTEGER
        schemas: dict[str, Any] = {
            # Graphs are wanted for the tenant key only; a server older than this flag builds more.
            **{key: models.KeywordIndexParams(type=keyword, enable_hnsw=False) for key in payload.KEYWORD_KEYS},
            **{key: models.IntegerIndexParams(type=integer, enable_hnsw=False) for key in payload.TIME_KEYS},
            TENANT_KEY: models.KeywordIndexParams(type=keyword, is_tenant=True),
        }
        present = self._described().payload_schema
        for key, schema in schemas.items():
            if key not in present:
                self._call(self._client.create_payload_index, self.collection, key, schema, wait=True)


def _supported_version(connection: ServerConnection) -> str:
    version = connection.call(connection.client.info).version
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) < _OLDEST_VERSION:
        oldest = ".".join(map(str, _OLDEST_VERSION))
        raise SetupError(f"the Qdrant server is version {version}; Memvouch needs {oldest} or newer")
    return version


def _stored(point: Point) -> models.PointStruct:
    vector: dict[str, Any] = {DENSE: point.dense.tolist(), LEXICAL: _sparse(point.lexical)}
    return models.PointStruct(
        id=point_id(point.record_id, point.ordinal),
        vector=vector,
        payload=payload.keywords(point) | payload.times(point) | payload.position(point),
    )


def _carried(point: models.Record | models.ScoredPoint) -> dict[str, Any]:
    if point.payload is None:
        raise CorruptData("a point of the index carries no payload; run `memvouch reindex`")
    return point.payload


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=vector.indices.tolist(), values=vector.values.tolist())


def _all_of(*conditions: Condition) -> models.Filter:
    return models.Filter(must=[_condition(condition) for condition in conditions])


def _condition(condition: Condition) -> models.FieldCondition:
    match condition:
        case OneOf(key, values):
            return models.FieldCondition(key=key, match=models.MatchAny(any=sorted(values)))
        case Between(key=key, at_least=at_least, below=below, above=above):
            return models.FieldCondition(key=key, range=models.Range(gte=at_least, lt=below, gt=above))
        case _:
            assert_never(condition)
