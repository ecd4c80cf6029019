"""The pipeline: one way for strict and forgiving questions.

    understand -> legs (filtered) -> fusion -> truth (authorised, filtered again) -> evidence
               -> calibration -> policy -> outcome

Every space is asked by itself, with its own statistics; the answers meet by confidence, which means
the same everywhere. Ids from the index count for nothing until the store has returned them under
the caller's rights and the request's filters.

Strict keeps what reaches the threshold. Finding nothing while a leg was down is an outage, not a
no-match, and raises. Forgiving keeps the best, each labelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

import numpy as np
from sqlalchemy import Connection

from engine.domain.access import Principal, ReadableSpace, Scope
from engine.domain.memory import Kind, Memory
from engine.domain.outcome import (
    Considered,
    Degraded,
    Label,
    Leg,
    Matches,
    NoMatch,
    NoMatchReason,
    Outcome,
    Verdict,
)
from engine.domain.query import LIST_ALL, Mode, Query
from engine.embedding.protocol import Embedder, Vectors
from engine.errors import EmbedderUnavailable, Forbidden, InvalidRequest, PairScorerUnavailable, Unavailable
from engine.index.protocol import Index
from engine.retrieval import arrange, policy
from engine.retrieval.background import Backgrounds
from engine.retrieval.calibration.calibrator import Calibrator
from engine.retrieval.evidence.gathering import Candidate, Evidence, SpaceView, gather
from engine.retrieval.evidence.question import Question, understand
from engine.retrieval.fusion import Fused
from engine.retrieval.judged import Judged, considered, hit, legs_of, missing_everywhere, nearest
from engine.retrieval.legs import gather_pool, lexical_weights
from engine.retrieval.listing import list_all
from engine.retrieval.pairs.protocol import PairScorer
from engine.retrieval.pairs.reading import with_pair_scores
from engine.retrieval.request import Prepared, index_filter, prepare
from engine.store import access, memories
from engine.store.database import Database
from engine.text.folding import clean
from engine.text.passages import windows

WORKING_LIMIT = 3
TERM_LIMIT = 256
_OVERSAMPLE = 2


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as the legs need it: one vector per window, none if the embedder is down.

    `text` is its first window, which is what a pair scorer reads of it.
    """

    text: str
    question: Question
    vectors: tuple[Vectors, ...]
    degraded: tuple[Degraded, ...]
    notes: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """Distinct terms for the lexical leg: stop words only if the question has nothing else."""
        every = self.question.analysis.terms
        content = dict.fromkeys(term.text for term in every if not term.stop)
        return tuple(content or dict.fromkeys(term.text for term in every))[:TERM_LIMIT]


class Searcher:
    """Answers questions. Safe to use from many threads."""

    def __init__(
        self,
        database: Database,
        index: Callable[[], Index],
        embedder: Embedder,
        calibrator: Calibrator,
        backgrounds: Backgrounds,
        *,
        pool_size: int,
        operating_point: str,
        pair_scorer: PairScorer | None = None,
    ) -> None:
        self._database = database
        self._index = index
        self._embedder = embedder
        self._calibrator = calibrator
        self._backgrounds = backgrounds
        self._pool_size = pool_size
        self._operating_point = operating_point
        self._pair_scorer = pair_scorer

    @property
    def threshold(self) -> float:
        """The confidence that strict asks for, 0..1."""
        return self._calibrator.thresholds[self._operating_point]

    @property
    def calibrated_by(self) -> str:
        """Where the calibration in use is from, in words."""
        return self._calibrator.origin

    def use(self, calibrator: Calibrator) -> None:
        """Judge by another calibration from the next question on."""
        self._calibrator = calibrator

    def search(self, principal: Principal, query: Query, now: datetime) -> Outcome:
        """Answer one question.

        Raises:
            InvalidRequest, InvalidPattern: the query is at fault.
            Forbidden: the token may not read.
            NotFound: a named space does not exist for this caller.
            Unavailable: the store, the index, or in strict mode any leg that a no-match needs.
        """
        if not principal.has(Scope.READ):
            raise Forbidden("this token lacks the scope memory:read")
        prepared = prepare(query, now)
        with self._database.reading() as connection:
            spaces = readable_spaces(connection, principal, query.spaces)
            if prepared.text == LIST_ALL:
                return list_all(connection, spaces, prepared)
            asked = self._ask(prepared)
            judged, degraded = self._judge_all(connection, principal, spaces, prepared, asked)
            outcome = self._decide(connection, principal, spaces, prepared, asked, judged, degraded)
        # A pair scorer whose score the confidence needs has raised by itself; otherwise it only orders.
        legs = [each for each in outcome.degraded if each.leg is not Leg.PAIR]
        if isinstance(outcome, NoMatch) and legs:
            raise Unavailable(f"cannot tell whether anything matches while a leg is down ({_failed(legs)})")
        return outcome

    def pooled(self, principal: Principal, query: Query, now: datetime) -> list[Judged]:
        """All records that evidence looks at for a question, judged, in no order.

        Raises as `search` does, and `Unavailable` if any leg or the pair scorer is down.
        """
        prepared = prepare(query, now)
        if prepared.text == LIST_ALL:
            raise InvalidRequest(f"{LIST_ALL} is no question", field="query")
        with self._database.reading() as connection:
            spaces = readable_spaces(connection, principal, query.spaces)
            judged, degraded = self._judge_all(connection, principal, spaces, prepared, self._ask(prepared))
        if degraded:
            raise Unavailable(f"not everything that weighs a record answers ({_failed(degraded)})")
        return judged

    def consider(self, principal: Principal, memory: Memory, text: str, now: datetime) -> Considered:
        """The verdict on one record for a question, as strict mode would pass it."""
        prepared = prepare(Query(text=text), now)
        asked = self._ask(prepared)
        with self._database.reading() as connection:
            space = access.resolve(connection, principal, [memory.space_id])[0]
            judged, _ = self._judge(connection, principal, space, prepared, asked, only=memory.id)
        if not judged:
            raise Unavailable("the index has not caught up with that memory; try again")
        return considered(judged, {memory.id} if judged[0].verdict is Verdict.RETURNED else set())[0]

    def _ask(self, prepared: Prepared) -> _Asked:
        texts = self._windows(prepared.text)
        reader = "" if self._pair_scorer is None else "; the pair scorer read the first"
        notes = (f"the query was read in {len(texts)} windows{reader}",) if len(texts) > 1 else ()
        supposed = self._windows(clean(prepared.query.hypothetical_answer or "").strip())
        try:
            vectors = [self._embedder.embed_query(text) for text in (*texts, *supposed)]
        except EmbedderUnavailable as error:
            question = understand(prepared.text, np.zeros(self._embedder.dimension, np.float32))
            return _Asked(texts[0], question, (), (Degraded(Leg.DENSE, str(error)),), notes)
        mean = np.mean(vectors[: len(texts)], axis=0)
        norm = float(np.linalg.norm(mean))
        question = understand(prepared.text, np.asarray(mean / norm if norm else mean, np.float32))
        return _Asked(texts[0], question, tuple(vectors), (), notes)

    def _windows(self, text: str) -> list[str]:
        """A text in pieces that the embedder can read; none for a blank one."""
        spans = windows(text, self._embedder.count_tokens, self._embedder.max_tokens)
        return [text[span.start : span.end] for span in spans]

    def _judge_all(
        self,
        connection: Connection,
        principal: Principal,
        spaces: Sequence[ReadableSpace],
        prepared: Prepared,
        asked: _Asked,
    ) -> tuple[list[Judged], tuple[Degraded, ...]]:
        judged: list[Judged] = []
        degraded = dict.fromkeys(asked.degraded)
        for space in spaces:
            found, failed = self._judge(connection, principal, space, prepared, asked)
            judged += found
            degraded.update(dict.fromkeys(failed))
        return judged, tuple(degraded)

    def _judge(
        self,
        connection: Connection,
        principal: Principal,
        space: ReadableSpace,
        prepared: Prepared,
        asked: _Asked,
        only: str | None = None,
    ) -> tuple[list[Judged], tuple[Degraded, ...]]:
        """Pool, evidence and verdicts of one space."""
        where = index_filter(connection, prepared, space.space.id)
        if where is None:
            return [], ()
        if only is not None:
            where = type(where)(space_id=where.space_id, alive_at=where.alive_at, record_ids=frozenset({only}))
        view = self._backgrounds.view(connection, space.space.id, asked.terms, prepared.now)
        size = max(self._pool_size, prepared.query.limit)
        weights = lexical_weights(asked.terms, view)
        pool = gather_pool(self._index(), where, asked.vectors, weights, size * _OVERSAMPLE)
        working = self._working_states(connection, space, prepared)
        exact = self._exact(connection, principal, space, prepared)
        # Exact ids and working states come first and stay there, whatever the legs say of them.
        records = {**_as_pool(exact), **_as_pool(working), **{each.record_id: each for each in pool.records}}
        pinned = len(exact) + len(working)
        found = _first_readable(connection, principal, prepared, list(records), size + pinned)
        kept = [records[each] for each in found]
        if not kept:
            return [], pool.degraded
        candidates = [_candidate(found[each.record_id], each) for each in kept]
        evidence = _gather_stably(asked.question, candidates, view, self._pool_size + pinned)
        evidence, unread = self._read_pairs(asked, candidates, evidence, prepared.query.mode)
        confidence = self._calibrator.confidence(evidence)
        ranking = self._calibrator.ranking(evidence, confidence)
        threshold = self.threshold if prepared.query.min_confidence is None else prepared.query.min_confidence
        verdicts = policy.judge(asked.question, evidence, confidence, threshold)
        judged = [
            Judged(
                memory=found[each.record_id],
                fused=each,
                evidence=evidence[row],
                confidence=1.0 if each.record_id in exact else float(confidence[row]),
                rank=float(ranking[row]),
                verdict=Verdict.RETURNED if each.record_id in exact else verdicts[row].verdict,
                reasons=(
                    ("its id or semantic key is the query",) if each.record_id in exact else verdicts[row].reasons
                ),
                working=each.record_id in working,
                exact=each.record_id in exact,
            )
            for row, each in enumerate(kept)
        ]
        return judged, (*pool.degraded, *unread)

    def _read_pairs(
        self, asked: _Asked, candidates: Sequence[Candidate], evidence: list[Evidence], mode: Mode
    ) -> tuple[list[Evidence], tuple[Degraded, ...]]:
        """The evidence with pair scores, or without them and why.

        Strict raises `PairScorerUnavailable` if its calibration knows the score: a threshold that was
        fitted with it promises nothing without it.
        """
        if self._pair_scorer is None:
            return evidence, ()
        try:
            return with_pair_scores(self._pair_scorer, asked.text, candidates, evidence), ()
        except PairScorerUnavailable as error:
            if mode is Mode.STRICT and self._calibrator.needs_pairs:
                raise
            return evidence, (Degraded(Leg.PAIR, str(error)),)

    @staticmethod
    def _working_states(connection: Connection, space: ReadableSpace, prepared: Prepared) -> dict[str, Memory]:
        if not prepared.query.prefer_working:
            return {}
        states, _ = memories.page(
            connection,
            [space.space.id],
            replace(prepared.where, kinds=frozenset({Kind.STATE})),
            prepared.now,
            limit=WORKING_LIMIT,
            offset=0,
            order_by="updated_at",
            descending=True,
        )
        return {state.id: state for state in states}

    @staticmethod
    def _exact(
        connection: Connection, principal: Principal, space: ReadableSpace, prepared: Prepared
    ) -> dict[str, Memory]:
        found = memories.find_exact(connection, space.space.id, prepared.text)
        allowed = memories.authorized(connection, principal, [each.id for each in found], prepared.where, prepared.now)
        return {memory.id: memory for memory in allowed.values()}

    def _decide(
        self,
        connection: Connection,
        principal: Principal,
        spaces: Sequence[ReadableSpace],
        prepared: Prepared,
        asked: _Asked,
        judged: list[Judged],
        degraded: tuple[Degraded, ...],
    ) -> Outcome:
        query = prepared.query
        strict = query.mode is Mode.STRICT
        threshold = self.threshold if query.min_confidence is None else query.min_confidence
        if strict:
            kept = [each for each in judged if each.verdict is Verdict.RETURNED or self._vouched_state(each)]
        else:
            kept = judged
        ordered = arrange.order(kept, query, prepared.now)
        shown = ordered[: query.limit]
        trace = considered(judged, {each.memory.id for each in shown}) if query.explain else ()
        if not shown:
            return NoMatch(
                reason=self._reason(connection, spaces, prepared, judged),
                threshold=threshold,
                considered=len(judged),
                best_confidence=max((each.confidence for each in judged), default=0.0),
                degraded=degraded,
                trace=trace,
                notes=asked.notes,
                missing_identifiers=missing_everywhere(judged),
                nearest=nearest(asked.question, judged),
            )
        return Matches(
            hits=tuple(hit(each, principal, self.label(each.confidence)) for each in shown),
            threshold=threshold,
            considered=len(judged),
            degraded=degraded,
            trace=trace,
            notes=asked.notes,
        )

    def _vouched_state(self, judged: Judged) -> bool:
        """Working state that was asked for may come ahead of vector hits at the lenient point."""
        return (
            judged.working
            and judged.verdict is not Verdict.IDENTIFIER_ABSENT
            and judged.confidence >= self._calibrator.thresholds["lenient"]
        )

    @staticmethod
    def _reason(
        connection: Connection, spaces: Sequence[ReadableSpace], prepared: Prepared, judged: Sequence[Judged]
    ) -> NoMatchReason:
        if judged:
            if all(each.verdict is Verdict.IDENTIFIER_ABSENT for each in judged):
                return NoMatchReason.IDENTIFIER_ABSENT
            return NoMatchReason.BELOW_THRESHOLD
        if not memories.has_live(connection, [each.space.id for each in spaces], prepared.now):
            return NoMatchReason.EMPTY_SPACE
        return NoMatchReason.FILTERED_OUT

    def label(self, confidence: float) -> Label:
        """How a forgiving hit is labelled: by the named operating points."""
        if confidence >= self._calibrator.thresholds["default"]:
            return Label.STRONG
        return Label.LIKELY if confidence >= self._calibrator.thresholds["lenient"] else Label.WEAK


def readable_spaces(connection: Connection, principal: Principal, refs: Sequence[str]) -> list[ReadableSpace]:
    """The named spaces, or all that the caller may read."""
    return access.resolve(connection, principal, refs) if refs else access.readable(connection, principal)


def _failed(degraded: Sequence[Degraded]) -> str:
    return ", ".join(f"{each.leg.value}: {each.reason}" for each in degraded)


def _as_pool(found: Mapping[str, Memory]) -> dict[str, Fused]:
    return {memory.id: Fused(memory.id, 0.0, None, None, 0, len(memory.content)) for memory in found.values()}


def _first_readable(
    connection: Connection, principal: Principal, prepared: Prepared, ids: Sequence[str], count: int
) -> dict[str, Memory]:
    """The first `count` of the records that the store lets this request see, in the order of `ids`."""
    seen: dict[str, Memory] = {}
    for start in range(0, len(ids), count):
        asked = ids[start : start + count]
        allowed = memories.authorized(connection, principal, asked, prepared.where, prepared.now)
        seen |= {each: allowed[each] for each in asked if each in allowed}
        if len(seen) >= count:
            break
    return dict(islice(seen.items(), count))


def _candidate(memory: Memory, fused: Fused) -> Candidate:
    return Candidate(
        memory_id=memory.id,
        content=memory.content,
        passage=memory.content[fused.start : fused.end],
        path=memory.path,
        dense=fused.dense or 0.0,
        lexical=fused.lexical or 0.0,
        fused=fused.score,
        legs=frozenset(legs_of(fused)),
        happened=memory.event_time,
    )


def _gather_stably(question: Question, candidates: list[Candidate], view: SpaceView, size: int) -> list[Evidence]:
    """Evidence that does not depend on how many answers were asked for.

    The first `size` candidates are weighed among themselves, whatever else a high limit brings in.
    """
    evidence = gather(question, candidates[:size], view)
    return evidence + gather(question, candidates, view)[size:] if len(candidates) > size else evidence
