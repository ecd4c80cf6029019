"""`kill -9` during a bulk import, again and again on one folder: is anything lost, doubled or out of step?

    python -m benchmarks.crash --rounds 10

A process of its own imports batches and tells each batch's numbers after the engine has
acknowledged it; it is killed at a random moment. The folder is then opened again and checked:

* every acknowledged record is there exactly once, by listing all records;
* an unacknowledged batch is there whole or not at all, and at most once;
* the records of the last acknowledged batch, and some others, are found by search, once each;
* `doctor` finds index and truth equal.

Vectors are synthetic: with the real model nearly all kills would fall into the embedder, where
nothing is at stake. Everything else is the engine as shipped, its background flush made frequent.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.synthetic import SyntheticEmbedder, Writer
from engine.domain.access import Principal
from engine.domain.memory import NewMemory
from engine.domain.outcome import Matches
from engine.domain.query import ListQuery, Mode, Query
from engine.engine import Engine
from engine.settings import Settings
from engine.store import outbox
from engine.store.database import Database
from engine.upkeep.folder import Folder

BATCH = 50
FLUSH_SECONDS = 0.05
SEARCHED = 25
KILL_AFTER_SECONDS = (0.05, 2.0)
_ROUND_SPAN = 1_000_000
_PAGE = 1000

console = Console(width=None if sys.stdout.isatty() else 110)


@dataclass(frozen=True, slots=True)
class Left:
    """What was found after a kill. `faults` are sentences; none means that all was well."""

    unacknowledged: frozenset[int]
    outbox_rows: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """One kill: when, how many records were told, how many more were committed, and what was wrong."""

    after_seconds: float
    acknowledged: int
    untold: int
    outbox_rows: int
    faults: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rounds; exit code 1 if any found a fault."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10, help="how often to kill (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="repeat the moments of an earlier run")
    parser.add_argument("--import-into", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.import_into:
        import_forever(options.import_into, options.first)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory(prefix="memvouch-crash-") as folder:
        rounds = list(run(Path(folder), options.rounds, seed))
    console.print(_table(rounds, seed))
    return 1 if any(each.faults for each in rounds) else 0


def run(folder: Path, rounds: int, seed: int) -> Iterator[Round]:
    """Kill and check `rounds` times on one folder."""
    chance = random.Random(seed)
    acknowledged: set[int] = set()
    for number in range(rounds):
        after_seconds = chance.uniform(*KILL_AFTER_SECONDS)
        first = number * _ROUND_SPAN
        fresh = _import_until_killed(folder, first, after_seconds)
        acknowledged |= set(fresh)
        left = _check(folder, acknowledged, fresh, chance)
        untold = sum(each >= first for each in left.unacknowledged)
        yield Round(after_seconds, len(fresh), untold, left.outbox_rows, left.faults)


def import_forever(folder: Path, first: int) -> None:
    """The process that is killed: import batches and tell which were acknowledged."""
    writer = Writer(first)
    with _engine(folder) as engine:
        owner = engine.local_owner()
        print("ready", flush=True)
        while True:
            numbers = range(first, first + BATCH)
            engine.remember_many(owner, [_draft(number, writer.text()) for number in numbers])
            print(first, flush=True)
            first += BATCH


def _import_until_killed(folder: Path, first: int, after_seconds: float) -> list[int]:
    """Numbers of the records that were acknowledged before the kill."""
    command = [sys.executable, "-m", "benchmarks.crash", "--import-into", str(folder), "--first", str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the importing process ended before it began; see its error above")
        time.sleep(after_seconds)
        process.kill()
        told = process.stdout.read()
    whole_lines = told[: told.rfind("\n") + 1].split()
    return [number for line in whole_lines for number in range(int(line), int(line) + BATCH)]


def _check(folder: Path, acknowledged: set[int], fresh: list[int], chance: random.Random) -> Left:
    outbox_rows = _outbox_rows(folder)
    with _engine(folder) as engine:
        owner = engine.local_owner()
        stored = Counter(_listed(engine, owner))
        faults = []
        if lost := acknowledged - stored.keys():
            faults.append(f"{len(lost)} acknowledged records lost, such as {min(lost)}")
        if doubled := [number for number, times in stored.items() if times > 1]:
            faults.append(f"{len(doubled)} records stored twice, such as {min(doubled)}")
        extra = stored.keys() - acknowledged
        if len(extra) % BATCH:
            faults.append(f"a batch is there in part: {len(extra)} records beyond the acknowledged ones")
        searched = fresh[-BATCH:] + chance.sample(sorted(acknowledged), min(SEARCHED, len(acknowledged)))
        faults += [fault for number in searched if (fault := _search_fault(engine, owner, number))]
        report = engine.doctor()
        if not report.equal:
            faults.append(f"index and truth differ: {len(report.missing)} missing, {len(report.orphaned)} orphaned")
    return Left(frozenset(extra), outbox_rows, tuple(faults))


def _outbox_rows(folder: Path) -> int:
    """How many changes the killed process had not yet seen made durable in the index."""
    with closing(Database.open(_url(folder))) as database, database.reading() as connection:
        return outbox.count(connection)


def _listed(engine: Engine, owner: Principal) -> Iterator[int]:
    """The number of every record that the engine lists."""
    offset: int | None = 0
    while offset is not None:
        page = engine.list_memories(owner, ListQuery(limit=_PAGE, offset=offset))
        yield from (_number(memory.content) for memory in page.memories)
        offset = page.next_offset


def _search_fault(engine: Engine, owner: Principal, number: int) -> str | None:
    outcome = engine.search(owner, Query(text=_label(number), mode=Mode.FORGIVING, limit=20))
    hits = outcome.hits if isinstance(outcome, Matches) else ()
    times = sum(_number(hit.memory.content) == number for hit in hits)
    return None if times == 1 else f"{_label(number)} found {times} times by search"


def _draft(number: int, text: str) -> NewMemory:
    return NewMemory(content=f"{_label(number)}: {text}", path=f"import/{number // BATCH % 7}")


def _label(number: int) -> str:
    return f"REC-{number:08d}X"


def _number(content: str) -> int:
    return int(content[4:12])


@contextmanager
def _engine(folder: Path) -> Iterator[Engine]:
    """The engine over synthetic vectors, with a background flush that kills are likely to meet."""
    settings = Settings(data_dir=folder, flush_seconds=FLUSH_SECONDS)
    held = Folder.open(folder)
    with Engine(settings, held, Database.open(_url(folder)), SyntheticEmbedder(), for_reindex=False) as engine:
        yield engine


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / 'memvouch.db'}"


def _table(rounds: Sequence[Round], seed: int) -> Table:
    table = Table(title=f"kill -9 during a bulk import, {len(rounds)} times (seed {seed})")
    for column in ("killed after, s", "acknowledged", "committed, not yet told", "outbox rows left", "faults"):
        table.add_column(column, justify="right")
    for each in rounds:
        cells = (f"{each.after_seconds:.2f}", each.acknowledged, each.untold, each.outbox_rows)
        table.add_row(*map(str, cells), "; ".join(each.faults) or "none")
    return table


if __name__ == "__main__":
    sys.exit(main())
