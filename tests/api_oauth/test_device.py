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
