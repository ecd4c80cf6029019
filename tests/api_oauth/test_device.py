"""The device flow against a real host."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from engine.domain.access import Scope
from tests.api_oauth.browser import consent, works
from tests.services.server import RunningHost

GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture
def terminal(running_host: RunningHost) -> httpx.Client:
    return running_host.client(None)


def begin(terminal: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = terminal.post("/api/v1/auth/device/start", json={"client_id": "cli", "cli_version": "0.4.176", **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def poll(terminal: httpx.Client, device_code: str) -> httpx.Response:
    return terminal.post("/v1/auth/device/token", json={"device_code": device_code, "grant_type": GRANT})


def test_a_device_gets_its_token_once_after_approval(running_host: RunningHost, terminal: httpx.Client) -> None:
    begun = begin(terminal, token_type="mcp_token", scopes=["memory:read", "memory:admin"])
    assert begun["interval"] >= 1 and begun["expires_in"] > 0
    assert begun["verification_uri_complete"].endswith(begun["user_code"])
    pending = poll(terminal, begun["device_code"])
    assert (pending.status_code, pending.json()) == (400, {"error": "authorization_pending"})
    assert poll(terminal, begun["device_code"]).json() == {"error": "slow_down"}
    page = consent(terminal, begun["verification_uri_complete"], running_host.owner_token)
    assert page.status_code == 200 and "Connected" in page.text
    issued = poll(terminal, begun["device_code"]).json()
    assert issued["access_token"] == issued["token"] and issued["user"]["user_id"]
    assert issued["scopes"] == ["memory:read"]
    assert works(running_host, issued["access_token"])
    assert poll(terminal, begun["device_code"]).json() == {"error": "invalid_grant"}


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1"])
@pytest.mark.parametrize("kind", ["mcp_token", "skill_token", "api_key"])
def test_a_terminal_without_a_browser_gets_a_token_that_works_everywhere(
    running_host: RunningHost, terminal: httpx.Client, prefix: str, kind: str
) -> None:
    asked = {"client_id": "cli", "client_version": "1", "token_type": kind, "scopes": ["memory:read", "memory:write"]}
    begun = terminal.post(f"{prefix}/auth/device/start", json=asked).json()
    browser = running_host.client(None)
    page = consent(browser, begun["verification_uri_complete"], running_host.owner_token)
    assert page.status_code == 200 and not terminal.cookies
    sent = {"device_code": begun["device_code"], "grant_type": GRANT}
    answer = terminal.post(f"{prefix}/auth/device/token", json=sent)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    issued = answer.json()
    assert {"user_id", "id", "email", "display_name", "name"} <= set(issued["user"])
    client = running_host.client(None, **{"X-API-Key": issued["access_token"]})
    valid = client.get(f"{prefix}/auth/token/validate").json()
    assert valid["status"] == "valid" and valid["user_id"] == issued["user"]["user_id"]
    headers = {"Authorization": f"Bearer {issued['access_token']}", "Accept": "application/json, text/event-stream"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_mcp_identity"}}
    told = terminal.post("/mcp", json=call, headers=headers).json()["result"]["content"][0]["text"]
    assert "Scopes: memory:read, memory:write" in told.split("\n")
    assert client.post(f"{prefix}/auth/token/revoke-self", json={}).status_code == 200
    assert client.get(f"{prefix}/auth/token/validate").status_code == 403


def test_a_denied_device_is_told_so(running_host: RunningHost, terminal: httpx.Client) -> None:
    begun = begin(terminal)
    consent(terminal, begun["verification_uri_complete"], "", decision="deny")
    assert poll(terminal, begun["device_code"]).json() == {"error": "access_denied"}


def test_only_an_owner_approves(running_host: RunningHost, terminal: httpx.Client) -> None:
    begun = begin(terminal)
    writer = running_host.issue(scopes=frozenset({Scope.READ, Scope.WRITE}))
    assert consent(terminal, begun["verification_uri_complete"], writer).status_code == 403
    assert poll(terminal, begun["device_code"]).json() == {"error": "authorization_pending"}


def test_a_code_may_be_typed_loosely_and_an_unknown_one_leads_nowhere(terminal: httpx.Client) -> None:
    begun = begin(terminal)
    typed = begun["user_code"].replace("-", " ").lower()
    assert terminal.get("/device", params={"user_code": typed}).status_code == 200
    assert terminal.get("/device", params={"user_code": "AAAA-AAAA"}).status_code == 404
    assert terminal.get("/device").status_code == 200
    assert poll(terminal, "made-up").json() == {"error": "expired_token"}


def test_faulty_requests_are_refused(terminal: httpx.Client) -> None:
    assert terminal.post("/v1/auth/device/start", json={"scopes": ["memory:admin"]}).status_code == 422
    wrong = terminal.post("/v1/auth/device/token", json={"device_code": "x", "grant_type": "password"})
    assert wrong.json() == {"error": "unsupported_grant_type"}
