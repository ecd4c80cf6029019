"""Engine calls from async routes: a bounded pool of threads and a deadline.

The engine is synchronous. A call waits in line for a thread and runs in it; when the deadline comes
first, a waiting call is dropped before it starts, a running one is left to end by itself while the
caller gets a 503. Its thread stays taken until then, so the number of threads is a true bound.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from api.envelope import note_call
from engine.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """The threads in which one host runs engine calls."""

    def __init__(self, threads: int, timeout_seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="memvouch")
        self._timeout_seconds = timeout_seconds

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread. Raises what it raises, or `Unavailable` past the deadline."""
        context = contextvars.copy_context()
        waiting = self._pool.submit(context.run, _timed, partial(function, *args, **kwargs))
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await asyncio.wrap_future(waiting)
        except TimeoutError as error:
            if waiting.done() and not waiting.cancelled():
                raise
            raise Unavailable(
                f"No answer within {self._timeout_seconds:g} seconds. Repeat a write with the same idempotency key: "
                "its outcome is unknown.",
                retry_after_seconds=1.0,
            ) from error

    def close(self) -> None:
        """Wait for running calls to end; calls that have not started are dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _timed(call: partial[T]) -> T:
    """Run a call and note for the log how long it ran, without its time in line."""
    started = time.perf_counter()
    try:
        return call()
    finally:
        note_call(getattr(call.func, "__name__", "call"), time.perf_counter() - started)
