"""An application and a person with a browser, for the flows."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.services.server import RunningHost

REDIRECT = "http://127.0.0.1/callback"


@dataclass
class Application:
    """A public client with PKCE, registered at once."""

    host: RunningHost
    scope: str = "memory:read memory:write"
    client_id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    redirect_uri: str = "http://127.0.0.1:43210/callback"

    def __post_init__(self) -> None:
        self.http = self.host.client(None)
        body = {"client_name": "<b>Editor</b>", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
        answer = self.http.post("/oauth/register", json={**body, "scope": self.scope})
        assert answer.is_success, answer.text
        self.client_id = answer.json()["client_id"]

    def authorize(self, **changes: str) -> httpx.Response:
        """The first redirect of an authorization."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        params = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "s1",
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "scope": "memory:read memory:write",
            "resource": f"{self.host.url}/mcp",
        }
        return self.http.get("/oauth/authorize", params=params | changes)

    def code(self) -> str:
        """A code that the owner consented to."""
        answer = consent(self.http, self.authorize().headers["location"], self.host.owner_token)
        return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]

    def token(self, **form: str) -> httpx.Response:
        """One request to the token endpoint."""
        return self.http.post("/oauth/token", data={"client_id": self.client_id, **form})

    def exchange(self, code: str, **changes: str) -> httpx.Response:
        """The exchange of a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        }
        return self.token(**(form | changes))

    def refresh(self, refresh_token: str) -> httpx.Response:
        """The exchange of a refresh token."""
        return self.token(grant_type="refresh_token", refresh_token=refresh_token)


def consent(http: httpx.Client, address: str, token: str, decision: str = "allow", **changes: str) -> httpx.Response:
    """Open a page, fill in its form and send it."""
    page = http.get(address)
    assert page.status_code == 200, page.text
    hidden: dict[str, Any] = dict(re.findall(r'<input type=hidden name="(\w+)" value="([^"]*)">', page.text))
    return http.post(urlsplit(address).path, data={**hidden, "token": token, "decision": decision, **changes})


def works(host: RunningHost, token: str) -> bool:
    """Whether a token is good for a read."""
    return host.client(token).get("/v1/memories").status_code == 200
