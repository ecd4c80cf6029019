"""Print the figures of `docs/strictness.md`, and write them and its pictures there.

    python -m benchmarks.strictness --cache /var/tmp/memvouch-fit --write-docs

Needs the extra `fit` and the shared folder (`MEMVOUCH_SHARED`). Tables of evidence come from the
cache that `benchmarks.fit_calibration` fills; models are fitted here, so that each set is judged by
one that never saw it. Ten fits of each kind; about a minute a fit on one core, and some minutes for
the identifier lookups, which open a real engine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.fit_calibration import FIT_SETS, FUSION_WEIGHT, PROMISED, REMOVED, REPORT_ONLY, Workroom
from benchmarks.shared_data import NOT_ENGLISH, shared_folder
from benchmarks.strictness import gates, identifiers, pictures, tables
from benchmarks.strictness.gates import Fits, judged
from benchmarks.strictness.sheet import Sheet, written
from engine.retrieval.calibration.calibrator import Calibrator

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "strictness.md"
PARTS = ("gates", "sets", "points", "order", "removal", "identifiers", "pictures")
TREES, LOGISTIC = "boosted trees (Memvouch)", "logistic regression"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the parts that are asked for; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.strictness",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--shared", type=Path, default=shared_folder())
    parser.add_argument("--cache", type=Path, default=Path("/var/tmp/memvouch-fit"))
    parser.add_argument("--only", metavar="PARTS", default=",".join(PARTS), help="separated by commas (%(default)s)")
    parser.add_argument("--write-docs", action="store_true", help="put the tables and pictures into docs/")
    options = parser.parse_args(arguments)
    parts = options.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")
    for sheet in _sheets(options.shared, options.cache, parts, DOCUMENT.parent / "pictures"):
        print(f"\n{sheet.name}\n{sheet.markdown()}", flush=True)
        if options.write_docs:
            DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8"), [sheet]), "utf-8")
    return 0


def _sheets(shared: Path, cache: Path, parts: Sequence[str], folder: Path) -> Iterator[Sheet]:
    if "identifiers" in parts:
        yield identifiers.lookups(shared)
    if parts == ["identifiers"]:
        return
    room = Workroom(shared, cache)
    synthetic, allowed = room.synthetic(), [room.evaluation(name) for name in FIT_SETS]
    every = [*allowed, *(room.evaluation(name) for name in REPORT_ONLY)]
    promised = [table for table in every if table.name in PROMISED]
    thresholds = Calibrator.load(room.embedder.id).thresholds
    trees = Fits(gates.trees, synthetic, allowed)
    if "removal" in parts:
        pairs = [(room.evaluation(name), room.evaluation(name, without_gold=True)) for name in REMOVED]
        yield tables.removal(trees, pairs, thresholds["default"])
    if {"sets", "order"} & set(parts):
        unseen = [judged(trees.unseen(table.name), table) for table in every]
        if "sets" in parts:
            yield tables.by_set(unseen, thresholds["default"], PROMISED, NOT_ENGLISH)
        if "order" in parts:
            yield tables.order(unseen, FUSION_WEIGHT)
    if {"points", "pictures"} & set(parts):
        unseen = [judged(trees.unseen(table.name), table) for table in promised]
        if "points" in parts:
            yield tables.operating_points(unseen, thresholds)
        if "pictures" in parts:
            bare = {name: [judged(gates.BARE[name], table) for table in promised] for name in pictures.COMPARED}
            pictures.draw(folder, unseen, bare, thresholds)
    if "gates" in parts:
        kinds = {LOGISTIC: Fits(gates.logistic_regression, synthetic, allowed), TREES: trees}
        yield tables.comparison(kinds, promised)


if __name__ == "__main__":
    raise SystemExit(main())
