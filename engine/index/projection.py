"""From records to points: passages, their vectors and their lexical weights.

The content is cut into passages that the embedder can take; every passage becomes one point. The
words of the record's path count as terms of each passage too, so that a record can be found by
where it lies; a path word that the content already has is not counted twice.

The lexical statistics of a record (`Projection.terms`) are those of its content and path as a
whole: a space's document frequencies count records, not passages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.domain.memory import Memory
from engine.embedding.protocol import Embedder, Vectors
from engine.index.protocol import Point, SparseVector
from engine.text.analysis import analyse, term_counts
from engine.text.folding import clean, path_key
from engine.text.passages import Span, passages
from engine.text.sparse import document_weights

PASSAGE_TOKENS = 200
OVERLAP_TOKENS = 40


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """The terms of one record with their counts, and its length in counting terms."""

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Projection:
    """What the index and the term statistics hold of one record."""

    record_id: str
    points: tuple[Point, ...]
    terms: TermStatistics


def statistics(content: str, path: str) -> TermStatistics:
    """Terms of a record as the space's statistics count them; the same for equal inputs."""
    analysis = analyse(content)
    return TermStatistics(_with_path(term_counts(analysis), path), analysis.length)


def passage_spans(content: str, embedder: Embedder) -> tuple[Span, ...]:
    """The passages of a content, as character ranges; at least one."""
    return passages(content, embedder.count_tokens, min(PASSAGE_TOKENS, embedder.max_tokens), OVERLAP_TOKENS)


def project(memories: Sequence[Memory], embedder: Embedder) -> list[Projection]:
    """Projections in the order given; all passages are embedded in one batch."""
    spans = [passage_spans(memory.content, embedder) for memory in memories]
    texts = [
        clean(memory.content[span.start : span.end])
        for memory, cuts in zip(memories, spans, strict=True)
        for span in cuts
    ]
    vectors = embedder.embed_documents(texts) if texts else None
    projections = []
    offset = 0
    for memory, cuts in zip(memories, spans, strict=True):
        assert vectors is not None
        projections.append(_projection(memory, cuts, vectors[offset : offset + len(cuts)]))
        offset += len(cuts)
    return projections


def _projection(memory: Memory, spans: Sequence[Span], vectors: Vectors) -> Projection:
    whole = statistics(memory.content, memory.path)
    points = []
    for ordinal, (span, vector) in enumerate(zip(spans, vectors, strict=True)):
        terms = whole if len(spans) == 1 else statistics(memory.content[span.start : span.end], memory.path)
        indices, values = document_weights(terms.counts, terms.length)
        points.append(_point(memory, ordinal, span, vector, SparseVector(indices, values)))
    return Projection(memory.id, tuple(points), whole)


def _with_path(counts: Mapping[str, int], path: str) -> dict[str, int]:
    merged = dict(counts)
    for term in _path_terms(path):
        merged.setdefault(term, 1)
    return merged


@lru_cache(maxsize=1024)
def _path_terms(path: str) -> tuple[str, ...]:
    """Terms of a path; kept, since many records of an import lie at one."""
    return tuple(term_counts(analyse(path.replace("/", " "))))


def _point(memory: Memory, ordinal: int, span: Span, dense: Vectors, lexical: SparseVector) -> Point:
    return Point(
        record_id=memory.id,
        space_id=memory.space_id,
        ordinal=ordinal,
        start=span.start,
        end=span.end,
        dense=dense,
        lexical=lexical,
        path_key=path_key(memory.path),
        memory_type=memory.memory_type.value,
        kind=memory.kind.value,
        status=memory.status.value,
        bucket=memory.bucket,
        scope=memory.scope,
        team_id=memory.team_id,
        source=memory.source,
        source_id=memory.source_id,
        agent_id=memory.agent_id,
        item_status=memory.item_status,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        event_time=memory.event_time,
        expires_at=memory.expires_at,
    )
