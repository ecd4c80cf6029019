"""Time words in a question, as a range around the clock.

They prefer records of that time and never exclude others: "recent work and decisions" asks for
work and decisions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from engine.domain.memory import Memory
from engine.domain.outcome import Hit

BOOST = 1.25
"""What the confidence of a record inside the range is multiplied by."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "few": 3}
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_AGO = re.compile(r"\b(\d{1,3}|an?|one|two|three|four|five|six|seven|few) (day|week|month|year)s? ago\b")
_SPAN = re.compile(r"\b(?:last|past) (\d{1,3}|two|three|four|five|six|seven|few) (day|week|month|year)s?\b")
_UNIT = re.compile(r"\b(this|last|past) (week|month|year)\b")
_MONTH = re.compile(rf"\b(?:in|of|since|during) ({'|'.join(_MONTHS)})(?: (?:of )?((?:19|20)\d\d))?\b")
_YEAR = re.compile(r"\b(?:in|of|during) ((?:19|20)\d\d)\b")
_RECENT = re.compile(r"\b(?:recent|recently|lately|latest)\b")


def time_range(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """The half-open range that the first time word of a question means; `None` without one."""
    lowered = text.casefold()
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    day = timedelta(days=1)
    if re.search(r"\b(?:today|tonight|this morning)\b", lowered):
        return today, today + day
    if re.search(r"\b(?:yesterday|last night)\b", lowered):
        return today - day, today
    if found := _AGO.search(lowered):
        span = _DAYS[found[2]]
        middle = today - timedelta(days=_number(found[1]) * span)
        return middle - timedelta(days=span // 2), middle + timedelta(days=span // 2 + 1)
    if found := _SPAN.search(lowered):
        return today - timedelta(days=_number(found[1]) * _DAYS[found[2]]), now + day
    if found := _UNIT.search(lowered):
        return _unit(found[1], found[2], today)
    if found := _MONTH.search(lowered):
        return _month(_MONTHS.index(found[1]) + 1, found[2], today)
    if found := _YEAR.search(lowered):
        return datetime(int(found[1]), 1, 1, tzinfo=UTC), datetime(int(found[1]) + 1, 1, 1, tzinfo=UTC)
    return (today - timedelta(days=14), now + day) if _RECENT.search(lowered) else None


def preferred(hits: Sequence[Hit], text: str, now: datetime) -> list[tuple[Hit, float]]:
    """Hits with their scores, those of the time that the question names moved up."""
    span = time_range(text, now)
    scored = [(hit, hit.confidence * (BOOST if span and _lies_in(hit.memory, span) else 1.0)) for hit in hits]
    if span is None:
        return scored
    # The engine's order is by rank: only what stands inside the range passes others.
    places = {hit.memory.id: place for place, (hit, _) in enumerate(scored)}
    boosted = {hit.memory.id for hit, score in scored if score > hit.confidence}
    shift = max(1, len(scored) // 4)
    return sorted(scored, key=lambda each: places[each[0].memory.id] - shift * (each[0].memory.id in boosted))


def _lies_in(memory: Memory, span: tuple[datetime, datetime]) -> bool:
    return span[0] <= (memory.event_time or memory.created_at) < span[1]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _NUMBERS[text]


def _unit(which: str, unit: str, today: datetime) -> tuple[datetime, datetime]:
    match unit:
        case "week":
            start = today - timedelta(days=today.weekday())
            end = start + timedelta(days=7)
            former = start - timedelta(days=7)
        case "month":
            start = today.replace(day=1)
            end = (start + timedelta(days=32)).replace(day=1)
            former = (start - timedelta(days=1)).replace(day=1)
        case _:
            start = today.replace(month=1, day=1)
            end = start.replace(year=start.year + 1)
            former = start.replace(year=start.year - 1)
    return (start, end) if which == "this" else (former, start)


def _month(month: int, year: str | None, today: datetime) -> tuple[datetime, datetime]:
    chosen = int(year) if year else today.year - (month > today.month)
    start = datetime(chosen, month, 1, tzinfo=UTC)
    return start, (start + timedelta(days=32)).replace(day=1)
