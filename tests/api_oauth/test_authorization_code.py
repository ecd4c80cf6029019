"""The authorization code flow against a real host: registration, consent, tokens, rotation, revocation."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from engine.domain.access import Scope
from tests.api_oauth.browser import REDIRECT, Application, consent, works
from tests.services.server import RunningHost


@pytest.fixture
def application(running_host: RunningHost) -> Application:
    return Application(running_host)


def test_an_application_gets_a_token_that_reads_and_writes(running_host: RunningHost, application: Application) -> None:
    answer = application.exchange(application.code())
    assert answer.status_code == 200, answer.text
    issued = answer.json()
    assert isinstance(issued["expires_in"], int) and issued["scope"] == "memory:read memory:write"
    client = running_host.client(issued["access_token"])
    assert client.post("/v1/remember", json={"content": "Written through OAuth."}).status_code == 200
    assert client.get("/v1/auth/token/validate").json()["scopes"] == ["memory:read", "memory:write"]
    assert client.get("/v1/admin/tokens").status_code == 403


def test_the_redirect_brings_code_and_state_back_to_any_loopback_port(application: Application) -> None:
    answer = consent(application.http, application.authorize().headers["location"], application.host.owner_token)
    assert answer.status_code == 302 and answer.headers["location"].startswith(application.redirect_uri)
    assert parse_qs(urlsplit(answer.headers["location"]).query)["state"] == ["s1"]


def test_the_consent_page_names_who_asks_for_what_and_runs_nothing(application: Application) -> None:
    page = application.http.get(application.authorize().headers["location"])
    assert "&lt;b&gt;Editor&lt;/b&gt;" in page.text and "<b>Editor" not in page.text
    assert "127.0.0.1:43210" in page.text and "search your memories" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "<script" not in page.text and "src=" not in page.text


def test_a_denial_is_told_to_the_application(application: Application) -> None:
    answer = consent(application.http, application.authorize().headers["location"], "", decision="deny")
    assert parse_qs(urlsplit(answer.headers["location"]).query)["error"] == ["access_denied"]


@pytest.mark.parametrize("who", ["nobody", "reader", "unknown"])
def test_only_an_owner_can_consent(running_host: RunningHost, application: Application, who: str) -> None:
    tokens = {
        "nobody": "",
        "reader": running_host.issue(scopes=frozenset({Scope.READ})),
        "unknown": "mv_abcdefgh_" + "x" * 43,
    }
    answer = consent(application.http, application.authorize().headers["location"], tokens[who])
    assert answer.status_code == 403 and "location" not in answer.headers and "role=alert" in answer.text


def test_a_form_from_elsewhere_is_refused(application: Application) -> None:
    address, owner = application.authorize().headers["location"], application.host.owner_token
    assert consent(application.http, address, owner, guard="made up").status_code == 403


def test_a_request_is_good_for_one_consent(application: Application) -> None:
    address, owner = application.authorize().headers["location"], application.host.owner_token
    assert consent(application.http, address, owner).status_code == 302
    assert application.http.get(address).status_code == 404


def test_a_wrong_verifier_or_address_gets_nothing(application: Application) -> None:
    code = application.code()
    assert application.exchange(code, code_verifier="x" * 43).json()["error"] == "invalid_grant"
    assert application.exchange(code, redirect_uri="http://127.0.0.1:1/callback").status_code == 400
    assert application.exchange("made-up").json()["error"] == "invalid_grant"


def test_a_code_that_comes_twice_ends_what_came_of_it(running_host: RunningHost, application: Application) -> None:
    code = application.code()
    issued = application.exchange(code).json()
    assert works(running_host, issued["access_token"])
    assert application.exchange(code).json()["error"] == "invalid_grant"
    assert not works(running_host, issued["access_token"])
    assert application.refresh(issued["refresh_token"]).status_code == 400


def test_refresh_tokens_rotate_and_an_old_one_ends_the_family(
    running_host: RunningHost, application: Application
) -> None:
    first = application.exchange(application.code()).json()
    second = application.refresh(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert works(running_host, second["access_token"]) and not works(running_host, first["access_token"])
    assert application.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert not works(running_host, second["access_token"])
    assert application.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_revoking_either_token_ends_both(running_host: RunningHost, application: Application, which: str) -> None:
    issued = application.exchange(application.code()).json()
    form = {"token": issued[which], "client_id": application.client_id}
    other = Application(running_host)
    other.http.post("/oauth/revoke", data=form | {"client_id": other.client_id})
    assert works(running_host, issued["access_token"]), "another client cannot revoke it"
    for _ in range(2):
        assert application.http.post("/oauth/revoke", data=form).status_code == 200
    assert not works(running_host, issued["access_token"])
    assert application.refresh(issued["refresh_token"]).status_code == 400


def test_the_tokens_of_one_application_are_nothing_to_another(running_host: RunningHost) -> None:
    one, other = Application(running_host), Application(running_host)
    other.verifier = one.verifier
    assert other.exchange(one.code()).json()["error"] == "invalid_grant"
    issued = one.exchange(one.code()).json()
    assert other.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    assert one.refresh(issued["refresh_token"]).status_code == 200


def test_faulty_requests_do_not_reach_the_consent(application: Application) -> None:
    assert application.authorize(client_id="unknown").status_code == 400
    assert application.authorize(redirect_uri="https://evil.example/callback").status_code == 400
    assert application.authorize(redirect_uri="http://127.0.0.1:1/elsewhere").status_code == 400
    for changes, error in (
        ({"scope": "memory:admin"}, "invalid_scope"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
    ):
        location = application.authorize(**changes).headers["location"]
        assert location.startswith(application.redirect_uri)
        assert parse_qs(urlsplit(location).query)["error"] == [error]


@pytest.mark.parametrize(
    "body",
    [
        {"redirect_uris": ["http://example.com/callback"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": []},
        {"redirect_uris": [REDIRECT], "scope": "memory:admin"},
        {"redirect_uris": [REDIRECT], "client_name": "n" * 10_000},
    ],
)
def test_a_registration_that_could_do_harm_is_refused(running_host: RunningHost, body: dict[str, object]) -> None:
    answer = running_host.client(None).post("/oauth/register", json=body)
    assert answer.status_code == 400 and answer.json()["error"].startswith("invalid_")


def test_a_client_that_asks_for_a_secret_is_made_a_public_one(running_host: RunningHost) -> None:
    body = {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "client_secret_post"}
    made = running_host.client(None).post("/oauth/register", json=body).json()
    assert made["token_endpoint_auth_method"] == "none" and "client_secret" not in made


def test_no_secret_of_the_flow_is_stored_or_logged(running_host: RunningHost, application: Application) -> None:
    code = application.code()
    issued = application.exchange(code).json()
    stored = b"".join(path.read_bytes() for path in running_host.data_dir.glob("*.db*"))
    for secret in (code, issued["access_token"], issued["refresh_token"]):
        assert secret.encode() not in stored and secret not in running_host.log
