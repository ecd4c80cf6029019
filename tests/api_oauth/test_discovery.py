"""The documents that clients read before they have a token."""

from __future__ import annotations

import pytest

from tests.api.permissions import OPEN
from tests.services.server import RunningHost

PATHS = (
    "/.well-known/memory-os.json",
    "/.well-known/agent-discovery.json",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/v1/onboarding/status",
    "/api/v1/onboarding/status",
    "/v1/mcp/config/claude",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_document_needs_no_token_and_holds_none(running_host: RunningHost, path: str) -> None:
    answer = running_host.client(None).get(path)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    assert running_host.owner_token not in answer.text


def test_the_root_document_says_what_the_command_line_insists_on(running_host: RunningHost) -> None:
    found = running_host.client(None).get("/.well-known/memory-os.json").json()
    assert found["service"] == "memory-os" and found["version"].startswith("0.4.")
    assert found["auth"] == {"token_env_var": "XMEMO_KEY", "token_in_discovery": False}
    assert found["urls"]["mcp"] == f"{running_host.url}/mcp"
    for client in found["clients"]["mcp"]:
        assert running_host.client(None).get(client["config_endpoint"]).status_code == 200


def test_the_agent_document_carries_the_security_flags(running_host: RunningHost) -> None:
    found = running_host.client(None).get("/.well-known/agent-discovery.json").json()
    assert found["security"] == {"no_remote_code_execution": True, "token_in_discovery": False}


def test_a_refused_mcp_request_leads_to_the_metadata_and_on_to_the_endpoints(running_host: RunningHost) -> None:
    http = running_host.client(None)
    challenge = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}).headers["www-authenticate"]
    address = challenge.partition('resource_metadata="')[2].partition('"')[0]
    resource = http.get(address).json()
    assert resource["resource"] == f"{running_host.url}/mcp"
    server = http.get(f"{resource['authorization_servers'][0]}/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == running_host.url
    for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint"):
        assert server[name].startswith(running_host.url)


def test_an_unknown_client_has_no_configuration(running_host: RunningHost) -> None:
    answer = running_host.client(None).get("/v1/mcp/config/unknown")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_every_open_route_is_described_with_an_example_and_asks_for_no_credential(running_host: RunningHost) -> None:
    paths = running_host.client(None).get("/openapi.json").json()["paths"]
    routes = [path for path in paths if path.startswith(OPEN) and path != "/v1/skill/operations"]
    assert {"/oauth/register", "/oauth/token", "/v1/auth/device/start"} | set(PATHS) - {PATHS[6], PATHS[7]} <= set(
        routes
    )
    for path in routes:
        for method, route in paths[path].items():
            assert route["summary"] and len(route["description"]) > 20, (method, path)
            assert "example" in str(route["responses"]), (method, path)
            assert {"403", "429", "503"} <= set(route["responses"]), (method, path)
            assert "security" not in route, (method, path)
            if method == "post":
                assert route["requestBody"], (method, path)
