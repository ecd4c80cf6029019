"""How fast the engine answers, next to what physics asks, on folders of given sizes.

    python -m benchmarks.speed --records 10000,100000

Every size gets a new folder with one space, filled with synthetic vectors; queries and writes are
measured with the real embedder, after a warm-up. In the same run the floor is measured: one query
embedding, one float32 matrix-vector product over the same vectors, one read by primary key.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.speed_parts import VERBS, Figures

STARTS = 3

console = Console(width=None if sys.stdout.isatty() else 110)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    options = _options(arguments)
    sizes = [int(size) for size in options.records.split(",")]
    measured = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="memvouch-speed-", dir=options.folder) as folder:
            measured[size] = _measure(Path(folder), size)
    console.print(_latency_table(measured))
    console.print(_cost_table(measured))
    console.print(_promise_table(measured))
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", default="10000,100000", help="sizes, separated by commas (%(default)s)")
    parser.add_argument("--folder", type=Path, help="where to put the data folders (the system's temporary folder)")
    parser.add_argument("--json", type=Path, help="write all figures to this file, in seconds and bytes")
    return parser.parse_args(arguments)


def _measure(folder: Path, size: int) -> Figures:
    figures: Figures = {}
    for part in ("fill", "floor", "legs", "serve", "bulk"):
        console.print(f"[dim]{size:,}: {part}[/dim]", highlight=False)
        figures |= _run(part, folder, size)
    starts = [_start(folder) for _ in range(STARTS)]
    return figures | {name: statistics.median(each[name] for each in starts) for name in starts[0]}


def _run(part: str, folder: Path, size: int) -> Figures:
    """One part in a process of its own. Raises `CalledProcessError` when it fails."""
    command = [sys.executable, "-m", "benchmarks.speed_parts", part, str(folder), str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _start(folder: Path) -> Figures:
    """From starting a process to its first answer."""
    command = [sys.executable, "-m", "benchmarks.first_answer", str(folder)]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        answered = time.perf_counter() - begun
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    inside: Figures = json.loads(line)
    return inside | {"start_seconds": answered}


def _latency_table(measured: dict[int, Figures]) -> Table:
    table = Table(title="Milliseconds, p50 / p95")
    table.add_column("call")
    for size in measured:
        table.add_column(f"{size:,} records", justify="right")

    def row(label: str, name: str) -> None:
        table.add_row(
            label, *(f"{_ms(each, name + '_p50')} / {_ms(each, name + '_p95')}" for each in measured.values())
        )

    for concurrency in (1, 4):
        for verb in VERBS:
            row(f"{verb}, {concurrency} at a time", f"{verb}_{concurrency}")
    row("one write (remember)", "write")
    return table


def _cost_table(measured: dict[int, Figures]) -> Table:
    table = Table(title="Parts of a search (p50), the floor, and costs")
    table.add_column("figure")
    for size in measured:
        table.add_column(f"{size:,} records", justify="right")
    for label, name in (
        ("search: query embedding", "leg_embedding_p50"),
        ("search: dense leg", "leg_dense_p50"),
        ("search: lexical leg", "leg_lexical_p50"),
        ("search: store reads, evidence, policy", "leg_rest_p50"),
        ("floor: one query embedding", "floor_embedding_p50"),
        ("floor: one matrix-vector product", "floor_product_p50"),
        ("floor: one primary-key read", "floor_key_read_p50"),
    ):
        table.add_row(f"{label}, ms", *(_ms(each, name) for each in measured.values()))
    for label, name, unit, digits in (
        ("process start to first answer, s", "start_seconds", 1.0, 2),
        ("  of it opening the folder, s", "open_seconds", 1.0, 2),
        ("  of it the first answer, s", "first_answer_seconds", 1.0, 2),
        ("bulk import, records/s", "bulk_records_per_second", 1.0, 0),
        ("  share of its time in the embedder, %", "bulk_share_embedding", 0.01, 1),
        ("fill with ready vectors, records/s", "fill_records_per_second", 1.0, 0),
        ("resident memory, MB", "resident_bytes", 1e6, 0),
        ("disk, MB", "disk_bytes", 1e6, 0),
    ):
        table.add_row(label, *(f"{each[name] / unit:,.{digits}f}" for each in measured.values()))
    return table


def _promise_table(measured: dict[int, Figures]) -> Table:
    """The project's promises at the largest size."""
    size = max(measured)
    figures = measured[size]
    floor = figures["floor_embedding_p50"] + figures["floor_product_p50"]
    slowest = max(figures["leg_dense_p50"], figures["leg_lexical_p50"])
    table = Table(title=f"Promised and measured at {size:,} records")
    for column in ("figure", "promised", "measured", "kept"):
        table.add_column(column)
    for label, promised, value, kept in (
        (
            "search_memory p50 over embedding + product",
            "<= 3.0",
            f"{figures['search_memory_1_p50'] / floor:.2f}",
            figures["search_memory_1_p50"] <= 3 * floor,
        ),
        ("slowest leg but the embedding, p50", "<= 10 ms", f"{slowest * 1e3:.1f} ms", slowest <= 0.010),
        ("start to first answer", "<= 2 s", f"{figures['start_seconds']:.2f} s", figures["start_seconds"] <= 2),
        (
            "share of a bulk import in the embedder",
            ">= 85 %",
            f"{figures['bulk_share_embedding']:.1%}",
            figures["bulk_share_embedding"] >= 0.85,
        ),
    ):
        table.add_row(label, promised, value, "yes" if kept else "NO")
    return table


def _ms(figures: Figures, name: str) -> str:
    return f"{figures[name] * 1e3:,.2f}"


if __name__ == "__main__":
    sys.exit(main())
