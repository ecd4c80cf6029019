"""Many agents on one folder, and its host killed under them: what is lost, what is done twice, how long calls take.

    python -m benchmarks.hosts --agents 8 --rounds 200 --kills 3

Every agent is a real `memvouch mcp` process. In each round it does one of five things by turns:
remember, search for what it has just stored, write its working state, forget a note, recall. Now
and then the host is killed with SIGKILL. In the end every acknowledged write must be there, every
forgotten note gone, nothing twice, and truth and index equal.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.table import Table

from engine.domain.memory import Memory
from engine.domain.query import ListQuery
from engine.engine import Engine
from engine.settings import Settings

FIRST_KILL_SECONDS = 5.0
PAUSE_SECONDS = 10.0

console = Console(width=None if sys.stdout.isatty() else 110)


@dataclass(slots=True)
class Tally:
    """What one agent did: seconds of its calls, errors by text, ids of what must be there and must be gone."""

    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    kept: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)


class Agent:
    """One `memvouch mcp` process."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "MEMVOUCH_IN_PROCESS"}
        self._tally = tally
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "mcp", "--profile", "claude", "--data-dir", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._process.communicate(timeout=60)

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        """The structured answer; empty, and counted, if the call failed."""
        params = {"name": tool, "arguments": given}
        started = time.perf_counter()
        assert self._process.stdin is not None and self._process.stdout is not None
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        result: dict[str, Any] = json.loads(self._process.stdout.readline())["result"]
        self._tally.seconds.append(time.perf_counter() - started)
        if result["isError"]:
            self._tally.errors[f"{tool}: {result['content'][0]['text'][:120]}"] += 1
            return {}
        answer: dict[str, Any] = result["structuredContent"]
        return answer


def work(folder: Path, number: int, rounds: int, tally: Tally) -> None:
    """One agent's rounds."""
    with Agent(folder, tally) as agent:
        for each in range(rounds):
            text = f"Agent {number} counted {each * 7} herons at weir {number}-{each}."
            match each % 5:
                case 0:
                    tally.kept |= {agent.call("remember", content=text, path=f"herons/{number}").get("id", "")}
                case 1:
                    agent.call("search_memory", query=f"How many herons at weir {number}-{each - 1}?")
                case 2:
                    agent.call("update_state", current_task=text, scope=f"agent-{number}")
                case 3:
                    note = agent.call("remember", content=f"Note: {text}", path="notes").get("id", "")
                    if note and agent.call("forget", target=note):
                        tally.gone |= {note}
                case _:
                    agent.call("recall", query="herons at the weir")
    tally.kept -= {""}


def kill_now_and_then(folder: Path, kills: int, over: threading.Event) -> int:
    """Kill the folder's host; how often it was there to be killed."""
    done = 0
    over.wait(FIRST_KILL_SECONDS)
    while done < kills and not over.is_set():
        try:
            os.kill(json.loads((folder / "host.json").read_text(encoding="utf-8"))["pid"], signal.SIGKILL)
            done += 1
        except (FileNotFoundError, ProcessLookupError):
            pass
        over.wait(PAUSE_SECONDS)
    return done


def examine(folder: Path, tallies: Sequence[Tally]) -> dict[str, int]:
    """What is wrong with the folder in the end; all zeros is right."""
    kept = set().union(*(tally.kept for tally in tallies))
    gone = set().union(*(tally.gone for tally in tallies))
    with Engine.open(Settings(data_dir=folder)) as engine:
        me = engine.local_owner()
        found: list[Memory] = []
        offset = 0
        while True:
            page = engine.list_memories(me, ListQuery(limit=500, offset=offset))
            found += page.memories
            if page.next_offset is None:
                break
            offset = page.next_offset
        ids = {memory.id for memory in found}
        texts = Counter(memory.content for memory in found if memory.path.startswith("herons/"))
        return {
            "lost writes": len(kept - ids),
            "forgotten but there": len(gone & ids),
            "written twice": sum(count - 1 for count in texts.values()),
            "truth and index differ": int(not engine.doctor().equal),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memvouch-hosts-") as name:
        folder = Path(name)
        tallies = [Tally() for _ in range(options.agents)]
        threads = [
            threading.Thread(target=work, args=(folder, number, options.rounds, tally))
            for number, tally in enumerate(tallies)
        ]
        over, killed = threading.Event(), [0]
        killer = threading.Thread(target=lambda: killed.__setitem__(0, kill_now_and_then(folder, options.kills, over)))
        started = time.perf_counter()
        for thread in (*threads, killer):
            thread.start()
        for thread in threads:
            thread.join()
        over.set()
        killer.join()
        wall = time.perf_counter() - started
        stop(folder)
        report(tallies, examine(folder, tallies), wall, killed[0])


def stop(folder: Path) -> None:
    """End the host in order, so that the folder is free."""
    try:
        pid = json.loads((folder / "host.json").read_text(encoding="utf-8"))["pid"]
        os.kill(pid, signal.SIGTERM)
    except (FileNotFoundError, ProcessLookupError):
        return
    while (folder / "host.json").exists():
        time.sleep(0.1)
    time.sleep(1.0)


def report(tallies: Sequence[Tally], wrong: dict[str, int], wall: float, killed: int) -> None:
    seconds = sorted(second for tally in tallies for second in tally.seconds)
    errors = sum((tally.errors for tally in tallies), Counter[str]())
    table = Table(box=None, show_header=False)
    table.add_row("calls", f"{len(seconds)} by {len(tallies)} agents in {wall:.0f} s, {killed} times killed")
    table.add_row(
        "median, p95, worst", ", ".join(f"{seconds[int(len(seconds) * q)]:.3f} s" for q in (0.5, 0.95, 0.9999))
    )
    table.add_row("failed calls", str(errors.total()))
    for text, count in errors.most_common(5):
        table.add_row("", f"{count} x {text}")
    for what, count in wrong.items():
        table.add_row(what, str(count))
    console.print(table)


if __name__ == "__main__":
    main()
