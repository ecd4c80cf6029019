"""How well the engine retrieves and how honestly it declines, on the evaluation sets.

    python -m benchmarks.quality --sets locomo,squad2_dev --limit-queries 200 --baselines

Every set gets a fresh engine at the settings of the environment (the defaults, unless `MEMVOUCH_*`
says otherwise). Predictions go to a file that the shared scorer reads; its table is printed, then
the figures that the project promises, and with `--baselines` the same figures of bare signals.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from benchmarks import baselines, predictions
from benchmarks.scoring import Scorer, Scores
from benchmarks.shared_data import NOT_ENGLISH, EvaluationSet, Row, load, set_names, shared_folder
from engine.embedding.factory import create as create_embedder
from engine.settings import Settings

ENGINE = "Memvouch"
PROMISED_SIX = ("banking77_oos", "clinc150", "pairs_en", "squad2_dev", "tldr_pages", "ts_diagnostics")
SMOKE_SETS = ("precisionmembench", "banking77_oos", "clinc150", "pairs_en", "scifact_antonym", "ts_diagnostics")
SMOKE_QUERIES = 30

console = Console(width=None if sys.stdout.isatty() else 120)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    options = _options(arguments)
    names = options.sets.split(",") if options.sets else list(SMOKE_SETS) if options.smoke else set_names(options.data)
    limit = SMOKE_QUERIES if options.smoke and options.limit_queries is None else options.limit_queries
    scorer = Scorer(options.scorer)
    evaluations = [load(options.data, name).narrowed(limit) for name in names]
    rows = _predict(evaluations, options.out)
    systems = {ENGINE: scorer.score(evaluations, rows)}
    if options.baselines:
        found = _baselines(evaluations)
        systems |= {system: scorer.score(evaluations, found[system]) for system in baselines.SYSTEMS}
    table = [sys.executable, str(scorer.script), str(options.out), "--data", str(options.data)]
    subprocess.run(table, check=True)
    english = [name for name in names if name not in NOT_ENGLISH]
    console.print(_promises(systems, english))
    if options.baselines:
        console.print(_per_set(systems, names, english))
        console.print(_thresholds(scorer, systems, english))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    shared = shared_folder()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=shared / "data", help="folder of the sets (%(default)s)")
    parser.add_argument("--scorer", type=Path, default=shared / "eval" / "score.py", help="the scorer (%(default)s)")
    parser.add_argument("--sets", help="names of sets, separated by commas (all)")
    parser.add_argument("--limit-queries", type=int, metavar="N", help="at most N queries of every set (all)")
    parser.add_argument("--out", type=Path, default=Path("predictions.jsonl"), help="predictions file (%(default)s)")
    parser.add_argument("--baselines", action="store_true", help="measure bare cosine, bare BM25 and their mix too")
    parser.add_argument("--smoke", action="store_true", help="a few small sets and queries, within three minutes")
    return parser.parse_args(arguments)


def _predict(evaluations: Sequence[EvaluationSet], out: Path) -> list[Row]:
    rows = []
    with out.open("w", encoding="utf-8") as file, _progress() as progress:
        for evaluation in evaluations:
            for row in predictions.predict(evaluation, _bar(progress, evaluation)):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                rows.append(row)
    return rows


def _baselines(evaluations: Sequence[EvaluationSet]) -> dict[str, list[Row]]:
    embedder = create_embedder(Settings())
    rows: dict[str, list[Row]] = {system: [] for system in baselines.SYSTEMS}
    with _progress() as progress:
        for evaluation in evaluations:
            for system, row in baselines.predict(evaluation, embedder, _bar(progress, evaluation)):
                rows[system].append(row)
    return rows


def _progress() -> Progress:
    columns = (TextColumn("{task.description:20}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True))


def _bar(progress: Progress, evaluation: EvaluationSet) -> Callable[[int], None]:
    task = progress.add_task(evaluation.name, total=len(evaluation.memories) + len(evaluation.queries))
    return lambda done: progress.advance(task, done)


def _promises(systems: dict[str, Scores], english: Sequence[str]) -> Table:
    """What the project promises of these sets, beside what was measured; over the sets that were run."""
    scores = systems[ENGINE]
    table = Table(title="Promised and measured (default settings)")
    for column in ("figure", "promised", "measured", "kept"):
        table.add_column(column)
    six = [name for name in PROMISED_SIX if name in scores.sets]
    rows: list[tuple[str, float | None, float, bool]] = [
        (f"recall hit@5, mean of {len(six)} of 6 sets", scores.macro("recall", "hit@5", six), 0.83, True),
        ("recall hit@5, locomo", scores.macro("recall", "hit@5", ["locomo"]), 0.66, True),
        ("strict FMR tier A, English sets", scores.macro("strict", "fmr_a", english), 0.02, False),
        ("strict FMR, English sets", scores.macro("strict", "fmr", english), 0.15, False),
    ]
    for name, value, target, at_least in rows:
        if value is not None:
            kept = value >= target if at_least else value <= target
            table.add_row(name, f"{'>=' if at_least else '<='} {target}", f"{value:.3f}", "yes" if kept else "NO")
    if baselines.MIX in systems:
        behind = [name for name in english if _recall(scores, name) < _recall(systems[baselines.MIX], name)]
        kept_mark = "NO" if behind else "yes"
        table.add_row("recall hit@5 below the plain mix", "on no set", ", ".join(behind) or "-", kept_mark)
    table.add_row(
        "strict hit@5, English sets", "as high as it gets", _show(scores.macro("strict", "hit@5", english)), ""
    )
    table.add_row("strict AUROC, English sets", "", _show(scores.macro("strict", "auroc", english)), "")
    table.add_row("strict ECE, English sets", "", _show(scores.macro("strict", "ece", english)), "")
    return table


def _per_set(systems: dict[str, Scores], names: Sequence[str], english: Sequence[str]) -> Table:
    table = Table(title="Engine and baselines in the same run")
    table.add_column("set", no_wrap=True)
    for figure in ("hit@5", "AUROC"):
        for system in systems:
            table.add_column(f"{figure}\n{system}", justify="right")
    for label, members in [*((name, [name]) for name in names), ("MACRO", names), ("MACRO English", english)]:
        hits = [scores.macro("recall", "hit@5", members) for scores in systems.values()]
        areas = [scores.macro("strict", "auroc", members) for scores in systems.values()]
        table.add_row(label, *map(_show, hits), *map(_show, areas), style="bold" if len(members) > 1 else "")
    return table


def _thresholds(scorer: Scorer, systems: dict[str, Scores], english: Sequence[str]) -> Table:
    """Strict hit@5 where all systems let equally few unanswerable queries through."""
    engine_fmr = systems[ENGINE].macro("strict", "fmr", english) or 0.0
    table = Table(title="Strict mode by one common threshold, English sets")
    table.add_column("system")
    targets = (("FMR <= 0.05", 0.05), (f"FMR <= {engine_fmr:.3f} (the engine's default)", engine_fmr))
    for title, _ in targets:
        table.add_column(f"hit@5 at\n{title}", justify="right")
    for system, scores in systems.items():
        found = [scorer.sweep(scores, english, fmr) for _, fmr in targets]
        table.add_row(system, *(f"{each.hit5:.3f} (at {each.threshold:.3f})" if each else "-" for each in found))
    table.add_row(f"{ENGINE}, as shipped", "", _show(systems[ENGINE].macro("strict", "hit@5", english)))
    return table


def _recall(scores: Scores, name: str) -> float:
    return scores.figure(name, "recall", "hit@5") or 0.0


def _show(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    sys.exit(main())
