"""The fields of a question, read from the address in one step.

The framework looks up every field of a query model by itself, which for the two dozen fields of a
search takes longer than all else that it does with the request. Here the whole address goes to the
model at once, with the same meaning: a list takes all of its values, any other field the last one.

    params: Annotated[SearchParams, Depends(FromAddress(SearchParams))]

`parameters` tells OpenAPI of the fields, for the route's `openapi_extra`.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, get_origin

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

PLACE = "query"
_DEFINITIONS = "$defs"

M = TypeVar("M", bound=BaseModel)


class FromAddress(Generic[M]):
    """A dependency: the model that the query string spells out. Raises `RequestValidationError`."""

    def __init__(self, model: type[M]) -> None:
        self._model = model
        fields = model.model_fields
        self._lists = frozenset(name for name in fields if get_origin(fields[name].annotation) is list)
        self._single = fields.keys() - self._lists

    async def __call__(self, request: Request) -> M:
        sent: dict[str, Any] = {}
        for name, value in request.query_params.multi_items():
            sent.setdefault(name, []).append(value)
        for name, values in sent.items():
            if name in self._single or (len(values) == 1 and name not in self._lists):
                sent[name] = values[-1]
        try:
            return self._model.model_validate(sent)
        except ValidationError as error:
            faults = [{**fault, "loc": (PLACE, *fault["loc"])} for fault in error.errors(include_url=False)]
            raise RequestValidationError(faults) from error


def parameters(model: type[BaseModel]) -> dict[str, Any]:
    """The `parameters` of an OpenAPI operation that takes the fields of a model in its address."""
    schema = model.model_json_schema()
    definitions = schema.get(_DEFINITIONS, {})
    return {
        "parameters": [
            {
                "name": name,
                "in": PLACE,
                "required": name in schema.get("required", ()),
                **({"description": field["description"]} if "description" in field else {}),
                "schema": _inlined(field, definitions),
            }
            for name, field in schema["properties"].items()
        ]
    }


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """A schema without references: an operation has no place for definitions of its own."""
    match schema:
        case {"$ref": str(reference), **rest}:
            return {**_inlined(definitions[reference.rpartition("/")[2]], definitions), **rest}
        case dict():
            return {name: _inlined(each, definitions) for name, each in schema.items()}
        case list():
            return [_inlined(each, definitions) for each in schema]
        case _:
            return schema
