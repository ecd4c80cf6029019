"""Many clients on one host at once: errors, lost writes, latencies, and what HTTP costs over the engine.

    python -m benchmarks.load --records 50000 --clients 50 --seconds 60

A folder is filled with synthetic vectors and served by a real `memvouch serve` process. First one
client alone asks questions: the host logs how long its engine calls ran, and the rest of what the
client waited is the server's own overhead. Then all clients ask and write (four to one), each as
soon as it has its answer. In the end every acknowledged write is read back.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.speed_parts import fill
from benchmarks.synthetic import Writer

READ_SHARE = 0.8
ALONE = 300
WARM_UP = 30
START_SECONDS = 120
SEARCH = "search"

console = Console(width=None if sys.stdout.isatty() else 110)


@dataclass(slots=True)
class Tally:
    """What one client saw: seconds by kind, statuses that were not 200, ids of acknowledged writes."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"read": [], "write": []})
    failures: Counter[str] = field(default_factory=Counter)
    written: list[str] = field(default_factory=list)


class Client:
    """One keep-alive connection. Plain `http.client`, so that the load costs little beside the server."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, question: str, request_id: str = "") -> int:
        """The status of one strict search."""
        return self._send("GET", f"/v1/memories/search?limit=5&query={quote(question)}", None, request_id)[0]

    def remember(self, text: str) -> tuple[int, str]:
        """Status and id of one write."""
        status, body = self._send("POST", "/v1/remember", json.dumps({"content": text, "path": "load"}), "")
        return status, json.loads(body)["id"] if status == 200 else ""

    def holds(self, memory_id: str) -> bool:
        """Whether a record can be read."""
        return self._send("GET", f"/v1/memories/{memory_id}", None, "")[0] == 200

    def close(self) -> None:
        self._connection.close()

    def _send(self, method: str, path: str, body: str | None, request_id: str) -> tuple[int, bytes]:
        headers = {**self._headers, "X-Request-ID": request_id} if request_id else self._headers
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if a request failed or a write was lost."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="memvouch-load-", dir=options.folder) as name:
        folder = Path(name)
        fill(folder, options.records)
        with _host(folder) as url:
            token = (folder / "owner.token").read_text(encoding="ascii").strip()
            waited = _alone(url, token)
            tallies, wall = _together(url, token, options.clients, options.seconds)
            lost = _lost(url, token, tallies)
        overhead = _overheads(folder / "host.log", waited)
    failures = sum((tally.failures for tally in tallies), Counter[str]())
    _show(options, tallies, wall, failures, lost, overhead)
    return 1 if failures or lost else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", type=int, default=50_000, help="records in the folder (%(default)s)")
    parser.add_argument("--clients", type=int, default=50, help="clients at once (%(default)s)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (%(default)s)")
    parser.add_argument("--folder", type=Path, help="where to put the data folder (the system's temporary folder)")
    return parser.parse_args(arguments)


@contextmanager
def _host(folder: Path) -> Iterator[str]:
    """A serving process; its log goes to `host.log` in the folder."""
    command = [sys.executable, "-m", "cli.main", "serve", "--port", "0", "--data-dir", str(folder)]
    with (folder / "host.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield _await_url(folder, process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def _await_url(folder: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return str(json.loads((folder / "host.json").read_text(encoding="utf-8"))["url"])
        except (FileNotFoundError, ValueError):
            time.sleep(0.1)
    raise RuntimeError(f"the host did not come up; see {folder / 'host.log'}")


def _alone(url: str, token: str) -> dict[str, float]:
    """Milliseconds that a single client waited, by request id."""
    writer, client = Writer(11), Client(url, token)
    for _ in range(WARM_UP):
        client.ask(writer.query())
    waited = {}
    for number in range(ALONE):
        question, request_id = writer.query(), f"alone-{number}"
        started = time.perf_counter()
        client.ask(question, request_id)
        waited[request_id] = (time.perf_counter() - started) * 1000
    client.close()
    return waited


def _overheads(log: Path, waited: dict[str, float]) -> list[float]:
    """Milliseconds beyond the search itself: the network, HTTP, JSON, authentication, the way to the thread."""
    found = []
    for line in log.read_text(encoding="utf-8").splitlines():
        if '"alone-' in line:
            entry = json.loads(line)
            found.append(waited[entry["request_id"]] - entry["calls"][SEARCH])
    return found


def _together(url: str, token: str, clients: int, seconds: float) -> tuple[list[Tally], float]:
    tallies = [Tally() for _ in range(clients)]
    started = time.monotonic()
    threads = [
        threading.Thread(target=_work, args=(url, token, number, started + seconds, tally))
        for number, tally in enumerate(tallies)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies, time.monotonic() - started


def _work(url: str, token: str, number: int, deadline: float, tally: Tally) -> None:
    """One client: asks and writes until the time is over."""
    writer, chance, client = Writer(1000 + number), random.Random(number), Client(url, token)
    while time.monotonic() < deadline:
        kind = "read" if chance.random() < READ_SHARE else "write"
        text = writer.query() if kind == "read" else f"{writer.text()} ({number}-{chance.random()})"
        started = time.perf_counter()
        try:
            status, memory_id = (client.ask(text), "") if kind == "read" else client.remember(text)
        except (OSError, http.client.HTTPException) as error:
            tally.failures[f"{kind}: {type(error).__name__}"] += 1
            client.close()
            continue
        tally.seconds[kind].append(time.perf_counter() - started)
        if status != 200:
            tally.failures[f"{kind}: {status}"] += 1
        elif memory_id:
            tally.written.append(memory_id)
    client.close()


def _lost(url: str, token: str, tallies: Sequence[Tally]) -> int:
    client = Client(url, token)
    lost = sum(not client.holds(memory_id) for tally in tallies for memory_id in tally.written)
    client.close()
    return lost


def _show(
    options: argparse.Namespace,
    tallies: Sequence[Tally],
    wall: float,
    failures: Counter[str],
    lost: int,
    overhead: Sequence[float],
) -> None:
    table = Table(
        title=f"{options.clients} clients, {wall:.0f} s, {options.records:,} records", title_justify="left", box=None
    )
    for heading in ("requests", "count", "a second", "p50 ms", "p95 ms", "p99 ms"):
        table.add_column(heading, justify="left" if heading == "requests" else "right")
    for kind in ("read", "write"):
        seconds = [each for tally in tallies for each in tally.seconds[kind]]
        shares = np.percentile(seconds, (50, 95, 99)) * 1000 if seconds else (0.0, 0.0, 0.0)
        table.add_row(kind, f"{len(seconds):,}", f"{len(seconds) / wall:.1f}", *(f"{each:.0f}" for each in shares))
    console.print(table)
    written = sum(len(tally.written) for tally in tallies)
    console.print(f"failures: {dict(failures) or 'none'}; acknowledged writes: {written:,}, lost: {lost}")
    median, upper = np.percentile(overhead, (50, 95))
    console.print(f"overhead of the server over the engine call: p50 {median:.2f} ms, p95 {upper:.2f} ms")


if __name__ == "__main__":
    sys.exit(main())
