"""How XMemo routes answer, and what the schema says of their errors."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from api.errors import XMemoRoute

DETAIL = {"type": "object", "properties": {"detail": {}}, "required": ["detail"]}

_ERRORS = {
    400: "An id is not a UUID, or the body is not JSON.",
    401: "No credential.",
    403: "The credential is not valid, or lacks the scope or right.",
    404: "No such thing for this caller.",
    409: "A conflict, or an idempotency key that was used for another request.",
    413: "Too large.",
    422: "A field is at fault; `detail` lists where, what and why.",
    429: "Too many requests; see `Retry-After`.",
    503: "A part is down; see `Retry-After`. Never an empty list instead.",
}


def errors(schema: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """The documented errors of a route whose error bodies have this schema."""
    return {
        status: {"description": text, "content": {"application/json": {"schema": schema}}}
        for status, text in _ERRORS.items()
    }


def xmemo_router(tag: str, error_schema: dict[str, Any] = DETAIL) -> APIRouter:
    """A router whose routes speak XMemo errors and document them; mounted by `include_xmemo`."""
    return APIRouter(route_class=XMemoRoute, tags=[tag], responses=errors(error_schema))


def example(value: dict[str, Any], description: str = "Done.") -> dict[int | str, dict[str, Any]]:
    """The documented 200 of a route, with an example."""
    return {
        200: {
            "description": description,
            "content": {"application/json": {"schema": {"type": "object"}, "example": value}},
        }
    }


MemoryId = Annotated[
    str, Path(description="A UUID; anything else is 400, never 404.", json_schema_extra={"format": "uuid"})
]


class Json(JSONResponse):
    """A body that is JSON already: no model in between."""
