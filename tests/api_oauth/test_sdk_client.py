"""The MCP SDK's own OAuth client against a real host; its person answers the consent page over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic import AnyUrl

from tests.api_oauth.browser import consent, works
from tests.services.server import RunningHost

CALLBACK = "http://127.0.0.1:43210/callback"


@dataclass
class Keychain:
    """Where an MCP host keeps what it was given."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    @property
    def access_token(self) -> str:
        assert self.tokens is not None
        return self.tokens.access_token


@dataclass
class Person:
    """Opens the address that the MCP host shows, fills in the form, and brings the redirect back."""

    host: RunningHost
    decision: str = "allow"
    asked: list[str] = field(default_factory=list)
    redirect: str = ""

    async def open(self, address: str) -> None:
        self.asked.append(address)
        await asyncio.to_thread(self._answer, address)

    async def come_back(self) -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(self.redirect).query)
        brought = {name: query[name][0] for name in ("code", "state", "iss") if name in query}
        return AuthorizationCodeResult(**{"code": "", **brought})

    def _answer(self, address: str) -> None:
        browser = self.host.client(None)
        page = browser.get(address).headers["location"]
        self.redirect = consent(browser, page, self.host.owner_token, self.decision).headers["location"]


def provider_of(url: str, keychain: Keychain, person: Person, **metadata: Any) -> OAuthClientProvider:
    wanted = {"client_name": "SDK host", "redirect_uris": [AnyUrl(CALLBACK)], **metadata}
    return OAuthClientProvider(url, OAuthClientMetadata(**wanted), keychain, person.open, person.come_back)


def call(
    url: str, provider: OAuthClientProvider, tool: str, arguments: Mapping[str, Any], mode: str = "legacy"
) -> Mapping[str, Any]:
    """One session of the SDK's client: connect, call one tool, leave."""

    async def run() -> Mapping[str, Any]:
        async with (
            httpx2.AsyncClient(auth=provider, timeout=30) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            result = await client.call_tool(tool, dict(arguments))
            assert not result.is_error and result.structured_content, result
            values: Mapping[str, Any] = result.structured_content
            return values

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["legacy", LATEST_MODERN_VERSION])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/claude"])
def test_the_sdk_finds_registers_asks_and_calls_a_tool(running_host: RunningHost, path: str, mode: str) -> None:
    url, keychain, person = running_host.url + path, Keychain(), Person(running_host)
    provider = provider_of(url, keychain, person)
    said = call(url, provider, "get_mcp_identity", {}, mode)["result"]
    assert "Scopes: memory:read, memory:write" in said.split("\n")
    assert len(person.asked) == 1 and person.asked[0].startswith(f"{running_host.url}/oauth/authorize?")
    asked = parse_qs(urlsplit(person.asked[0]).query)
    assert asked["code_challenge_method"] == ["S256"] and asked["resource"] == [f"{running_host.url}/mcp"]
    assert keychain.client is not None and keychain.client.client_secret is None


def test_the_sdk_writes_and_reads_with_one_consent(running_host: RunningHost) -> None:
    url, keychain, person = f"{running_host.url}/mcp", Keychain(), Person(running_host)
    stored = call(
        url,
        provider_of(url, keychain, person),
        "remember",
        {"content": "The tide gauge at Hoorn reads in decimetres.", "path": "oauth/sdk"},
    )
    # A host that was started again has its keychain and nothing else.
    hits = call(url, provider_of(url, keychain, person), "recall", {"query": "tide gauge Hoorn"})["hits"]
    assert stored["id"] in [hit["id"] for hit in hits]
    assert len(person.asked) == 1


def test_the_sdk_refreshes_an_expired_token_without_asking_again(running_host: RunningHost) -> None:
    url, keychain, person = f"{running_host.url}/mcp", Keychain(), Person(running_host)
    provider = provider_of(url, keychain, person)
    call(url, provider, "get_mcp_identity", {})
    first = keychain.access_token
    provider.context.token_expiry_time = 1.0
    call(url, provider, "get_mcp_identity", {})
    assert keychain.access_token != first and len(person.asked) == 1
    assert works(running_host, keychain.access_token) and not works(running_host, first)


def test_the_sdk_asks_again_when_its_token_was_revoked(running_host: RunningHost) -> None:
    url, keychain, person = f"{running_host.url}/mcp", Keychain(), Person(running_host)
    call(url, provider_of(url, keychain, person), "get_mcp_identity", {})
    assert running_host.client(keychain.access_token).post("/v1/auth/token/revoke-self", json={}).is_success
    call(url, provider_of(url, keychain, person), "get_mcp_identity", {})
    assert len(person.asked) == 2


def test_a_denial_reaches_the_sdk_and_leaves_it_without_a_token(running_host: RunningHost) -> None:
    url, keychain, person = f"{running_host.url}/mcp", Keychain(), Person(running_host, decision="deny")
    with pytest.raises(BaseExceptionGroup) as caught:
        call(url, provider_of(url, keychain, person), "get_mcp_identity", {})
    assert caught.group_contains(OAuthFlowError) and keychain.tokens is None


def test_a_registration_for_an_unsafe_address_is_told_to_the_sdk(running_host: RunningHost) -> None:
    url, keychain, person = f"{running_host.url}/mcp", Keychain(), Person(running_host)
    provider = provider_of(url, keychain, person, redirect_uris=[AnyUrl("http://example.com/callback")])
    with pytest.raises(BaseExceptionGroup) as caught:
        call(url, provider, "get_mcp_identity", {})
    assert caught.group_contains(OAuthRegistrationError) and not person.asked


@pytest.mark.parametrize("path", ["/mcp", "/mcp/claude"])
def test_a_challenge_names_the_metadata_and_the_scopes(running_host: RunningHost, path: str) -> None:
    challenge = running_host.client(None).post(path, json={}).headers["www-authenticate"]
    found = dict(part.split("=", 1) for part in challenge.removeprefix("Bearer ").split(", "))
    assert found["scope"] == '"memory:read memory:write"'
    metadata = running_host.client(None).get(found["resource_metadata"].strip('"')).json()
    assert metadata["authorization_servers"] == [running_host.url]
