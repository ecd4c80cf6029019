"""What clients ask before they have a token: the discovery documents, and how to get started."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException

from api.health import SERVICE
from api.oauth.routes import base_of
from api.xmemo.responses import DETAIL, Json, errors, example, xmemo_router
from engine.domain.access import DEFAULT_SCOPES

TOKEN_VARIABLE = "XMEMO_KEY"  # noqa: S105  a variable's name
CONTRACT_VERSION = "0.4.0"
"""The version that the contract's command line compares with its own major and minor number."""
CLIENTS = ("claude", "cursor", "vscode", "generic")
BOUNDARY = {
    "client_allowed": ["remember", "recall", "search", "update", "forget", "update_state"],
    "admin_required": ["tokens", "teams", "users", "audit"],
}

documents = APIRouter(prefix="/.well-known", tags=["discovery"], responses=errors(DETAIL))
router = xmemo_router("discovery")

_ORIGIN = "http://127.0.0.1:8787"
_ROOT = {"service": SERVICE, "name": "Memvouch", "version": CONTRACT_VERSION, "urls": {"mcp": f"{_ORIGIN}/mcp"}}
_AGENT = {"service": SERVICE, "name": "Memvouch", "protocol": "mcp", "mcp_url": f"{_ORIGIN}/mcp"}
_STATUS = {"ready": True, "service": SERVICE, "requirements": {"token_required": True, "token_env_var": TOKEN_VARIABLE}}
_CONFIG = {"client": "claude", "mcpServers": {"memvouch": {"type": "http", "url": f"{_ORIGIN}/mcp"}}}


@documents.get("/memory-os.json", summary="Where everything of this host is", responses=example(_ROOT))
async def root_document(request: Request) -> Json:
    """The document that everything else is found from. Needs no credential and holds none."""
    base = base_of(request)
    return Json(
        {
            "service": SERVICE,
            "name": "Memvouch",
            "version": CONTRACT_VERSION,
            "urls": _urls(base),
            "clients": {"mcp": [{"id": each, "config_endpoint": f"{base}/v1/mcp/config/{each}"} for each in CLIENTS]},
            "auth": {"token_env_var": TOKEN_VARIABLE, "token_in_discovery": False},
            "agent_boundary": BOUNDARY,
        }
    )


@documents.get("/agent-discovery.json", summary="The same for agents", responses=example(_AGENT))
async def agent_document(request: Request) -> Json:
    """Which protocols this host speaks, and where. Needs no credential and holds none."""
    base = base_of(request)
    urls = _urls(base)
    return Json(
        {
            "service": SERVICE,
            "name": "Memvouch",
            "schema_version": "1.0",
            "service_version": CONTRACT_VERSION,
            "protocol": "mcp",
            "mcp_url": urls["mcp"],
            "urls": {"docs": urls["docs"], "root_discovery": urls["root_discovery"]},
            "api": {"mcp": {"url": urls["mcp"]}, "rest": {"url": urls["api_base"]}},
            "clients": [{"id": each} for each in CLIENTS],
            "supported_clients": list(CLIENTS),
            "security": {"no_remote_code_execution": True, "token_in_discovery": False},
            "auth": {"token_in_discovery": False},
        }
    )


@router.get("/onboarding/status", summary="What a client needs to begin", responses=example(_STATUS))
async def onboarding_status(request: Request) -> Json:
    """Needs no credential and tells none."""
    requirements = {
        "token_required": request.app.state.host.options.require_auth,
        "token_env_var": TOKEN_VARIABLE,
        "token_portal_url": _urls(base_of(request))["token_portal"],
    }
    return Json({"ready": True, "service": SERVICE, "requirements": requirements, "agent_boundary": BOUNDARY})


@router.get("/mcp/config/{client}", summary="How an MCP client is set up", responses=example(_CONFIG))
async def client_config(request: Request, client: str) -> Json:
    """The server's entry for a client's configuration file; the token comes from its environment."""
    if client not in CLIENTS:
        raise HTTPException(404, "Not Found")
    entry: dict[str, Any] = {
        "type": "http",
        "url": f"{base_of(request)}/mcp",
        "headers": {"Authorization": f"Bearer ${{{TOKEN_VARIABLE}}}"},
    }
    return Json({"client": client, "mcpServers": {"memvouch": entry}, "default_scopes": sorted(DEFAULT_SCOPES)})


def _urls(base: str) -> dict[str, str]:
    return {
        "api_base": base,
        "mcp": f"{base}/mcp",
        "guide": f"{base}/openapi.json",
        "docs": f"{base}/openapi.json",
        "token_portal": f"{base}/device",
        "onboarding_status": f"{base}/v1/onboarding/status",
        "root_discovery": f"{base}/.well-known/memory-os.json",
    }
