"""Fit the shipped calibration models (`benchmarks.strictness` says how they do on unseen sets).

    python -m benchmarks.fit_calibration --cache /var/tmp/memvouch-fit

Needs the extra `fit` (scikit-learn) and the shared folder (`MEMVOUCH_SHARED`). Steps:

1. Tables of evidence: of synthetic spaces made from the training groups, of spaces of identifiers,
   and of the evaluation sets whose licence allows fitting. Vectors and tables are kept in `--cache`.
2. A gradient-boosted sum of small trees on few features, with monotone constraints (more support
   never lowers a confidence), and another one for questions that are not in English. Every set
   weighs the same, and in it answerable and unanswerable questions weigh the same: distribution shift
   between kinds of spaces is the enemy. The splits are evaluated with soft edges
   (`engine.retrieval.calibration.trees`).
3. Every evaluation set is judged by a model that never saw it; these confidences give the named
   thresholds.

Sets marked non-commercial or without a licence are only ever reported on. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks import figures
from benchmarks.evidence_tables import Table, tabulate
from benchmarks.identifier_spaces import identifier_spaces
from benchmarks.shared_data import load, shared_folder
from benchmarks.stored_trees import stored_trees
from benchmarks.synthetic_spaces import IDENTIFIER_SET, Question, SyntheticSpace, sets_of, spaces_of
from benchmarks.vector_cache import VectorCache
from engine.embedding.bundled import BundledEmbedder
from engine.retrieval.calibration.calibrator import LEXICAL_ONLY, MODELS, under_rules
from engine.retrieval.calibration.languages import TreesByLanguage
from engine.retrieval.evidence.features import FEATURES
from engine.text.analysis import ANALYSIS_VERSION

FIT_SETS = {
    "banking77_oos": "CC BY 4.0 (in-scope part only)",
    "clinc150": "CC BY 3.0",
    "jsquad_ja": "CC BY-SA 4.0",
    "nl2bash": "MIT",
    "precisionmembench": "MIT",
    "scifact": "CC BY 4.0, ODC-By 1.0",
    "squad2_dev": "CC BY-SA 4.0",
    "tldr_pages": "CC BY 4.0",
    "ts_diagnostics": "Apache-2.0",
    "xquad": "CC BY-SA 4.0",
}
REPORT_ONLY = (
    *("pairs_en", "locomo_obs", "locomo", "beam_100k", "cisi", "cranfield", "negconstraint", "npl"),
    *("realmem", "scifact_antonym", "memdaily_zh"),
)
REMOVED = ("locomo", "squad2_dev", "scifact")
"""Sets whose answerable questions are asked again with their answers left out."""

RELATED = {"squad2_dev": ("xquad",), "xquad": ("squad2_dev",)}
"""Sets that share texts: XQuAD's paragraphs are from the development part of SQuAD."""

PROMISED = (
    *("banking77_oos", "clinc150", "pairs_en", "squad2_dev", "tldr_pages", "ts_diagnostics"),
    *("scifact", "nl2bash", "locomo_obs"),
)

SIGNS = {
    "cosine": 1,
    "cosine_gap": 1,
    "neighbour_z": 1,
    "coverage": 1,
    "coverage_public": 1,
    "support": 1,
    "lexical_share": 1,
    "missing_top": -1,
    "unsupported_top": -1,
    "unsupported_mass": -1,
    "window": 1,
    "pairs": 1,
    "names_missing": -1,
    "numbers_met": 1,
    "numbers_missing": -1,
    "identifiers_met": 1,
    "identifiers_only": 0,
    "asks": 0,
}
"""The features of the shipped model and the direction in which each may move a confidence."""

NO_COSINE = {name: sign for name, sign in SIGNS.items() if name not in ("cosine", "cosine_gap", "neighbour_z")}
NO_COSINE["lexical_gap"] = 1
"""What is left for an embedder of which nothing is known: the margin to the next record is that of its words."""

FOREIGN = {
    name: sign
    for name, sign in NO_COSINE.items()
    if name not in ("support", "unsupported_top", "unsupported_mass", "names_missing")
}
"""What says anything of a question that is not in English: no word vector, no capital."""

QUESTIONS_PER_SET = 700
RECORDS_PER_QUESTION = 5
LEAST_QUESTIONS = 60
"""A set with fewer foreign questions adds noise to their sum."""

TREES, LEAVES, LEARNING_RATE, L2, LEAST_ROWS = 150, 8, 0.08, 20.0, 60
WIDTH = 0.8
"""How soft a split is, as a share of its feature's standard deviation."""

_ROWS_AT_ONCE = 1000
SEED = 20261130
OPERATING_POINTS = {"lenient": 0.15, "default": 0.05, "strict": 0.01}
"""Macro false-match rates, on questions of tier B, that the named thresholds are set to."""

FUSION_WEIGHT = 4.0


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted model in its stored form, and as the engine evaluates it."""

    stored: dict[str, Any]
    trees: TreesByLanguage

    def confidence(self, table: Table) -> NDArray[np.float64]:
        """Probabilities under the rules, shape (n, POOL); 0 where there is no record."""
        flat = table.features.reshape(-1, len(FEATURES)).astype(np.float64)
        parts = np.array_split(flat, max(1, len(flat) // _ROWS_AT_ONCE))
        fitted = 1 / (1 + np.exp(-np.concatenate([self.trees.score(part) for part in parts])))
        return np.where(table.present, under_rules(fitted, flat).reshape(table.present.shape), 0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, report, write; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=shared_folder())
    parser.add_argument("--cache", type=Path, default=Path("/var/tmp/memvouch-fit"))
    options = parser.parse_args(arguments)
    room = Workroom(options.shared, options.cache)
    synthetic = room.synthetic()
    allowed = [room.evaluation(name) for name in FIT_SETS]
    embedder_id = room.embedder.id
    for name, signs, owner in (("minilm_int8", SIGNS, embedder_id), (LEXICAL_ONLY, NO_COSINE, LEXICAL_ONLY)):
        stored = fit_stored(synthetic, allowed, signs, owner)
        (MODELS / f"{name}.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n", "utf-8")
        print(name, stored["thresholds"], stored["provenance"]["figures"])
    return 0


class Workroom:
    """Where tables come from: made once, then read from the cache."""

    def __init__(self, shared: Path, cache: Path) -> None:
        self._shared, self._tables = shared, cache / "tables"
        self._tables.mkdir(parents=True, exist_ok=True)
        self.embedder = BundledEmbedder(threads=1)
        self._cache = VectorCache(self.embedder, cache)

    def synthetic(self) -> list[Table]:
        """Tables of all training sets and of the identifier spaces."""
        train = self._shared / "train"
        names = sets_of(train)
        tables = [self._table(f"train-{name}", spaces_of(train, name)) for name in names]
        texts: list[str] = []
        for name in names:
            records = [text for space in spaces_of(train, name) for text in space.records.values()]
            texts += random.Random(SEED).sample(records, 16)
        tables.append(self._table(IDENTIFIER_SET, identifier_spaces(texts)))
        tables[-1].weight = 3.0
        return tables

    def evaluation(self, name: str, *, without_gold: bool = False) -> Table:
        """The table of an evaluation set, of at most `QUESTIONS_PER_SET` questions."""
        narrowed = load(self._shared / "data", name).narrowed(QUESTIONS_PER_SET)
        spaces = []
        for space_id, memories in narrowed.by_space().items():
            space = SyntheticSpace({memory.id: memory.text for memory in memories})
            space.times = {memory.id: memory.time for memory in memories if memory.time}
            asked = [query for query in narrowed.queries if query.space == space_id]
            space.questions = [Question(query.text, query.gold, query.tier, "evaluation") for query in asked]
            spaces.append(space)
        return self._table(name, spaces, without_gold=without_gold)

    def _table(self, name: str, spaces: Sequence[SyntheticSpace], *, without_gold: bool = False) -> Table:
        path = self._tables / f"{name}{'-without-gold' if without_gold else ''}.npz"
        if path.exists():
            with np.load(path) as kept:
                if list(kept["names"]) == list(FEATURES):
                    return Table(name, *(kept[key] for key in ("features", "gold", "present", "answerable", "tier")))
        table = tabulate(name, spaces, self._cache, self.embedder.count_tokens, without_gold=without_gold)
        np.savez(
            path,
            names=np.array(FEATURES),
            features=table.features,
            gold=table.gold,
            present=table.present,
            answerable=table.answerable,
            tier=table.tier,
        )
        print(f"{name}: {len(table.answerable)} questions", flush=True)
        return table


def fit(tables: Sequence[Table], signs: dict[str, int]) -> Fitted:
    """Fit both sums of trees: one on all questions, one on the foreign ones, or the same if there are none."""
    english = _fit_trees(tables, signs)
    parts = [table.part(table.foreign) for table in tables]
    parts = [part for part in parts if len(part.answerable) >= LEAST_QUESTIONS]
    stored = {"english": english, "foreign": _fit_trees(parts, FOREIGN) if parts else english}
    return Fitted(stored, TreesByLanguage.load(stored))


def _fit_trees(tables: Sequence[Table], signs: dict[str, int]) -> dict[str, Any]:
    features, gold, weight = rows_to_fit(tables, tuple(signs))
    classifier = HistGradientBoostingClassifier(
        max_iter=TREES,
        learning_rate=LEARNING_RATE,
        max_leaf_nodes=LEAVES,
        l2_regularization=L2,
        min_samples_leaf=LEAST_ROWS,
        monotonic_cst=list(signs.values()),
        early_stopping=False,
        random_state=SEED,
    )
    classifier.fit(features, gold, sample_weight=weight)
    return stored_trees(classifier, tuple(signs), WIDTH * np.maximum(features.std(axis=0), 1e-3))


def rows_to_fit(
    tables: Sequence[Table], names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Features, whether they answer, and weights of the first records of every pool and all that answer."""
    rows, gold, weights = [], [], []
    for table in tables:
        scored = table.tier != "C"
        chosen = table.present & scored[:, None]
        chosen &= (np.arange(chosen.shape[1]) < RECORDS_PER_QUESTION)[None, :] | table.gold
        answerable, absent = table.answerable & scored, ~table.answerable & scored
        each = np.where(answerable, 1 / max(answerable.sum(), 1), 1 / max(absent.sum(), 1)) * table.weight
        rows.append(table.features[chosen][:, columns(names)])
        gold.append(table.gold[chosen])
        weights.append(np.broadcast_to(each[:, None], chosen.shape)[chosen])
    weight = np.concatenate(weights)
    return np.concatenate(rows).astype(np.float64), np.concatenate(gold), weight / weight.mean()


def fit_stored(
    synthetic: Sequence[Table], allowed: Sequence[Table], signs: dict[str, int], embedder_id: str
) -> dict[str, Any]:
    """The shipped form of a model: trees, scale, thresholds by sets left out, provenance."""
    unseen = left_out(synthetic, allowed, allowed, signs)
    tables = [*synthetic, *(fit_part(table) for table in allowed)]
    fitted = fit(tables, signs)
    log_odds = np.linspace(-8.0, 8.0, 65)
    thresholds = {name: figures.threshold_for(unseen, "B", rate) for name, rate in OPERATING_POINTS.items()}
    return {
        "embedder": embedder_id,
        "analysis_version": ANALYSIS_VERSION,
        "model": fitted.stored,
        "scale": {
            "log_odds": [round(float(value), 4) for value in log_odds],
            "confidence": [round(float(1 / (1 + np.exp(-value))), 6) for value in log_odds],
        },
        "fusion_weight": FUSION_WEIGHT,
        "thresholds": thresholds,
        "provenance": {
            "made_by": "benchmarks/fit_calibration.py",
            "seed": SEED,
            "sets": [table.name for table in tables],
            "licences": {**FIT_SETS, "train-*": "see the README of the training groups: permissive or CC BY(-SA)"},
            "figures": figures.summary(unseen, thresholds["default"]),
            "figures_are": "macro over the evaluation sets above, each judged by a model that never saw it",
        },
    }


def left_out(
    synthetic: Sequence[Table], allowed: Sequence[Table], judged: Sequence[Table], signs: dict[str, int]
) -> list[figures.Judged]:
    """Confidences of every judged table by a model that never saw its set."""
    found = []
    for table in judged:
        seen = (table.name, *RELATED.get(table.name, ()))
        rest = [fit_part(each) for each in allowed if each.name not in seen]
        found.append((table, fit([*synthetic, *rest], signs).confidence(table)))
    return found


def fit_part(table: Table) -> Table:
    """What may be fitted of an allowed set: all of it, but of BANKING77 only what is in scope."""
    part = table.part(table.answerable) if table.name == "banking77_oos" else table
    part.weight = 2.0
    return part


def columns(names: Sequence[str]) -> list[int]:
    """Places of the named features in a table."""
    return [FEATURES.index(name) for name in names]


if __name__ == "__main__":
    raise SystemExit(main())
