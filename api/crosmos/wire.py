"""How requests of the Crosmos contract are read, and how its routes are made.

Every client generation is accepted: `null`, absent and unknown fields are all fine, and `space_id`
and `space_uuid` name the same. Without either a read means all spaces of the caller.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from fastapi import APIRouter, Query, Request
from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from api.deps import credentials_of
from api.errors import CrosmosRoute
from api.xmemo.wire import WireModel
from engine.domain.access import Principal
from engine.errors import Forbidden, InvalidIdentifier, InvalidRequest

PREFIX = "/api/v1"
KEY_PREFIX = "csk_"
ONE_SPACE = "This API key is scoped to a single space and cannot access this endpoint."
OTHER_SPACE = "This API key is scoped to a different memory space."

_DETAIL = {"type": "object", "properties": {"detail": {}, "code": {"type": "string"}}, "required": ["detail"]}
_ERRORS = {
    400: "A field is at fault; `fields` says which.",
    401: "No credential, or one that is not valid.",
    403: "The credential lacks the scope or right.",
    404: "No such thing for this caller.",
    409: "A name is taken.",
    413: "Too large.",
    429: "Too many requests; see `Retry-After`.",
    503: "A part is down; see `Retry-After`.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"application/json": {"schema": _DETAIL}}}
    for status, text in _ERRORS.items()
}


def crosmos_router(tag: str) -> APIRouter:
    """A router whose routes speak Crosmos errors."""
    return APIRouter(route_class=CrosmosRoute, tags=[tag], responses=ERRORS)


def uuid_text(value: str) -> str:
    """The canonical form of a UUID. Raises `InvalidIdentifier`."""
    text = value.strip().lower().replace("-", "")
    if len(text) != 32 or any(character not in "0123456789abcdef" for character in text):
        raise InvalidIdentifier("An id must be a UUID such as 0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b.", field="id")
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _uuid(value: object) -> object:
    if not isinstance(value, str):
        raise PydanticCustomError("uuid", "must be a UUID")
    try:
        return uuid_text(value)
    except InvalidIdentifier as error:
        raise PydanticCustomError("uuid", "must be a UUID") from error


Uuid = Annotated[str, BeforeValidator(_uuid)]


class Scoped(WireModel):
    """A read that may name a space."""

    space_id: Uuid | None = None
    space_uuid: Uuid | None = None

    @model_validator(mode="after")
    def _one_space(self) -> Self:
        if self.space_id and self.space_uuid and self.space_id != self.space_uuid:
            raise PydanticCustomError("space", "space_uuid and space_id must match when both are provided")
        return self

    @property
    def space(self) -> str | None:
        """The space that is meant, if one is."""
        return self.space_id or self.space_uuid


class Paged(Scoped):
    """A list that may name a space."""

    limit: Annotated[int, Field(ge=1)] = 100
    offset: Annotated[int, Field(ge=0)] = 0


ScopedQuery = Annotated[Scoped, Query()]


def is_space_key(request: Request, caller: Principal) -> bool:
    """Whether the caller's key is one that was made for a single space."""
    keys = credentials_of(request.headers)
    narrowed = caller.space_rights is not None and len(caller.space_rights) == 1
    return narrowed and any(key.startswith(KEY_PREFIX) for key in keys)


def refuse_space_key(request: Request, caller: Principal) -> None:
    """Keep keys of a single space to what they are for."""
    if is_space_key(request, caller):
        raise Forbidden(ONE_SPACE)


def check_space(request: Request, caller: Principal, space: str | None) -> None:
    """Refuse another space to a key of a single one, whether it exists or not."""
    if space is not None and is_space_key(request, caller):
        rights = caller.space_rights or ()
        if space not in {right.space_id for right in rights}:
            raise Forbidden(OTHER_SPACE)


def one_of(value: str | None, allowed: tuple[str, ...], field: str) -> str | None:
    """A value of a closed list, or none."""
    if value is not None and value not in allowed:
        raise InvalidRequest(f"{field} must be one of {', '.join(allowed)}", field=field)
    return value
