from __future__ import annotations

import threading

import pytest

from engine.store.turnstile import Turnstile, TurnTimeoutError


def test_who_waits_too_long_is_told_and_the_others_still_pass() -> None:
    turnstile = Turnstile()
    refused = threading.Event()

    def wait_briefly() -> None:
        with pytest.raises(TurnTimeoutError), turnstile.turn(0.01):
            raise AssertionError("the turn is held by another")
        refused.set()

    with turnstile.turn(1):
        thread = threading.Thread(target=wait_briefly)
        thread.start()
        assert refused.wait(5)
        thread.join()
    with turnstile.turn(1):
        pass


def test_a_thread_that_waits_for_itself_is_told_at_once() -> None:
    turnstile = Turnstile()
    with turnstile.turn(1), pytest.raises(RuntimeError, match="does not nest"), turnstile.turn(60):
        raise AssertionError("the turn is held by this thread")
    with turnstile.turn(1):
        pass


def test_the_turn_is_never_held_twice() -> None:
    turnstile = Turnstile()
    inside = 0
    most = 0

    def pass_often() -> None:
        nonlocal inside, most
        for _ in range(200):
            with turnstile.turn(10):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=pass_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == (0, 1)
