"""Whether every part of the engine answers: a search that can find nothing asks store, embedder and index.

Its result is kept for a moment, so that probing costs the same however often it is asked.
"""

from __future__ import annotations

import asyncio
import time

from api.threads import Workers
from engine.domain.access import Principal
from engine.domain.query import Filters, Mode, Query
from engine.engine import Engine
from engine.errors import MemvouchError

KEEP_SECONDS = 2.0
PROBE_SECONDS = 3.0
_NOTHING = Query(text="ready", mode=Mode.FORGIVING, limit=1, filters=Filters(bucket="memvouch/probe"))


class Probe:
    """What is wrong with an engine, asked at most once every `KEEP_SECONDS`."""

    def __init__(self, engine: Engine, owner: Principal, workers: Workers) -> None:
        self._engine = engine
        self._owner = owner
        self._workers = workers
        self._lock = asyncio.Lock()
        self._fault: str | None = None
        self._asked_at = -KEEP_SECONDS

    async def fault(self) -> str | None:
        """One sentence about the part that does not answer, or `None`."""
        async with self._lock:
            if time.monotonic() - self._asked_at >= KEEP_SECONDS:
                self._fault = await self._ask()
                self._asked_at = time.monotonic()
            return self._fault

    async def _ask(self) -> str | None:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._workers.call(self._engine.search, self._owner, _NOTHING)
        except MemvouchError as error:
            return str(error)
        except TimeoutError:
            return f"The engine did not answer within {PROBE_SECONDS:g} seconds."
        return None
