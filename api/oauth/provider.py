"""What the MCP SDK's OAuth handlers ask of a server: clients, codes and tokens out of the store.

All clients are public ones with PKCE: a secret that everybody can register for proves nothing, so
none is handed out. A loopback redirect address may have any port (RFC 8252, section 7.3).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from api.deps import Host
from api.options import is_loopback
from engine.domain.access import DEFAULT_SCOPES
from engine.upkeep.grants import GrantRefused, Grants

MAX_REGISTRATION_CHARACTERS = 8192
_REFUSED_SCHEMES = frozenset({"javascript", "data", "file", "vbscript", "blob", "about"})


class Client(OAuthClientInformationFull):
    """A registered client."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """The address as asked for. Raises `InvalidRedirectUriError` for one that is not registered."""
        try:
            return super().validate_redirect_uri(redirect_uri)
        except InvalidRedirectUriError:
            if redirect_uri is not None and any(
                _same_loopback(redirect_uri, each) for each in self.redirect_uris or ()
            ):
                return redirect_uri
            raise


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The storage of one host, in the words of the SDK."""

    def __init__(self, host: Host, grants: Grants, consent_path: str) -> None:
        self._host = host
        self._grants = grants
        self._consent_path = consent_path

    async def get_client(self, client_id: str) -> Client | None:
        found = await self._host.call(self._grants.client, client_id)
        return None if found is None else Client.model_validate(found)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        for address in client_info.redirect_uris or ():
            _check_redirect(address)
        # The handler answers with this very object: what is set here is what the client is told.
        client_info.token_endpoint_auth_method = "none"  # noqa: S105  a method's name
        client_info.client_secret = None
        client_info.client_secret_expires_at = None
        kept = client_info.model_dump(mode="json", exclude_none=True)
        if len(str(kept)) > MAX_REGISTRATION_CHARACTERS:
            raise RegistrationError("invalid_client_metadata", "The registration is too long.")
        await self._host.call(self._grants.register, client_info.client_id, kept)

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        detail = {
            "scopes": params.scopes or (client.scope.split() if client.scope else sorted(DEFAULT_SCOPES)),
            "state": params.state,
            "code_challenge": params.code_challenge,
            "redirect_uri": str(params.redirect_uri),
            "explicit": params.redirect_uri_provided_explicitly,
            "resource": params.resource,
            "client_name": client.client_name or "An application",
        }
        handle = await self._host.call(self._grants.ask, client.client_id, detail)
        return f"{self._consent_path}?request={handle}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        found = await self._host.call(self._grants.code, authorization_code)
        if found is None:
            return None
        return AuthorizationCode(
            code=authorization_code,
            scopes=found.detail["scopes"],
            expires_at=found.expires_at.timestamp(),
            client_id=found.client_id,
            code_challenge=found.detail["code_challenge"],
            redirect_uri=AnyUrl(found.detail["redirect_uri"]),
            redirect_uri_provided_explicitly=found.detail["explicit"],
            resource=found.detail["resource"],
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        found = await self._host.call(self._grants.code, authorization_code.code)
        return await self._exchange(client, found, authorization_code.scopes)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        found = await self._host.call(self._grants.refresh, refresh_token)
        if found is None:
            return None
        return RefreshToken(
            token=refresh_token,
            client_id=found.client_id,
            scopes=found.detail["scopes"],
            expires_at=int(found.expires_at.timestamp()),
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        return await self._exchange(client, await self._host.call(self._grants.refresh, refresh_token.token), scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = await self._host.call(self._grants.of_access_token, token)
        return None if found is None else AccessToken(token=token, client_id=found.client_id, scopes=[])

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        found = await self._host.call(self._grants.refresh, token.token)
        found = found or await self._host.call(self._grants.of_access_token, token.token)
        if found is not None:
            await self._host.call(self._grants.end, found)

    async def _exchange(self, client: OAuthClientInformationFull, found: Any, scopes: list[str]) -> OAuthToken:
        if found is None:
            raise TokenError("invalid_grant")
        try:
            issued = await self._host.call(self._grants.exchange, found, scopes, client.client_name or client.client_id)
        except GrantRefused as error:
            raise TokenError("invalid_grant", "It was used before; everything that came of it has ended.") from error
        return OAuthToken(
            access_token=issued.access_token,
            refresh_token=issued.refresh_token,
            expires_in=issued.expires_in_seconds,
            scope=" ".join(issued.scopes),
        )


def _same_loopback(asked: AnyUrl, registered: AnyUrl) -> bool:
    """Whether two addresses differ in the port of a loopback host only."""
    one, other = urlsplit(str(asked)), urlsplit(str(registered))
    same = (one.scheme, one.hostname, one.path, one.query) == (other.scheme, other.hostname, other.path, other.query)
    return same and one.scheme == "http" and is_loopback(one.hostname or "")


def _check_redirect(address: AnyUrl) -> None:
    """https, http on this machine, or an application's own scheme."""
    parts = urlsplit(str(address))
    if (
        parts.fragment
        or parts.scheme in _REFUSED_SCHEMES
        or (parts.scheme == "http" and not is_loopback(parts.hostname or ""))
    ):
        raise RegistrationError(
            "invalid_redirect_uri", "Use https, http on a loopback address, or a scheme of your own."
        )
