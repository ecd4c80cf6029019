"""The parts of the speed benchmark, each run in a process of its own on one data folder.

    python -m benchmarks.speed_parts PART FOLDER RECORDS

prints one JSON object of figures as its last line: seconds, bytes, records per second, shares. A
process each, because resident memory and start-up mean nothing in a process that did other work.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.rooms import Rooms, Stopwatch, TimedEmbedder, TimedIndex, open_rooms
from benchmarks.synthetic import SyntheticEmbedder, Writer
from engine.domain.access import Principal
from engine.domain.memory import NewMemory
from engine.domain.query import ContextQuery, Mode, Query
from engine.embedding.bundled import BundledEmbedder
from engine.engine import Engine
from engine.index.protocol import Index
from engine.settings import Settings

Figures: TypeAlias = dict[str, float]

FILL_BATCH = 500
QUERIES = 200
WARM_UP = 20
SINGLE_WRITES = 100
BULK_WRITES = 1000
BULK_BATCH = 200
VERBS = ("search_memory", "recall", "recall_context")


def fill(folder: Path, records: int) -> Figures:
    """Store `records` texts with synthetic vectors through the writing room."""
    writer = Writer()
    console = Console(stderr=True)
    started = time.perf_counter()
    with open_rooms(folder, SyntheticEmbedder()) as rooms:
        rememberer = rooms.rememberer()
        for start in track(range(0, records, FILL_BATCH), f"fill {records:,}", console=console):
            count = min(FILL_BATCH, records - start)
            news = [NewMemory(content=writer.text(), path=f"notes/{(start + place) % 97}") for place in range(count)]
            rememberer.remember(rooms.owner, news, datetime.now(UTC))
            rooms.applier.flush()
    return {"fill_records_per_second": records / (time.perf_counter() - started), "disk_bytes": _disk_bytes(folder)}


def serve(folder: Path, _records: int) -> Figures:
    """Latency of the three verbs at concurrency 1 and 4, of single writes, and resident memory."""
    figures: Figures = {}
    writer = Writer(3)
    with Engine.open(Settings(data_dir=folder)) as engine:
        owner = engine.local_owner()
        verbs = _verbs(engine, owner)
        for call in verbs.values():
            _latencies(call, [writer.query() for _ in range(WARM_UP)], 1)
        for concurrency in (1, 4):
            for verb, call in verbs.items():
                seconds = _latencies(call, [writer.query() for _ in range(QUERIES)], concurrency)
                figures |= _percentiles(f"{verb}_{concurrency}", seconds)
        figures["resident_bytes"] = _resident_bytes()
        figures |= _percentiles(
            "write",
            _latencies(
                lambda text: engine.remember(owner, NewMemory(content=text)),
                [writer.text() for _ in range(SINGLE_WRITES)],
                1,
            ),
        )
    return figures


def bulk(folder: Path, _records: int) -> Figures:
    """Records per second of a bulk import with the real embedder, and its share of the time."""
    writer, watch = Writer(4), Stopwatch()
    embedder = BundledEmbedder()
    embedder.warm_up()
    with open_rooms(folder, TimedEmbedder(embedder, watch)) as rooms:
        rememberer = rooms.rememberer()
        started = time.perf_counter()
        for _ in range(0, BULK_WRITES, BULK_BATCH):
            news = [NewMemory(content=writer.text(), path="import/notes") for _ in range(BULK_BATCH)]
            rememberer.remember(rooms.owner, news, datetime.now(UTC))
        wall = time.perf_counter() - started
    return {
        "bulk_records_per_second": BULK_WRITES / wall,
        "bulk_share_embedding": watch.total("documents", "count") / wall,
    }


def legs(folder: Path, _records: int) -> Figures:
    """Where the time of a strict search goes: embedding, each leg, and all the rest."""
    writer, watch = Writer(5), Stopwatch()
    per_query: dict[str, list[float]] = {name: [] for name in ("embedding", "dense", "lexical", "rest")}
    with open_rooms(folder, TimedEmbedder(BundledEmbedder(), watch)) as rooms:
        searcher = rooms.searcher(cast(Index, TimedIndex(rooms.index, watch)))
        for turn in range(WARM_UP + QUERIES):
            watch.seconds.clear()
            query = Query(text=writer.query())
            watch.time("all", searcher.search, rooms.owner, query, datetime.now(UTC))
            if turn >= WARM_UP:
                spent = {"embedding": watch.total("query", "count"), "dense": watch.total("dense")}
                spent["lexical"] = watch.total("lexical")
                spent["rest"] = watch.total("all") - sum(spent.values())
                for name, seconds in spent.items():
                    per_query[name].append(seconds)
    return {f"leg_{name}_p50": float(np.median(seconds)) for name, seconds in per_query.items()}


def floor(folder: Path, records: int) -> Figures:
    """What physics asks: one embedding, one product with all vectors, one read by primary key; medians."""
    writer = Writer(6)
    embedder = BundledEmbedder()
    queries = [writer.query() for _ in range(WARM_UP + QUERIES)]
    embedding = _latencies(embedder.embed_query, queries, 1)[WARM_UP:]
    vector = embedder.embed_query(queries[0])
    with open_rooms(folder, SyntheticEmbedder()) as rooms:
        matrix = np.ascontiguousarray(
            rooms.index.sample_vectors(rooms.space_id, datetime.now(UTC), records), np.float32
        )
        ids = _some_ids(rooms)
    product = _latencies(lambda _: matrix @ vector, queries, 1)[WARM_UP:]
    with closing(sqlite3.connect(folder / "memvouch.db")) as connection:
        statement = "SELECT content FROM memories WHERE id = ?"
        read = _latencies(lambda found: connection.execute(statement, (found,)).fetchone(), ids, 1)
    return {
        "floor_embedding_p50": float(np.median(embedding)),
        "floor_product_p50": float(np.median(product)),
        "floor_vectors": float(len(matrix)),
        "floor_key_read_p50": float(np.median(read)),
    }


def _verbs(engine: Engine, owner: Principal) -> dict[str, Callable[[str], object]]:
    calls: tuple[Callable[[str], object], ...] = (
        lambda text: engine.search(owner, Query(text=text)),
        lambda text: engine.search(owner, Query(text=text, mode=Mode.FORGIVING)),
        lambda text: engine.recall_context(owner, ContextQuery(query=Query(text=text))),
    )
    return dict(zip(VERBS, calls, strict=True))


def _latencies(call: Callable[[str], object], texts: Sequence[str], concurrency: int) -> list[float]:
    """Seconds of each call, `concurrency` of them at a time."""

    def timed(text: str) -> float:
        begun = time.perf_counter()
        call(text)
        return time.perf_counter() - begun

    if concurrency == 1:
        return [timed(text) for text in texts]
    with ThreadPoolExecutor(concurrency) as pool:
        return list(pool.map(timed, texts))


def _percentiles(name: str, seconds: Sequence[float]) -> Figures:
    return {f"{name}_p{part}": float(np.percentile(seconds, part)) for part in (50, 95)}


def _some_ids(rooms: Rooms) -> list[str]:
    return sorted(rooms.index.record_ids(rooms.space_id))[:: max(1, rooms.index.info().points // QUERIES)]


def _disk_bytes(folder: Path) -> float:
    """Blocks in use: the index's files are sparse, their lengths would count holes."""
    return float(sum(path.stat().st_blocks * 512 for path in _files(folder)))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _resident_bytes() -> float:
    """Resident set of this process now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


PARTS: dict[str, Callable[[Path, int], Figures]] = {
    "fill": fill,
    "serve": serve,
    "bulk": bulk,
    "legs": legs,
    "floor": floor,
}


def main() -> None:
    """Run one part and print its figures."""
    part, folder, records = sys.argv[1:]
    print(json.dumps(PARTS[part](Path(folder), int(records))))


if __name__ == "__main__":
    main()
