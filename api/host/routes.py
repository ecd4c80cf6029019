"""The verbs, served to whoever can open the owner's socket file. Over TCP there is no such path."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Body, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from api.deps import HostDep, attributed
from api.guards import came_by_socket
from api.host import wire
from engine.errors import InvalidRequest, MemvouchError

router = APIRouter(prefix="/host", include_in_schema=False)


@router.post("/{name}")
async def call(
    request: Request,
    host: HostDep,
    name: str,
    principal: Annotated[dict[str, Any] | None, Body()] = None,
    arguments: Annotated[dict[str, Any] | None, Body()] = None,
) -> Response:
    """Run one verb. Long ones (doctor, reindex) have no deadline: their caller waits as for a command."""
    if not came_by_socket(request.scope) or name not in wire.VERBS:
        raise HTTPException(404, "Not Found")
    verb = wire.verb(name)
    try:
        given = verb.read_arguments(arguments or {})
        if verb.takes_principal:
            sent = wire.PRINCIPAL.validate_python(principal) if principal else host.owner
            given["principal"] = attributed(sent, request.headers)
        result = await anyio.to_thread.run_sync(partial(getattr(host.engine, name), **given))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return JSONResponse(wire.error_document(InvalidRequest(f"{place}: {first['msg']}", field=place)), 400)
    except MemvouchError as error:
        return JSONResponse(wire.error_document(error), 400)
    return Response(b'{"result":' + verb.result.dump_json(result) + b"}", media_type="application/json")
