"""Who may talk to the host at all, and how much: Host, Origin, sizes, rates, deadlines."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.options import ServerOptions
from api.threads import Workers
from engine.errors import SetupError, Unavailable
from tests.services.server import RunningHost, serve

ORIGIN = "https://console.example"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """A host with every limit set low and one foreign origin and name allowed."""
    with serve(
        tmp_path_factory.mktemp("guarded"),
        *("--allowed-origin", ORIGIN, "--allowed-host", "memory.example", "--max-body", "2000", "--rate-limit", "30"),
    ) as host:
        yield host


def test_a_foreign_host_or_origin_is_refused_even_with_a_token(running_host: RunningHost) -> None:
    client = running_host.client()
    for headers in (
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost.evil.example:80"},
        {"Origin": "http://127.0.0.1:1"},
    ):
        answer = client.get("/v1/memories", headers=headers)
        assert answer.status_code == 403, headers
        assert "access-control-allow-origin" not in answer.headers


def test_loopback_names_and_the_same_origin_pass(running_host: RunningHost) -> None:
    client = running_host.client()
    port = client.base_url.port
    for headers in (
        {"Host": f"localhost:{port}"},
        {"Host": "[::1]"},
        {"Host": "127.0.0.1"},
        {"Origin": f"http://127.0.0.1:{port}"},
    ):
        assert client.get("/v1/memories", headers=headers).status_code == 200, headers


def test_configured_hosts_and_origins_pass_and_only_they(guarded: RunningHost) -> None:
    client = guarded.client(guarded.issue())
    answer = client.get("/v1/memories", headers={"Host": "memory.example", "Origin": ORIGIN})
    assert answer.status_code == 200 and answer.headers["access-control-allow-origin"] == ORIGIN
    assert client.get("/v1/memories", headers={"Host": "other.example"}).status_code == 403
    refused = client.get("/v1/memories", headers={"Origin": "https://console.example.evil"})
    assert refused.status_code == 403 and "access-control-allow-origin" not in refused.headers


def test_a_page_of_an_allowed_origin_may_use_every_verb_that_a_route_has(guarded: RunningHost) -> None:
    client = guarded.client(None)
    schemas = [guarded.client().get(path).json() for path in ("/openapi.json", "/api/v1/openapi.json")]
    verbs = {verb.upper() for schema in schemas for routes in schema["paths"].values() for verb in routes}
    assert {"GET", "POST", "PUT", "PATCH", "DELETE"} <= verbs
    for verb in sorted(verbs):
        asked = {"Origin": ORIGIN, "Access-Control-Request-Method": verb}
        answer = client.options("/v1/memories", headers=asked)
        assert answer.status_code == 200 and verb in answer.headers["access-control-allow-methods"]


def test_a_large_body_is_refused_as_json_whether_announced_or_not(guarded: RunningHost) -> None:
    client = guarded.client(guarded.issue())
    body = json.dumps({"content": "x" * 3000}).encode()

    def in_pieces() -> Iterator[bytes]:
        yield body[:1500]
        yield body[1500:]

    for content in (body, in_pieces()):
        answer = client.post("/v1/remember", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "content_too_large"
    assert client.get("/v1/memories").json()["memories"] == []


def test_content_is_measured_as_text_however_it_is_escaped(running_host: RunningHost) -> None:
    client = running_host.client()
    body = json.dumps({"content": "\x01" * (512 * 1024 + 1)}, ensure_ascii=True).encode()
    assert len(body) > 3_000_000, "the longest spelling of the largest content passes the body limit"
    answer = client.post("/v1/remember", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413 and "content has 524289 bytes" in answer.text


def test_a_token_that_asks_too_often_is_told_to_wait_and_others_are_not(guarded: RunningHost) -> None:
    client = guarded.client(guarded.issue())
    answers = [client.get("/v1/memories") for _ in range(40)]
    limited = [answer for answer in answers if answer.status_code == 429]
    assert len(limited) >= 5
    assert limited[0].json()["error"]["code"] == "rate_limited" and int(limited[0].headers["Retry-After"]) >= 1
    assert guarded.client(guarded.issue()).get("/v1/memories").status_code == 200


def test_a_call_that_finds_no_free_thread_in_time_is_turned_away_undone() -> None:
    free = threading.Event()
    ran: list[object] = []

    async def play() -> None:
        workers = Workers(threads=1, timeout_seconds=30, queue_seconds=0.05)
        first = asyncio.create_task(workers.call(free.wait))
        await asyncio.sleep(0)
        waiting = [workers.call(ran.append, number) for number in range(5)]
        refused = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(each, Unavailable) and each.retry_after_seconds > 0 for each in refused)
        assert all("Too many requests" in str(each) for each in refused)
        free.set()
        assert await first
        await workers.call(ran.append, "later")
        workers.close()

    asyncio.run(play())
    assert ran == ["later"]


def test_a_caller_that_leaves_does_not_stand_in_line() -> None:
    free = threading.Event()
    ran: list[object] = []

    async def play() -> None:
        workers = Workers(threads=1, timeout_seconds=30, queue_seconds=20)
        first = asyncio.create_task(workers.call(free.wait))
        gone = asyncio.create_task(workers.call(ran.append, "gone"))
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.wait({gone})
        free.set()
        assert await first
        workers.close()

    asyncio.run(play())
    assert ran == []


def test_the_counters_of_a_public_host_are_for_administrators(tmp_path: Path) -> None:
    with serve(tmp_path, "--public-url", "https://memory.example") as host:
        assert host.client(None).get("/metrics").status_code == 401
        assert host.client(host.issue()).get("/metrics").status_code == 403
        assert "memvouch_requests" in host.client().get("/metrics").text
        assert host.client(None).get("/health").status_code == 200


@pytest.mark.parametrize(("host", "public"), [("0.0.0.0", True), ("192.0.2.1", True), ("127.0.0.1", False)])
def test_a_host_with_a_public_address_is_public(host: str, public: bool) -> None:
    assert ServerOptions(host=host).is_public is public


def test_routes_are_counted_by_their_template_and_paths_without_one_together(running_host: RunningHost) -> None:
    client = running_host.client()
    for path in ("/openapi.json", "/.well-known/oauth-authorization-server", "/no/such", "/v1/no-such", "/mcp/none"):
        client.get(path)
    counted = client.get("/metrics").text
    for route in ("/openapi.json", "/.well-known/oauth-authorization-server", "/mcp/{profile}", "unmatched"):
        assert f'route="{route}"' in counted
    assert "no-such" not in counted and "no/such" not in counted and "/mcp/none" not in counted


def test_a_call_past_the_deadline_is_503_with_retry_after(tmp_path: Path) -> None:
    with serve(tmp_path, "--timeout", "0.05") as host:
        client = host.client()
        text = "A long text about many things, one after the other. " * 300
        answer = client.post("/v1/remember", json={"content": text})
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
        assert "idempotency key" in answer.json()["detail"]
        assert client.get("/health").status_code == 200


def test_the_socket_makes_its_user_the_owner_and_is_private(running_host: RunningHost) -> None:
    assert running_host.socket.stat().st_mode & 0o777 == 0o600
    transport = httpx.HTTPTransport(uds=str(running_host.socket))
    with httpx.Client(transport=transport, base_url="http://memvouch") as client:
        assert "memory:admin" in client.get("/v1/auth/token/validate").json()["scopes"]
        narrow = running_host.issue(spaces=[("by-socket", True)])
        answer = client.get("/v1/auth/token/validate", headers={"Authorization": f"Bearer {narrow}"})
        assert answer.json()["scopes"] == ["memory:read", "memory:write"], "a token still narrows"


def test_no_header_makes_a_tcp_caller_the_owner(running_host: RunningHost) -> None:
    client = running_host.client(None)
    for headers in ({"X-Forwarded-For": ""}, {"Forwarded": "for=unix:"}, {"X-Real-IP": "127.0.0.1"}):
        assert client.get("/v1/memories", headers=headers).status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example", "localhost.example"])
def test_options_that_would_expose_the_host_are_refused(host: str) -> None:
    with pytest.raises(SetupError, match="without authentication"):
        ServerOptions(host=host, require_auth=False).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_options_may_go_without_authentication(host: str) -> None:
    ServerOptions(host=host, require_auth=False).check()


def test_a_public_address_without_authentication_ends_at_once(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "cli.main", "serve", "--host", "0.0.0.0", "--no-auth", "--data-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 6 and "without authentication" in ended.stderr
    assert not (tmp_path / "memvouch.db").exists()


def test_a_loopback_host_may_go_without_tokens(tmp_path: Path) -> None:
    with serve(tmp_path, "--no-auth") as host:
        assert host.client(None).post("/v1/remember", json={"content": "Open house."}).status_code == 200
        assert host.client("mv_abcdefgh_" + "x" * 43).get("/v1/memories").status_code == 403, "a bad token stays bad"


def test_a_port_in_use_is_said_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "cli.main", "serve", "--data-dir", str(tmp_path)),
                *("--port", str(taken.getsockname()[1])),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 6 and "Cannot listen" in ended.stderr and "Traceback" not in ended.stderr


def test_a_stop_answers_what_has_begun_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    with serve(tmp_path) as host:
        client = host.client()
        ids = [client.post("/v1/remember", json={"content": f"Fact {n}."}).json()["id"] for n in range(5)]
        started = time.monotonic()
        assert host.stop() == 0
        assert time.monotonic() - started < 10
        assert not (tmp_path / "host.json").exists() and not (tmp_path / "host.sock").exists()
    with serve(tmp_path) as host:
        listed = host.client().get("/v1/memories").json()
        assert {item["id"] for item in listed["memories"]} == set(ids)


def test_a_kill_loses_no_acknowledged_write(tmp_path: Path) -> None:
    with serve(tmp_path) as host:
        client = host.client()
        ids = [client.post("/v1/remember", json={"content": f"Fact number {n}."}).json()["id"] for n in range(20)]
        host.kill()
    with serve(tmp_path) as host:
        client = host.client()
        assert {item["id"] for item in client.get("/v1/memories").json()["memories"]} == set(ids)
        found = client.get("/v1/memories/search", params={"query": "Fact number 7"}).json()["results"]
        assert ids[7] in [item["id"] for item in found]
