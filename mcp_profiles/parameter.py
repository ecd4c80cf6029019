"""One parameter of a tool: its JSON schema, and how a sent value becomes a plain Python value.

Schemas use plain `type`s only, since several clients drop a tool whose schema has a union, a null
or a reference. What callers send is read more kindly than the schema says: `null`, `""`, `"null"`,
and an empty list mean that an optional parameter was not given; numbers and truth values may come
as text; lists and objects may come as JSON text, lists of words also separated by commas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from engine.errors import InvalidRequest


class Kind(StrEnum):
    """What values a parameter takes. `MOMENT` and `JSON` travel as text."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    MOMENT = "moment"
    JSON = "json"
    TEXTS = "texts"
    OBJECT = "object"
    OBJECTS = "objects"


class Absent:
    """The one value of this class stands for a parameter that was not given."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()

_SCHEMA_TYPES = {
    Kind.TEXT: "string",
    Kind.INTEGER: "integer",
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
    Kind.MOMENT: "string",
    Kind.JSON: "string",
    Kind.TEXTS: "array",
    Kind.OBJECT: "object",
    Kind.OBJECTS: "array",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter. `default` is what a handler gets when it was not given.

    `minimum` and `maximum` bound numbers, inclusive; `most` is a higher bound that is accepted and
    cut down to `maximum`. `choices` bound texts. `fields` are those of an object, or of each object
    of a list; an object without fields may hold anything.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    max_characters: int | None = None
    max_items: int | None = None
    fields: tuple[Parameter, ...] = ()

    def schema(self, *, bounds: bool = True) -> dict[str, Any]:
        """The JSON schema of its values; without `bounds` it leaves out how large they may be."""
        found: dict[str, Any] = {"type": _SCHEMA_TYPES[self.kind], "description": self.description}
        if self.choices:
            found["enum"] = list(self.choices)
        if self.kind is Kind.TEXTS:
            found["items"] = {"type": "string"}
        elif self.kind is Kind.OBJECTS:
            found["items"] = object_schema(self.fields, bounds=bounds)
        elif self.kind is Kind.OBJECT and self.fields:
            found |= object_schema(self.fields, bounds=bounds)
        if not self.required and self.default is not None:
            found["default"] = self.default
        return found | self._bounds() if bounds else found

    def _bounds(self) -> dict[str, Any]:
        found = {
            "minimum": self.minimum,
            "maximum": self.maximum,
            "maxLength": self.max_characters,
            "maxItems": self.max_items,
            "minLength": 1 if self.required and self.kind is Kind.TEXT else None,
            "minItems": 1 if self.kind is Kind.OBJECTS else None,
        }
        return {key: value for key, value in found.items() if value is not None}

    def read(self, value: Any) -> Any:
        """The value that was sent, checked; `ABSENT` if it stands for none.

        Raises `InvalidRequest` that names the parameter.
        """
        if value is ABSENT or value is None or (not self.required and _means_absent(value)):
            if self.required:
                raise self.refusal("is required")
            return ABSENT
        return _READERS[self.kind](self, value)

    def refusal(self, reason: str) -> InvalidRequest:
        """The error that says what is wrong with this parameter."""
        return InvalidRequest(f"{self.name} {reason}", field=self.name)


def object_schema(parameters: tuple[Parameter, ...], *, bounds: bool = True) -> dict[str, Any]:
    """The schema of an object with these parameters and no others."""
    found: dict[str, Any] = {
        "type": "object",
        "properties": {each.name: each.schema(bounds=bounds) for each in parameters},
        "additionalProperties": False,
    }
    if required := [each.name for each in parameters if each.required]:
        found["required"] = required
    return found


def read_object(parameters: tuple[Parameter, ...], sent: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters by name, defaults filled in. Names that are none of them are left out."""
    found = {}
    for each in parameters:
        value = each.read(sent.get(each.name, ABSENT))
        found[each.name] = each.default if value is ABSENT else value
    return found


def _means_absent(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in ("", "null", "none")
    return isinstance(value, list | dict) and not value


def _text(parameter: Parameter, value: Any) -> str:
    if not isinstance(value, str):
        raise parameter.refusal("must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise parameter.refusal("holds half of a surrogate pair, which is no text") from None
    if "\0" in value:
        raise parameter.refusal("holds a NUL character, which is no text")
    if parameter.required and not value.strip():
        raise parameter.refusal("must not be empty")
    if parameter.max_characters is not None and len(value) > parameter.max_characters:
        raise parameter.refusal(f"has at most {parameter.max_characters} characters")
    if not parameter.choices:
        return value
    chosen = value.strip().casefold()
    if chosen not in parameter.choices:
        raise parameter.refusal(f"must be one of {', '.join(parameter.choices)}")
    return chosen


def _number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, str):
        try:
            value = json.loads(value.strip())
        except ValueError:
            raise parameter.refusal("must be a number") from None
    # A whole number may be too large for a float, so only floats are asked whether they are finite.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        raise parameter.refusal("must be a number")
    highest = parameter.most if parameter.most is not None else parameter.maximum
    if parameter.minimum is not None and value < parameter.minimum:
        raise parameter.refusal(f"must be at least {parameter.minimum:g}")
    if highest is not None and value > highest:
        raise parameter.refusal(f"must be at most {highest:g}")
    found: float = value
    return found if parameter.maximum is None else min(found, parameter.maximum)


def _integer(parameter: Parameter, value: Any) -> int:
    found = _number(parameter, value)
    if found != int(found):
        raise parameter.refusal("must be a whole number")
    return int(found)


def _boolean(parameter: Parameter, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    found = {"true": True, "1": True, "false": False, "0": False}.get(str(value).strip().casefold())
    if found is None:
        raise parameter.refusal("must be true or false")
    return found


def _moment(parameter: Parameter, value: Any) -> datetime:
    """RFC 3339 or an ISO date; without a zone it is UTC."""
    text = _text(parameter, value).strip()
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise parameter.refusal("must be an RFC 3339 time such as 2026-05-28T10:00:00Z") from None


def _decoded(parameter: Parameter, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(_text(parameter, value))
    except (ValueError, RecursionError):
        raise parameter.refusal("is not valid JSON") from None
    # Some clients encode twice.
    return _decoded(parameter, found) if isinstance(found, str) and found != value else found


def _object(parameter: Parameter, value: Any) -> dict[str, Any]:
    found = _decoded(parameter, value)
    if not isinstance(found, dict):
        raise parameter.refusal("must be an object, or the JSON text of one")
    _require_storable(parameter, found)
    if not parameter.fields:
        return found
    return _inside(parameter, found, "")


def _objects(parameter: Parameter, value: Any) -> list[dict[str, Any]]:
    found = _decoded(parameter, value)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise parameter.refusal("must be a list of objects, or the JSON text of one")
    if not found:
        raise parameter.refusal("must not be empty")
    if parameter.max_items is not None and len(found) > parameter.max_items:
        raise parameter.refusal(f"has at most {parameter.max_items} items")
    _require_storable(parameter, found)
    return [_inside(parameter, each, f"[{number}]") for number, each in enumerate(found)]


def _inside(parameter: Parameter, found: Mapping[str, Any], place: str) -> dict[str, Any]:
    try:
        return read_object(parameter.fields, found)
    except InvalidRequest as error:
        raise InvalidRequest(f"{parameter.name}{place}.{error}", field=parameter.name) from None


def _texts(parameter: Parameter, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and not value.lstrip().startswith(("[", '"')):
        value = [part.strip() for part in value.split(",")]
    found = _decoded(parameter, value)
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise parameter.refusal("must be a list of strings")
    if parameter.max_items is not None and len(found) > parameter.max_items:
        raise parameter.refusal(f"has at most {parameter.max_items} items")
    _require_storable(parameter, found)
    return tuple(each for each in found if each.strip())


def _require_storable(parameter: Parameter, value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise parameter.refusal("holds what cannot be stored: NaN, infinity or half of a surrogate pair") from None


_READERS: dict[Kind, Callable[[Parameter, Any], Any]] = {
    Kind.TEXT: _text,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.MOMENT: _moment,
    Kind.JSON: _object,
    Kind.TEXTS: _texts,
    Kind.OBJECT: _object,
    Kind.OBJECTS: _objects,
}
