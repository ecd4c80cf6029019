"""The measures that evidence is made of, in units that mean the same in every space.

For a question with content words `t` of weight `w(t)` and a record's passage:

- *exact* `E(t)` is 1 if the passage holds the term; *soft* `S(t)` is the best word similarity
  (lexicon vectors) between `t` and the passage's words, 1 where exact.
- *coverage* is `sum w E / sum w`, *support* `sum w S / sum w`. `w` is the IDF in the space, smoothed
  by `PRIOR_RECORDS` imaginary records with the lexicon's frequencies, so that a space of three
  records behaves. The same shares with the lexicon's rarity alone do not depend on the space.
- *identifier focus* weighs a word by both, so that a word which the space lacks counts only as far as
  it is rare in public too ("mean" in "what does E17 mean" is not).
- the cosine is also told as a z-score against a sample of the space's vectors, and against what is
  usual between the space's own neighbours, both shrunk towards typical values when the sample is small.
- the gaps compare a record with the best other pooled record that is not its near duplicate.
- *foreign* says how little the question looks like English, by its letters and words.

Measures that brought nothing on spaces never seen are not here: docs/strictness.md names them.

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
from engine.retrieval.evidence.question import Question
from engine.retrieval.evidence.reading import Reading

Matrix = NDArray[np.float64]

FEATURES: tuple[str, ...] = (
    "cosine",
    "cosine_gap",
    "cosine_z",
    "neighbour_z",
    "coverage",
    "coverage_public",
    "support",
    "lexical_share",
    "lexical_gap",
    "missing_top",
    "unsupported_top",
    "unsupported_mass",
    "pairs",
    "window",
    "verbatim",
    "identifiers_met",
    "identifiers_missing",
    "identifiers_only",
    "identifier_focus",
    "numbers_met",
    "numbers_missing",
    "names_missing",
    "asks",
    "foreign",
    "fused",
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

    `telling` marks identifiers (and their parts) that at most one record in `_TELLING_SHARE` has: such
    a word says which record is meant.
    """

    terms: tuple[str, ...]
    weights: Matrix
    rarity: Matrix
    telling: Matrix


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
    weights, telling = [], []
    few = max(3.0, space.records / _TELLING_SHARE)
    for term in question.words:
        frequency = space.document_frequency.get(term, 0)
        telling.append(float(term in question.identifier_words and frequency <= few))
        smoothed = min(frequency + PRIOR_RECORDS * known.share(term), total)
        weights.append(math.log(1.0 + (total - smoothed + 0.5) / (smoothed + 0.5)))
    rarity = [known.rarity(term) for term in question.words]
    return Weighed(question.words, np.array(weights), np.array(rarity), np.array(telling))


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
    columns |= _particulars(question, readings)
    rivals = _rivals(readings)
    for gap, measure in (("cosine_gap", "cosine"), ("lexical_gap", "lexical_share")):
        values = np.asarray(columns[measure])
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
    return {
        "cosine_z": (dense - mean) / max(spread, 0.02),
        "neighbour_z": (dense - space.neighbours[0]) / max(space.neighbours[1], 0.05),
    }


def _words(words: Weighed, exact: Matrix, soft: Matrix) -> dict[str, Matrix | float]:
    total, public = max(float(words.weights.sum()), 1e-9), max(float(words.rarity.sum()), 1e-9)
    joint = words.weights * words.rarity
    return {
        "coverage": exact @ words.weights / total,
        "coverage_public": exact @ words.rarity / public,
        "identifier_focus": float(words.telling @ joint) / max(float(joint.sum()), 1e-9),
        "support": soft @ words.weights / total,
        "missing_top": ((1 - exact) * words.weights).max(axis=1) / max(float(words.weights.max()), 1e-9),
        "unsupported_top": ((1 - soft) * words.rarity).max(axis=1) / _RAREST,
        "unsupported_mass": np.log1p((1 - soft) @ words.rarity),
    }


def _lexical(words: Weighed, readings: Sequence[Reading], space: SpaceView) -> Matrix:
    """BM25 of each passage as a share of the highest value that the question can reach."""
    average = max(space.average_length, 1.0)
    counts = np.array([[reading.counts.get(term, 0) for term in words.terms] for reading in readings], dtype=np.float64)
    norms = np.array([_K1 * (1 - _B + _B * reading.length / average) for reading in readings])
    return np.asarray((counts / (counts + norms[:, None])) @ words.weights / max(float(words.weights.sum()), 1e-9))


def _order(question: Question, words: Weighed, readings: Sequence[Reading]) -> dict[str, Matrix | float]:
    """How well the question's order and closeness of words is kept, and whether the passage says just the same."""
    wanted = {term: position for position, term in enumerate(words.terms)}
    weights, total = words.weights.tolist(), max(float(words.weights.sum()), 1e-9)
    asked = frozenset(question.sequence)
    pairs, windows, verbatim = [], [], []
    for reading in readings:
        places = [(place, wanted[term]) for place, term in enumerate(reading.sequence) if term in wanted]
        pairs.append(_adjacent_pairs(places, len(words.terms)))
        windows.append(_best_window(places, weights) / total)
        verbatim.append(float(reading.counts.keys() <= asked and _holds_run(reading.sequence, question.sequence)))
    return {"pairs": np.array(pairs), "window": np.array(windows), "verbatim": np.array(verbatim)}


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


def _holds_run(passage: tuple[str, ...], question: tuple[str, ...]) -> bool:
    """Whether the question's terms stand in the passage one after the other."""
    size = len(question)
    return any(passage[start : start + size] == question for start in range(len(passage) - size + 1))


def _best_window(places: Sequence[tuple[int, int]], weights: Sequence[float]) -> float:
    """Largest summed weight of distinct question words within `_WINDOW` neighbouring terms."""
    best = 0.0
    for start, (place, _) in enumerate(places):
        inside = {word for at, word in places[start : start + _WINDOW] if at - place < _WINDOW}
        best = max(best, sum(weights[word] for word in inside))
    return best


def _particulars(question: Question, readings: Sequence[Reading]) -> dict[str, Matrix | float]:
    """Identifiers, numbers and names of the question that a passage has or lacks."""
    known = lexicon()
    name_mass = {name: known.rarity(name) for name in question.names}
    all_names = max(sum(name_mass.values()), 1e-9)
    identifiers, numbers, names = [], [], []
    for reading in readings:
        identifiers.append(len(question.identifiers & reading.identifiers))
        numbers.append(len(question.numbers & (reading.numbers | reading.counts.keys())))
        names.append(sum(mass for name, mass in name_mass.items() if name not in reading.counts))
    met, found = np.array(identifiers, np.float64), np.array(numbers, np.float64)
    return {
        "identifiers_met": met / max(len(question.identifiers), 1),
        "identifiers_missing": len(question.identifiers) - met,
        "identifiers_only": float(question.only_identifiers),
        "numbers_met": found / max(len(question.numbers), 1),
        "numbers_missing": len(question.numbers) - found,
        "names_missing": np.array(names) / all_names,
        "asks": float(question.asks),
        "foreign": question.foreign,
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
