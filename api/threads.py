"""Engine calls from async routes: a bounded pool of threads and a deadline.

The engine is synchronous. A call waits in line for a thread and runs in it. One that gets none in time
is dropped before it starts, so that the line never grows longer than what the threads can do in that
time; its caller is told to come back. When the deadline comes first, a running call is left to end by
itself while the caller gets a 503. Its thread stays taken until then, so the number of threads is a
true bound.
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

    def __init__(self, threads: int, timeout_seconds: float, queue_seconds: float) -> None:
        """A call waits at most `queue_seconds` for a thread, and `timeout_seconds` for its answer in all."""
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="memvouch")
        self._timeout_seconds = timeout_seconds
        self._queue_seconds = min(queue_seconds, timeout_seconds)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread. Raises what it raises, or `Unavailable` when none is free or it is too late."""
        context = contextvars.copy_context()
        waiting = self._pool.submit(context.run, _timed, partial(function, *args, **kwargs))
        answer = asyncio.wrap_future(waiting)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                done, _ = await asyncio.wait({answer}, timeout=self._queue_seconds)
                # A call that has begun cannot be cancelled: only one that still stands in line is dropped.
                if not done and waiting.cancel():
                    raise Unavailable(
                        f"Too many requests at once: none of the threads became free within {self._queue_seconds:g} "
                        "seconds. Nothing was done.",
                        retry_after_seconds=self._queue_seconds,
                    )
                return await answer
        except TimeoutError as error:
            if waiting.done() and not waiting.cancelled():
                raise
            raise Unavailable(
                f"No answer within {self._timeout_seconds:g} seconds. Repeat a write with the same idempotency key: "
                "its outcome is unknown.",
                retry_after_seconds=1.0,
            ) from error
        finally:
            # Whoever no longer listens, by deadline or because the client left, must not stand in line.
            answer.cancel()

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
