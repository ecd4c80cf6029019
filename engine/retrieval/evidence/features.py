"""The measures that evidence is made of, in units that mean the same in every space.

For a question with content words `t` of weight `w(t)` and a record's passage:

- *exact* `E(t)` is 1 if the passage holds the term; *soft* `S(t)` is the best word similarity
  (lexicon vectors) between `t` and the passage's words, 1 where exact.
- *coverage* is `sum w E / sum w`, *support* `sum w S / sum w`. `w` is the IDF in the space, smoothed
  by `PRIOR_RECORDS` imaginary records with the lexicon's frequencies, so that a space of three
  records behaves. The same shares with the lexicon's rarity alone do not depend on the space.
- the *joint* shares weigh a word by both, so that a word which the space lacks counts as missing only
  as far as it is rare in public too ("mean" in "what does E17 mean" is not).
- the cosine is also told as a z-score and a tail share against a sample of the space's vectors,
  shrunk towards typical values when the sample is small.
- gaps compare a record with the best other pooled record that is not its near duplicate.

Every feature is finite, and none depends on `limit`, on a threshold or on what is returned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.embedding.protocol import Vectors
from engine.retrieval.evidence.lexicon import lexicon
from engine.retrieval.evidence.question import Question, Wants
from engine.retrieval.evidence.reading import Reading

Matrix = NDArray[np.float64]

FEATURES: tuple[str, ...] = (
    "cosine",
    "cosine_z",
    "cosine_tail",
    "cosine_gap",
    "cosine_lead",
    "lexical_share",
    "lexical_gap",
    "coverage",
    "coverage_public",
    "coverage_joint",
    "coverage_gap",
    "support",
    "support_joint",
    "support_gap",
    "missing_top",
    "unsupported_top",
    "matched_top",
    "matched_mass",
    "unsupported_mass",
    "pairs",
    "run",
    "window",
    "reverse",
    "reverse_support",
    "identifiers_met",
    "identifiers_missing",
    "identifiers_only",
    "identifier_focus",
    "numbers_met",
    "numbers_missing",
    "names_met",
    "names_missing",
    "other_speaker",
    "negation_differs",
    "wants_met",
    "question_words",
    "record_words",
    "unknown_share",
    "latin_question",
    "latin_record",
    "asks",
    "space_size",
    "top_z",
    "top_spread",
    "dense_rank",
    "lexical_rank",
    "fused",
    "found_elsewhere",
    "missing_in_pool",
    "cosine_public_z",
    "neighbour_z",
    "top_mean",
    "record_asks",
    "same_form",
)

PRIOR_RECORDS = 50.0
PRIOR_SAMPLE = 20.0
TYPICAL_COSINE = 0.08
TYPICAL_SPREAD = 0.10
"""Mean and deviation of the cosine between unrelated English texts under the bundled embedder."""

TYPICAL_NEIGHBOURS = (0.55, 0.15)
"""Mean and deviation of a record's cosine to its nearest neighbour, in a space nothing is known of."""

_K1, _B = 1.2, 0.75
_SOFT_FROM, _SOFT_RANGE, _SOFT_CAP = 0.3, 0.55, 0.9
_WINDOW = 24
_DUPLICATE = 0.8
_RAREST = 11.5
_TELLING_SHARE = 50


@dataclass(frozen=True, slots=True)
class SpaceView:
    """Statistics of one space; `sample` holds some of its vectors, shape (n, d), n may be 0.

    `neighbours` are mean and deviation of a record's cosine to its nearest neighbour: how alike the
    records of this space are among themselves.
    """

    records: int
    average_length: float
    document_frequency: Mapping[str, int]
    sample: Vectors
    neighbours: tuple[float, float] = TYPICAL_NEIGHBOURS


@dataclass(frozen=True, slots=True)
class Weighed:
    """The question's content words with their weight in the space and in public, each (m,).

    `unknown` marks words that no record has, `telling` identifiers (and their parts) that at most
    one record in `_TELLING_SHARE` has: such a word says which record is meant.
    """

    terms: tuple[str, ...]
    weights: Matrix
    rarity: Matrix
    unknown: Matrix
    telling: Matrix

    @property
    def joint(self) -> Matrix:
        """Weight in the space, reduced for words that are common in public."""
        return self.weights * self.rarity / _RAREST


def nearest_neighbours(sample: Vectors) -> tuple[float, float]:
    """`SpaceView.neighbours` of a sample, shrunk to typical values when it is small."""
    size = len(sample)
    if size < 2:
        return TYPICAL_NEIGHBOURS
    cosines = sample @ sample.T
    np.fill_diagonal(cosines, -1.0)
    nearest = cosines.max(axis=1)
    share = size / (size + PRIOR_SAMPLE)
    mean = share * float(nearest.mean()) + (1 - share) * TYPICAL_NEIGHBOURS[0]
    return mean, share * float(nearest.std()) + (1 - share) * TYPICAL_NEIGHBOURS[1]


def weigh(question: Question, space: SpaceView) -> Weighed:
    """Weights of the question's words: smoothed IDF of the space, and public rarity."""
    known = lexicon()
    total = space.records + PRIOR_RECORDS
    weights, unknown, telling = [], [], []
    few = max(3.0, space.records / _TELLING_SHARE)
    for term in question.words:
        frequency = space.document_frequency.get(term, 0)
        telling.append(float(term in question.identifier_words and frequency <= few))
        smoothed = min(frequency + PRIOR_RECORDS * known.share(term), total)
        weights.append(math.log(1.0 + (total - smoothed + 0.5) / (smoothed + 0.5)))
        unknown.append(float(frequency == 0))
    rarity = [known.rarity(term) for term in question.words]
    return Weighed(question.words, np.array(weights), np.array(rarity), np.array(unknown), np.array(telling))


def match(terms: Sequence[str], readings: Sequence[Reading]) -> tuple[Matrix, Matrix]:
    """Exact and soft presence of each term in each passage, both (records, terms) in 0..1."""
    exact = np.array([[float(term in reading.counts) for term in terms] for reading in readings])
    known = lexicon()
    listed = [position for position, term in enumerate(terms) if term in known.rows]
    soft = exact.copy()
    if listed:
        asked = known.vectors[[known.rows[terms[position]] for position in listed]]
        for number, reading in enumerate(readings):
            if len(reading.rows):
                nearest = (asked @ known.vectors[reading.rows].T).max(axis=1)
                scaled = np.clip((nearest - _SOFT_FROM) / _SOFT_RANGE, 0.0, _SOFT_CAP)
                soft[number, listed] = np.maximum(exact[number, listed], scaled)
    return exact, soft


def table(
    question: Question,
    words: Weighed,
    exact: Matrix,
    soft: Matrix,
    readings: Sequence[Reading],
    dense: Matrix,
    fused: Matrix,
    space: SpaceView,
) -> Matrix:
    """All features, shape (records, len(FEATURES)). `dense` are cosines, `fused` the pool's scores."""
    columns: dict[str, Matrix | float] = {"cosine": dense, "fused": fused}
    columns |= _dense(question, dense, space)
    columns |= _words(words, exact, soft)
    columns["lexical_share"] = _lexical(words, readings, space)
    columns |= _order(question, words, readings)
    columns |= _particulars(question, words, readings)
    columns |= _pool(words, soft, dense, columns["lexical_share"])
    rivals = _rivals(readings)
    for gap, source in (
        ("cosine_gap", "cosine"),
        ("lexical_gap", "lexical_share"),
        ("coverage_gap", "coverage"),
        ("support_gap", "support"),
    ):
        values = np.asarray(columns[source])
        columns[gap] = values - np.where(rivals, values[None, :], 0.0).max(axis=1)
    rows = np.empty((len(dense), len(FEATURES)))
    for place, name in enumerate(FEATURES):
        rows[:, place] = columns[name]
    return rows


def _dense(question: Question, dense: Matrix, space: SpaceView) -> dict[str, Matrix | float]:
    size = len(space.sample)
    against = space.sample @ question.vector if size else np.zeros(0, np.float32)
    share = size / (size + PRIOR_SAMPLE)
    mean = share * float(against.mean() if size else 0.0) + (1 - share) * TYPICAL_COSINE
    spread = share * float(against.std() if size else 0.0) + (1 - share) * TYPICAL_SPREAD
    standard = (dense - mean) / max(spread, 0.02)
    above = (against[None, :] >= dense[:, None] - 1e-4).sum(axis=1)
    best = np.sort(dense)[::-1]
    public = lexicon().public
    public_mean, public_spread = TYPICAL_COSINE, TYPICAL_SPREAD
    if public.shape[1] == len(question.vector):
        against_public = public @ question.vector
        public_mean, public_spread = float(against_public.mean()), float(against_public.std())
    return {
        "cosine_public_z": (dense - public_mean) / max(public_spread, 0.02),
        "neighbour_z": (dense - space.neighbours[0]) / max(space.neighbours[1], 0.05),
        "top_mean": float(best[:5].mean()),
        "cosine_z": standard,
        "cosine_tail": -np.log10((above + 1.0) / (size + PRIOR_SAMPLE)),
        "cosine_lead": dense - best[1:6].mean() if len(best) > 1 else dense - mean,
        "top_z": float(standard.max()),
        "top_spread": float(best[0] - best[min(4, len(best) - 1)]),
        "space_size": math.log1p(space.records),
    }


def _words(words: Weighed, exact: Matrix, soft: Matrix) -> dict[str, Matrix | float]:
    total, public = max(float(words.weights.sum()), 1e-9), max(float(words.rarity.sum()), 1e-9)
    joint = words.joint / max(float(words.joint.sum()), 1e-9)
    return {
        "coverage": exact @ words.weights / total,
        "coverage_public": exact @ words.rarity / public,
        "coverage_joint": exact @ joint,
        "identifier_focus": float(words.telling @ joint),
        "support": soft @ words.weights / total,
        "support_joint": soft @ joint,
        "missing_top": ((1 - exact) * words.weights).max(axis=1) / max(float(words.weights.max()), 1e-9),
        "unsupported_top": ((1 - soft) * words.rarity).max(axis=1) / _RAREST,
        "matched_top": (exact * words.rarity).max(axis=1) / _RAREST,
        "matched_mass": np.log1p(exact @ words.rarity),
        "unsupported_mass": np.log1p((1 - soft) @ words.rarity),
        "question_words": math.log1p(len(words.terms)),
        "unknown_share": float(words.unknown @ words.weights) / total,
    }


def _lexical(words: Weighed, readings: Sequence[Reading], space: SpaceView) -> Matrix:
    """BM25 of each passage as a share of the highest value that the question can reach."""
    average = max(space.average_length, 1.0)
    counts = np.array([[reading.counts.get(term, 0) for term in words.terms] for reading in readings], dtype=np.float64)
    norms = np.array([_K1 * (1 - _B + _B * reading.length / average) for reading in readings])
    return np.asarray((counts / (counts + norms[:, None])) @ words.weights / max(float(words.weights.sum()), 1e-9))


def _order(question: Question, words: Weighed, readings: Sequence[Reading]) -> dict[str, Matrix | float]:
    """How well the question's order and closeness of words is kept, and how much of the record it says."""
    known = lexicon()
    pairs, runs, windows, reverse, reverse_support = [], [], [], [], []
    wanted = {term: position for position, term in enumerate(words.terms)}
    asked = known.vectors[[known.rows[term] for term in words.terms if term in known.rows]]
    weights, total = words.weights.tolist(), max(float(words.weights.sum()), 1e-9)
    for reading in readings:
        places = [(place, wanted[term]) for place, term in enumerate(reading.sequence) if term in wanted]
        pairs.append(_adjacent_pairs(places, len(words.terms)))
        runs.append(_longest_run(question.sequence, reading.sequence) / max(len(question.sequence), 1))
        windows.append(_best_window(places, weights) / total)
        near = (
            (known.vectors[reading.rows] @ asked.T).max(axis=1)
            if len(reading.rows) and len(asked)
            else np.zeros(len(reading.rows))
        )
        hints = np.clip((near - _SOFT_FROM) / _SOFT_RANGE, 0.0, _SOFT_CAP).tolist()
        rarities = {term: known.rarity(term) for term in reading.counts}
        mass = sum(rarities.values())
        said = sum(rarity for term, rarity in rarities.items() if term in wanted)
        hinted = sum(
            rarities[term] * hint for term, hint in zip(reading.listed, hints, strict=True) if term not in wanted
        )
        reverse.append(said / mass if mass else 0.0)
        reverse_support.append((said + hinted) / mass if mass else 0.0)
    return {
        "pairs": np.array(pairs),
        "run": np.array(runs),
        "window": np.array(windows),
        "reverse": np.array(reverse),
        "reverse_support": np.array(reverse_support),
    }


def _adjacent_pairs(places: Sequence[tuple[int, int]], count: int) -> float:
    """Share of the question's neighbouring content words that stand close and in order, 0..1."""
    if count < 2:
        return 1.0 if places else 0.0
    found = {
        first
        for (place, first), (next_place, second) in pairwise(places)
        if second == first + 1 and next_place - place <= 3
    }
    return len(found) / (count - 1)


def _longest_run(question: Sequence[str], passage: Sequence[str]) -> int:
    """Length of the longest run of terms that both texts hold."""
    best = 0
    lengths: dict[int, int] = {}
    positions: dict[str, list[int]] = {}
    for place, term in enumerate(question):
        positions.setdefault(term, []).append(place)
    for term in passage:
        following: dict[int, int] = {}
        for place in positions.get(term, ()):
            following[place] = lengths.get(place - 1, 0) + 1
            best = max(best, following[place])
        lengths = following
    return best


def _best_window(places: Sequence[tuple[int, int]], weights: Sequence[float]) -> float:
    """Largest summed weight of distinct question words within `_WINDOW` neighbouring terms."""
    best = 0.0
    for start, (place, _) in enumerate(places):
        inside = {word for at, word in places[start : start + _WINDOW] if at - place < _WINDOW}
        best = max(best, sum(weights[word] for word in inside))
    return best


def _particulars(question: Question, words: Weighed, readings: Sequence[Reading]) -> dict[str, Matrix | float]:
    """Identifiers, numbers, names, negation and the kind of answer."""
    known = lexicon()
    name_mass = {name: known.rarity(name) for name in question.names}
    all_names = max(sum(name_mass.values()), 1e-9)
    rows = []
    for reading in readings:
        found_ids = len(question.identifiers & reading.identifiers)
        found_numbers = len(question.numbers & (reading.numbers | reading.counts.keys()))
        found_names = sum(mass for name, mass in name_mass.items() if name in reading.counts)
        missing_names = (all_names - found_names) / all_names if name_mass else 0.0
        rows.append(
            (
                found_ids / len(question.identifiers) if question.identifiers else 0.0,
                float(len(question.identifiers) - found_ids),
                found_numbers / len(question.numbers) if question.numbers else 0.0,
                float(len(question.numbers) - found_numbers),
                found_names / all_names if name_mass else 0.0,
                missing_names,
                float(missing_names > 0 and reading.speaker is not None and reading.speaker not in question.sequence),
                float(question.negated != reading.negated),
                _wants_met(question, reading),
                math.log1p(reading.length),
                reading.latin,
                float(reading.asks),
                float(reading.asks == question.asks),
            )
        )
    names = (
        "identifiers_met",
        "identifiers_missing",
        "numbers_met",
        "numbers_missing",
        "names_met",
        "names_missing",
        "other_speaker",
        "negation_differs",
        "wants_met",
        "record_words",
        "latin_record",
        "record_asks",
        "same_form",
    )
    columns: dict[str, Matrix | float] = dict(zip(names, np.array(rows, dtype=np.float64).T, strict=True))
    return columns | {
        "latin_question": question.latin,
        "asks": float(question.asks),
        "identifiers_only": float(question.only_identifiers),
    }


def _wants_met(question: Question, reading: Reading) -> float:
    """1 if the passage holds the kind of answer asked for beyond the question's own words, 0 if not, 0.5 if open."""
    match question.wants:
        case Wants.QUANTITY:
            return float(bool(reading.numbers - question.numbers) or reading.counts_quantity)
        case Wants.TIME:
            return float(reading.dated or bool(reading.numbers - question.numbers))
        case Wants.PERSON | Wants.PLACE:
            return float(bool(reading.names - question.names))
        case Wants.OTHER:
            return 0.5


def _pool(words: Weighed, soft: Matrix, dense: Matrix, lexical: Matrix | float) -> dict[str, Matrix | float]:
    """What the pool knows beyond the single record."""
    total = max(float(words.weights.sum()), 1e-9)
    best_soft = soft.max(axis=0)
    lexical_scores = np.asarray(lexical)
    return {
        "found_elsewhere": (best_soft[None, :] - soft) @ words.weights / total,
        "missing_in_pool": float((1 - best_soft) @ words.weights) / total,
        "dense_rank": 1.0 / (1.0 + (dense[None, :] > dense[:, None]).sum(axis=1)),
        "lexical_rank": 1.0 / (1.0 + (lexical_scores[None, :] > lexical_scores[:, None]).sum(axis=1)),
    }


def _rivals(readings: Sequence[Reading]) -> NDArray[np.bool_]:
    """Which other records count as rivals of a record: all that do not say nearly the same."""
    column = {term: place for place, term in enumerate({term for reading in readings for term in reading.counts})}
    holds = np.zeros((len(readings), len(column)))
    for row, reading in enumerate(readings):
        holds[row, [column[term] for term in reading.counts]] = 1.0
    sizes, common = holds.sum(axis=1), holds @ holds.T
    union = sizes[:, None] + sizes[None, :] - common
    alike = common / np.maximum(union, 1.0) >= _DUPLICATE
    np.fill_diagonal(alike, True)
    return np.asarray(~alike)
