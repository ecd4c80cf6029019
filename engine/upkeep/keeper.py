"""The background thread of an open engine: flush, retry, sweep, count accesses.

It wakes every `interval` seconds. A failure is logged and tried again at the next turn; it never
ends the thread, and `close` does everything once more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from engine.errors import MemvouchError

log = structlog.get_logger(__name__)

SWEEP_SECONDS = 30.0


class Keeper:
    """Runs `flush` every turn and `sweep` every half minute until closed."""

    def __init__(self, interval_seconds: float, flush: Callable[[], None], sweep: Callable[[], None]) -> None:
        self._interval = interval_seconds
        self._flush = flush
        self._sweep = sweep
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memvouch-keeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop the thread and do its work a last time; what fails now raises."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._flush()

    def _run(self) -> None:
        swept_at = time.monotonic()
        while not self._stop.wait(self._interval):
            self._attempt("flush", self._flush)
            if time.monotonic() - swept_at >= SWEEP_SECONDS:
                swept_at = time.monotonic()
                self._attempt("sweep", self._sweep)

    def _attempt(self, duty: str, work: Callable[[], None]) -> None:
        try:
            work()
        except MemvouchError as error:
            log.warning("keeper_failed", duty=duty, error=str(error))
