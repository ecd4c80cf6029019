"""A lock that threads pass in the order in which they came.

`threading.Lock` wakes whichever waiter the scheduler likes, so one writer of many can starve until
SQLite's busy timeout ends its wait with an error. Here each waiter holds a ticket of its own, and
whoever leaves hands over to the oldest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident


class TurnTimeoutError(Exception):
    """The turn did not come in time."""


class Turnstile:
    """First come, first served; not reentrant: a thread that waits for itself is told so at once."""

    def __init__(self) -> None:
        self._door = Lock()
        self._waiting: deque[Lock] = deque()
        self._taken = False
        self._holder: int | None = None

    @contextmanager
    def turn(self, timeout_seconds: float) -> Iterator[None]:
        """Hold the turn. Raises `TurnTimeoutError`, or `RuntimeError` when this thread holds it already."""
        if self._holder == get_ident():
            raise RuntimeError("writing() does not nest: pass the open connection on instead")
        self._enter(timeout_seconds)
        self._holder = get_ident()
        try:
            yield
        finally:
            self._holder = None
            self._leave()

    def _enter(self, timeout_seconds: float) -> None:
        with self._door:
            if not self._taken:
                self._taken = True
                return
            ticket = Lock()
            ticket.acquire()
            self._waiting.append(ticket)
        if ticket.acquire(timeout=timeout_seconds):
            return
        with self._door:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                raise TurnTimeoutError
        # The turn was handed over between the timeout and the door: it is ours after all.

    def _leave(self) -> None:
        with self._door:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
