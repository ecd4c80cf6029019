"""Loose JSON values to typed fields.

`Fields` hands out the members of one JSON object and remembers which were used, so that nothing of
the object is lost: what nobody asked for, and what was asked for but could not be understood, ends
up in the memory's metadata; the latter with a note.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from engine.upkeep.portable.drafts import Refusal, SkipReason

_Choice = TypeVar("_Choice", bound=StrEnum)

_MILLISECONDS_FROM = 100_000_000_000
"""A number at or above this is epoch milliseconds: as seconds it would lie beyond the year 5000."""


def parse_time(value: object) -> datetime | None:
    """ISO 8601 text (a date alone is midnight) or epoch seconds/milliseconds; UTC where no zone is given.

    `None` when the value is no such time.
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            return datetime.fromtimestamp(seconds, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


class Fields:
    """The members of one JSON object; each is taken at most once."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._rest = dict(members)
        self._kept: dict[str, Any] = {}
        self.notes: list[str] = []

    def _take(self, names: tuple[str, ...]) -> tuple[str, Any]:
        """First member of `names` that is there and not null; null members are dropped."""
        for name in names:
            value = self._rest.pop(name, None)
            if value is not None:
                return name, value
        return names[0], None

    def _keep(self, name: str, value: object, wanted: str) -> None:
        self._kept[name] = value
        self.notes.append(f'"{name}" is not {wanted}; kept in the metadata as it was')

    def drop(self, *names: str) -> None:
        """Leave out members that the engine sets itself."""
        for name in names:
            self._rest.pop(name, None)

    def required_text(self, *names: str) -> str | None:
        """A text that decides where or what the memory is. Raises `Refusal` if it is not a text."""
        name, value = self._take(names)
        if value is None:
            return None
        if not isinstance(value, str):
            raise Refusal(SkipReason.BAD_FIELD, f'"{name}" has to be a text')
        return value.strip() or None

    def content(self, *names: str) -> object:
        """The raw content member, whatever its form."""
        return self._take(names)[1]

    def identifier(self, *names: str) -> str | None:
        """An id: a text or a whole number."""
        name, value = self._take(names)
        if value is None:
            return None
        if isinstance(value, str):
            return value.strip() or None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise Refusal(SkipReason.BAD_FIELD, f'"{name}" has to be a text or a whole number')

    def text(self, *names: str) -> str | None:
        name, value = self._take(names)
        if value is None or isinstance(value, str):
            return value or None
        self._keep(name, value, "a text")
        return None

    def fraction(self, name: str) -> float | None:
        """A number in 0..1."""
        _, value = self._take((name,))
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1:
            return float(value)
        self._keep(name, value, "a number from 0 to 1")
        return None

    def time(self, *names: str) -> datetime | None:
        name, value = self._take(names)
        moment = parse_time(value)
        if value is not None and moment is None:
            self._keep(name, value, "a time that can be read")
        return moment

    def required_time(self, name: str) -> datetime | None:
        """A time that must not be guessed. Raises `Refusal` if it cannot be read."""
        _, value = self._take((name,))
        moment = parse_time(value)
        if value is not None and moment is None:
            raise Refusal(SkipReason.BAD_FIELD, f'"{name}" is not a time that can be read')
        return moment

    def choice(self, kind: type[_Choice], *names: str) -> _Choice | None:
        """A member of a closed set; any other text is kept in the metadata without a note.

        Types of other systems ("utterance", "fact") are expected there and mean nothing wrong.
        """
        name, value = self._take(names)
        if value is None:
            return None
        if isinstance(value, str):
            try:
                return kind(value.strip().casefold())
            except ValueError:
                self._kept[name] = value
                return None
        self._keep(name, value, "a text")
        return None

    def mapping(self, name: str) -> dict[str, Any]:
        _, value = self._take((name,))
        if value is None:
            return {}
        if isinstance(value, dict):
            return dict(value)
        self._keep(name, value, "an object")
        return {}

    def leftovers(self) -> dict[str, Any]:
        """Everything that was not used, by name."""
        rest = {name: value for name, value in self._rest.items() if value is not None}
        return {**rest, **self._kept}
