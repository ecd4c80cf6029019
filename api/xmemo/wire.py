"""How requests of the XMemo contract are read: the rules that hold for every body and every query.

- absent, `null` and `""` all mean unset, except that `""` is a fault in the temporal fields;
- numbers and booleans may come as text;
- a write tolerates fields that it does not know, and names them (`X-Memvouch-Ignored`); a read
  refuses them with the nearest known name, because a dropped filter answers wrongly;
- a time is RFC 3339 with an offset; digits beyond the microsecond round up, which keeps `[since,
  until)` exact for times of whole microseconds.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from api.envelope import ignore_fields

TEMPORAL_FIELDS = frozenset(
    {
        "since",
        "until",
        "time_order",
        "owner_timezone",
        "reference_time",
        "temporal_axis_mode",
        "query_mode",
        "hypothetical_answer",
    }
)
"""Fields in which an empty text is a fault, not an unset value."""

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", re.IGNORECASE)
_MAX_DEPTH = 32


def parse_moment(value: object) -> datetime:
    """A time in UTC from RFC 3339 text with an offset. Raises `ValueError` for anything else."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    found = _MOMENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("moment", "must be an RFC 3339 time with an offset, such as 2026-01-31T09:00:00Z")
    seconds, fraction, offset = found[1], (found[2] or "").ljust(6, "0"), found[3].upper().replace("Z", "+00:00")
    beyond = timedelta(microseconds=1 if fraction[6:].strip("0") else 0)
    try:
        return datetime.fromisoformat(f"{seconds.upper()}.{fraction[:6]}{offset}").astimezone(UTC) + beyond
    except (ValueError, OverflowError) as error:
        raise PydanticCustomError("moment", "is not a time that exists") from error


def parse_object(value: object) -> object:
    """A JSON object, or the JSON text of one, that can be stored and given back as it is."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise PydanticCustomError("object", "must be a JSON object or the text of one") from error
    if not isinstance(value, dict):
        raise PydanticCustomError("object", "must be a JSON object")
    _check_json(value, 0)
    return value


Moment = Annotated[datetime, BeforeValidator(parse_moment)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(parse_object)]


class WireModel(BaseModel):
    """What all requests have in common. `ALIASES` maps another spelling of a field to its name."""

    model_config = ConfigDict(coerce_numbers_to_str=True, allow_inf_nan=False, extra="ignore")
    ALIASES: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, sent: object) -> object:
        if not isinstance(sent, Mapping):
            return sent
        given = {name: value for name, value in sent.items() if _is_set(name, value)}
        for alias, name in cls.ALIASES.items():
            if alias in given:
                value = given.pop(alias)
                if given.setdefault(name, value) != value:
                    raise _fault(cls, alias, "conflict", f"{alias} and {name} are the same field with two values")
        unknown = [name for name in given if name not in cls.model_fields]
        if unknown:
            cls.meet_unknown(unknown)
        return {name: value for name, value in given.items() if name in cls.model_fields}

    @classmethod
    def meet_unknown(cls, names: list[str]) -> None:
        """What to do about fields that are not known."""
        ignore_fields(names)


class WriteModel(WireModel):
    """A write: unknown fields are tolerated and named."""


class ReadModel(WireModel):
    """A read: unknown fields are refused, with the nearest known name."""

    @classmethod
    def meet_unknown(cls, names: list[str]) -> None:
        known = [*cls.model_fields, *cls.ALIASES]
        name = names[0]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
        raise _fault(cls, name, "unknown_field", f"unknown field {name[:64]!r}; {hint}")


class Temporal(ReadModel):
    """The window `[since, until)` that searches and packs take."""

    since: Moment | None = None
    until: Moment | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise _fault(type(self), "until", "window", "until must be later than since")
        return self


def _is_set(name: str, value: object) -> bool:
    return value is not None and (value != "" or name in TEMPORAL_FIELDS)


def _fault(model: type[BaseModel], field: str, kind: str, message: str) -> ValidationError:
    """A validation error that stands at a field, for validators that see the whole request."""
    fault = PydanticCustomError("invalid_request", "{message}", {"message": message})
    details = InitErrorDetails(type=fault, loc=(field,), input=None)
    return ValidationError.from_exception_data(f"{model.__name__}:{kind}", [details])


def _check_json(value: object, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise PydanticCustomError("object", "is nested too deeply")
    match value:
        case dict():
            for name, inner in value.items():
                _check_json(name, depth)
                _check_json(inner, depth + 1)
        case list():
            for inner in value:
                _check_json(inner, depth + 1)
        case float() if not math.isfinite(value):
            raise PydanticCustomError("object", "holds a number that JSON cannot write")
        case str() if any("\ud800" <= character <= "\udfff" for character in value):
            raise PydanticCustomError("object", "holds half of a surrogate pair")
        case _:
            return
