"""The engine's verbs as JSON: arguments, answers and errors, without loss.

Every verb of `VERBS` takes what the method of the same name on `Engine` takes (after the
principal) and gives what it gives. The types in the method's signature are the schema: Pydantic
writes and reads the domain's dataclasses by them, so a new field needs no line here.

    POST /host/<verb>   {"principal": {...} | null, "arguments": {...}}
    -> 200              {"result": ...}
    -> 400              {"error": "<class name>", "message": "...", "attributes": {...}}
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter, create_model
from pydantic.main import BaseModel

from engine import errors
from engine.domain.access import Principal
from engine.engine import Engine
from engine.errors import MemvouchError, Unavailable

VERBS = (
    "calibrate",
    "create_space",
    "delete_space",
    "doctor",
    "explain",
    "forget",
    "get",
    "list_memories",
    "local_owner",
    "recall_context",
    "reindex",
    "remember",
    "remember_many",
    "reset_calibration",
    "restore",
    "search",
    "space",
    "spaces",
    "stats",
    "update",
    "update_state",
    "versions",
)
_UNSENT = frozenset({"self", "principal", "progress"})
"""Parameters that do not travel: the principal has its own place, a progress callback stays at home."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One method: how its arguments and its result are written and read."""

    name: str
    takes_principal: bool
    parameters: tuple[str, ...]
    arguments: type[BaseModel]
    result: TypeAdapter[Any]

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, as JSON values."""
        given = dict(zip(self.parameters, args, strict=False)) | dict(kwargs)
        model = self.arguments.model_construct(**given)
        written: dict[str, Any] = model.model_dump(mode="json", include=set(given), warnings=False)
        return written

    def read_arguments(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that were sent, as domain values. Raises `pydantic.ValidationError`."""
        model = self.arguments.model_validate(written)
        return {name: getattr(model, name) for name in model.model_fields_set}


@cache
def verb(name: str) -> Verb:
    """The verb of this name. Raises `KeyError` for a name that is not in `VERBS`."""
    if name not in VERBS:
        raise KeyError(name)
    method: Callable[..., Any] = getattr(Engine, name)
    hints = get_type_hints(method)
    parameters = inspect.signature(method).parameters
    sent = {key: each for key, each in parameters.items() if key not in _UNSENT}
    fields: dict[str, Any] = {
        key: (hints[key], ... if each.default is each.empty else each.default) for key, each in sent.items()
    }
    return Verb(
        name=name,
        takes_principal="principal" in parameters,
        parameters=tuple(sent),
        arguments=create_model(f"{name}_arguments", **fields),
        result=TypeAdapter(hints["return"]),
    )


PRINCIPAL = TypeAdapter(Principal)


def error_document(error: MemvouchError) -> dict[str, Any]:
    """An error of our tree with everything that its class keeps."""
    attributes = {name: value for name, value in vars(error).items() if isinstance(value, str | int | float | None)}
    return {"error": type(error).__name__, "message": str(error), "attributes": attributes}


def error_of(document: Mapping[str, Any]) -> MemvouchError:
    """The error that a document describes; one of an unknown class becomes `Unavailable`.

    A layer before the verbs (a limit, an unknown verb, a fault) answers as on every route: in `detail`.
    """
    found = getattr(errors, str(document.get("error")), None)
    if not (isinstance(found, type) and issubclass(found, MemvouchError)):
        detail = document.get("detail")
        told = detail.get("message") if isinstance(detail, Mapping) else detail
        return Unavailable(f"the host failed: {document.get('message') or told or 'it gave no reason'}")
    return found(str(document.get("message", "the host gave no reason")), **document.get("attributes", {}))
