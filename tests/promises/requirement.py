"""The form of a promise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One promise, where it was made, and the tests that would fail if it were broken."""

    id: str
    sentence: str
    source: str
    tests: tuple[str, ...]
