"""The keeper works in turns, survives failures and finishes on close."""

from __future__ import annotations

import threading

import pytest

from engine.errors import StoreUnavailable
from engine.upkeep.keeper import Keeper


def test_a_failing_turn_does_not_end_the_thread() -> None:
    turns = threading.Semaphore(0)
    calls: list[int] = []

    def flush() -> None:
        calls.append(len(calls))
        turns.release()
        if len(calls) == 1:
            raise StoreUnavailable("down for a moment")

    keeper = Keeper(0.01, flush, lambda: None)
    keeper.start()
    assert turns.acquire(timeout=5)
    assert turns.acquire(timeout=5)
    keeper.close()
    assert len(calls) >= 3


def test_closing_flushes_and_raises_what_fails() -> None:
    def flush() -> None:
        raise StoreUnavailable("down")

    keeper = Keeper(60, flush, lambda: None)
    keeper.start()
    with pytest.raises(StoreUnavailable):
        keeper.close()
