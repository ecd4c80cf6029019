"""What is answered: `Outcome = Matches | NoMatch`, context packs and pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from engine.domain.memory import Memory


class Leg(StrEnum):
    """A way by which candidates are found; `PAIR` finds none, it reads those that were found."""

    DENSE = "dense"
    LEXICAL = "lexical"
    WORKING = "working"
    EXACT = "exact"
    PAIR = "pair"


class NoMatchReason(StrEnum):
    """Why a strict question has no answer."""

    EMPTY_SPACE = "empty_space"
    FILTERED_OUT = "filtered_out"
    BELOW_THRESHOLD = "below_threshold"
    IDENTIFIER_ABSENT = "identifier_absent"


class Verdict(StrEnum):
    """What the policy decided about one pooled record."""

    RETURNED = "returned"
    BELOW_THRESHOLD = "below_threshold"
    IDENTIFIER_ABSENT = "identifier_absent"
    BEYOND_LIMIT = "beyond_limit"
    DUPLICATE = "duplicate"


class Label(StrEnum):
    """How sure the engine is of a forgiving hit."""

    STRONG = "strong"
    LIKELY = "likely"
    WEAK = "weak"


class AgentBoundary(StrEnum):
    """Whether the record was written by the calling agent."""

    SELF = "self"
    OTHER_AGENT = "other_agent"


@dataclass(frozen=True, slots=True)
class Passage:
    """Half-open character range of a memory's content."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Signals:
    """Raw evidence of one record. Not comparable across queries: only `Hit.confidence` is.

    `dense` is a cosine in -1..1 or `None` when the dense leg did not see the record; `lexical` is
    BM25 with the space's own statistics, >= 0; `coverage` is the IDF share of the query's terms
    that the record has, 0..1; `pair` is the pair scorer's verdict, 0..1, `None` without a scorer.
    """

    dense: float | None
    lexical: float
    coverage: float
    legs: frozenset[Leg]
    matched_terms: tuple[str, ...] = ()
    missing_terms: tuple[str, ...] = ()
    missing_identifiers: tuple[str, ...] = ()
    features: tuple[tuple[str, float], ...] = ()
    pair: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer. `confidence` is the calibrated probability that the record answers the query."""

    memory: Memory
    confidence: float
    label: Label
    signals: Signals
    passage: Passage
    boundary: AgentBoundary | None = None
    reasons: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """Opaque handle that the other verbs accept."""
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Considered:
    """One pooled record in a trace: returned or rejected, and why, in words for a person."""

    memory_id: str
    path: str
    confidence: float
    verdict: Verdict
    reasons: tuple[str, ...]
    signals: Signals


@dataclass(frozen=True, slots=True)
class Explanation:
    """A record and, if a question was given, the verdict that strict mode passes on it.

    `versions` counts all states of the record, the present one included.
    """

    memory: Memory
    versions: int
    considered: Considered | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Degraded:
    """A leg that failed while the others answered."""

    leg: Leg
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """At least one answer, best first."""

    hits: tuple[Hit, ...]
    threshold: float
    considered: int
    degraded: tuple[Degraded, ...] = ()
    trace: tuple[Considered, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMatch:
    """Nothing stored answers. Never carries rejected text; `trace` is filled on `explain` only.

    `considered` counts the records that evidence looked at; `best_confidence` is the highest of
    theirs, 0.0 if there were none.
    """

    reason: NoMatchReason
    threshold: float
    considered: int
    best_confidence: float
    degraded: tuple[Degraded, ...] = ()
    trace: tuple[Considered, ...] = ()
    notes: tuple[str, ...] = ()
    missing_identifiers: tuple[str, ...] = ()


Outcome: TypeAlias = Matches | NoMatch


class Omission(StrEnum):
    """Why a matching record is not in a context pack, or not whole."""

    TOO_LONG = "too_long"
    NO_ROOM = "no_room"
    ITEM_LIMIT = "item_limit"
    NEAR_DUPLICATE = "near_duplicate"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One record that a pack left out or cut, and why."""

    memory_id: str
    why: Omission


@dataclass(frozen=True, slots=True)
class PackedItem:
    """One block of a context pack; `text` is the content as rendered, cut if `truncated`."""

    hit: Hit
    text: str
    tokens: int
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPack:
    """Memories packed into a budget. `tokens` counts all of `text` by the named `tokenizer`."""

    items: tuple[PackedItem, ...]
    text: str
    tokens: int
    max_tokens: int
    max_items: int
    tokenizer: str
    matched: int
    left_out: tuple[LeftOut, ...] = ()
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a list; `total` counts all records under the same filters."""

    memories: tuple[Memory, ...]
    total: int
    next_offset: int | None = field(default=None)
