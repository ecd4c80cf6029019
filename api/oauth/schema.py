"""What OpenAPI says of the OAuth routes.

The SDK's handlers read the raw request, so nothing can be derived from signatures: parameters, forms,
answers and errors are written down here, one `Operation` a route.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.xmemo.responses import DETAIL

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
_ORIGIN = "http://127.0.0.1:8787"
_CLIENT_ID = "5b1c8a56-1f1f-4a55-9b4e-6c1b0d0f5a11"
_REDIRECT = "http://127.0.0.1:43210/callback"
_SCOPE = "memory:read memory:write"

Responses = dict[int | str, dict[str, Any]]
ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "error_description": {"type": ["string", "null"]}},
    "required": ["error"],
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One route in the schema; `extra` is its `parameters` or `requestBody`."""

    summary: str
    description: str
    responses: Responses
    extra: Mapping[str, Any] | None = None
    status: int = 200


def json_answer(
    description: str, example: Mapping[str, Any], schema: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A documented JSON answer."""
    return {"description": description, "content": {JSON: {"schema": schema or {"type": "object"}, "example": example}}}


def refused(description: str, error: str) -> dict[str, Any]:
    """A documented answer with OAuth's error body."""
    return json_answer(description, {"error": error}, ERROR)


def _common(responses: Responses) -> Responses:
    """The answers that any route may give besides its own."""
    texts = {
        403: "A foreign `Host` or `Origin`.",
        413: "Too large.",
        429: "Too many requests; see `Retry-After`.",
        503: "A part is down; see `Retry-After`.",
    }
    common: Responses = {
        status: {"description": text, "content": {JSON: {"schema": DETAIL}}} for status, text in texts.items()
    }
    return {**common, **responses}


def _body(media_type: str, fields: Mapping[str, str], required: tuple[str, ...], example: Mapping[str, Any]) -> Any:
    """A request body. A field's description may begin with `[]` for a list of texts."""
    schema = {
        "type": "object",
        "properties": {name: _field(text) for name, text in fields.items()},
        "required": list(required),
    }
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema, "example": example}}}}


def _field(text: str) -> dict[str, Any]:
    if text.startswith("[]"):
        return {"type": "array", "items": {"type": "string"}, "description": text[2:]}
    return {"type": "string", "description": text}


def _query(fields: Mapping[str, tuple[str, bool, str]]) -> Any:
    """Query parameters: name to what it is, whether it must be there, and an example."""
    return {
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": required,
                "description": text,
                "schema": {"type": "string"},
                "example": value,
            }
            for name, (text, required, value) in fields.items()
        ]
    }


REGISTER = Operation(
    "Register an application",
    "Dynamic registration (RFC 7591), open to everybody: it gives no rights. Every client is a public one: "
    "it proves itself with PKCE and gets no secret. Redirect addresses are https, http on a loopback "
    "address (any port then), or a scheme of the application's own.",
    _common(
        {
            201: json_answer(
                "The registration.",
                {
                    "client_id": _CLIENT_ID,
                    "client_name": "Editor",
                    "redirect_uris": ["http://127.0.0.1/callback"],
                    "token_endpoint_auth_method": "none",
                    "grant_types": ["authorization_code", "refresh_token"],
                    "response_types": ["code"],
                    "scope": _SCOPE,
                },
            ),
            400: refused("`invalid_client_metadata` or `invalid_redirect_uri`.", "invalid_redirect_uri"),
        }
    ),
    _body(
        JSON,
        {
            "client_name": "Shown on the consent page.",
            "redirect_uris": "[]Where the browser may return to.",
            "scope": "Scopes that the client may ask for, separated by blanks.",
        },
        ("redirect_uris",),
        {"client_name": "Editor", "redirect_uris": ["http://127.0.0.1/callback"]},
    ),
    status=201,
)

AUTHORIZE = Operation(
    "Ask a person for consent",
    "The browser is sent here (RFC 6749, 4.1; RFC 7636) and on to the consent page. Consent needs a token with "
    "`memory:admin`, such as the one in `owner.token`. Then the browser returns to `redirect_uri` with `code`, "
    "`state` and `iss`, or with `error`. Also as a form by `POST`.",
    _common(
        {
            302: {
                "description": "On to the consent page, or back to the application with `error` and `state`.",
                "headers": {"Location": {"required": True, "schema": {"type": "string"}}},
            },
            400: refused("An unknown client or an address that it did not register: no redirect.", "invalid_request"),
        }
    ),
    _query(
        {
            "response_type": ("`code`.", True, "code"),
            "client_id": ("As registered.", True, _CLIENT_ID),
            "redirect_uri": ("As registered; a loopback one with any port.", False, _REDIRECT),
            "state": ("Comes back unchanged.", False, "8f2b"),
            "code_challenge": (
                "SHA-256 of the verifier, base64url.",
                True,
                "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            ),
            "code_challenge_method": ("`S256`.", True, "S256"),
            "scope": ("Separated by blanks; what was registered when missing.", False, _SCOPE),
            "resource": ("The MCP address (RFC 8707).", False, f"{_ORIGIN}/mcp"),
        }
    ),
    status=302,
)

TOKEN = Operation(
    "Exchange a code or a refresh token",
    "Access tokens last an hour and are ordinary tokens for `/mcp` and REST. Every exchange gives a new refresh "
    "token and ends the former access token. A code or refresh token that comes twice was stolen: everything "
    "that came of its consent ends.",
    _common(
        {
            200: json_answer(
                "The tokens.",
                {
                    "access_token": "mv_...",
                    "token_type": "Bearer",
                    "expires_in": 3600,
                    "scope": _SCOPE,
                    "refresh_token": "...",
                },
            ),
            400: refused(
                "`invalid_grant`, `invalid_request`, `invalid_scope`, `unsupported_grant_type`.", "invalid_grant"
            ),
            401: refused("An unknown client.", "invalid_client"),
        }
    ),
    _body(
        FORM,
        {
            "grant_type": "`authorization_code` or `refresh_token`.",
            "client_id": "As registered.",
            "code": "With `authorization_code`.",
            "redirect_uri": "The one that was asked with.",
            "code_verifier": "The secret behind `code_challenge`.",
            "refresh_token": "With `refresh_token`.",
            "scope": "Fewer scopes than before, with `refresh_token`.",
            "resource": "The MCP address.",
        },
        ("grant_type", "client_id"),
        {
            "grant_type": "authorization_code",
            "client_id": _CLIENT_ID,
            "code": "...",
            "redirect_uri": _REDIRECT,
            "code_verifier": "...",
        },
    ),
)

REVOKE = Operation(
    "Give tokens up",
    "RFC 7009: an access or refresh token ends with everything that came of the same consent. An unknown one is "
    "as good as a revoked one.",
    _common(
        {
            200: json_answer("Done.", {}),
            400: refused("No token was sent.", "invalid_request"),
            401: refused("An unknown client.", "invalid_client"),
        }
    ),
    _body(
        FORM,
        {"token": "An access or refresh token.", "client_id": "As registered."},
        ("token", "client_id"),
        {"token": "...", "client_id": _CLIENT_ID},
    ),
)

SERVER_METADATA = Operation(
    "Where the OAuth endpoints are",
    "RFC 8414. Read by clients that were led here by the protected resource.",
    _common(
        {
            200: json_answer(
                "The metadata.",
                {
                    "issuer": _ORIGIN,
                    "authorization_endpoint": f"{_ORIGIN}/oauth/authorize",
                    "token_endpoint": f"{_ORIGIN}/oauth/token",
                    "registration_endpoint": f"{_ORIGIN}/oauth/register",
                    "code_challenge_methods_supported": ["S256"],
                },
            )
        }
    ),
)

RESOURCE_METADATA = Operation(
    "Who gives tokens for `/mcp`",
    "RFC 9728. The `WWW-Authenticate` of a 401 on `/mcp` and its profiles names this document.",
    _common(
        {
            200: json_answer(
                "The metadata.",
                {
                    "resource": f"{_ORIGIN}/mcp",
                    "authorization_servers": [_ORIGIN],
                    "bearer_methods_supported": ["header"],
                },
            )
        }
    ),
)
