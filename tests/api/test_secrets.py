"""No token in clear, anywhere: logs at DEBUG, error bodies, metrics, the schema, the database, the folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.logs import without_secrets
from engine.domain.access import ALL_SCOPES
from tests.api.permissions import TABLE, Caller, World, world
from tests.services.server import serve

KEY = "sk-a-configured-key-that-nobody-may-see"
SECRET_START = len("mv_abcdefgh_")
SHOWN = 12
ISSUING = {"POST /v1/admin/tokens": "token", "POST /api/v1/auth/keys": "raw_key"}
"""The only routes that show a secret, and where."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("secrets")
    keys = {"MEMVOUCH_EMBEDDER_API_KEY": KEY, "MEMVOUCH_INDEX_API_KEY": KEY}
    with serve(folder, "--debug-logs", **keys) as host, world(host) as made:
        yield made


def pieces(token: str) -> set[str]:
    """What must not be seen of a token: its secret's first characters, wherever they stand."""
    return {token[SECRET_START : SECRET_START + SHOWN]}


def test_every_route_keeps_tokens_to_itself(stage: World) -> None:
    host = stage.host
    tokens = {host.owner_token, host.issue(scopes=ALL_SCOPES), "mv_abcdefgh_" + "w" * 43}
    stage.tokens[Caller.BAD] = "mv_abcdefgh_" + "w" * 43
    answers: list[str] = []
    for row in TABLE:
        stage.renew(row)
        for caller in (Caller.OWNER, Caller.BAD):
            answer = stage.send(row, caller)
            if answer.is_success and row.name in ISSUING:
                tokens.add(answer.json()[ISSUING[row.name]])
            else:
                answers.append(f"{answer.headers}{answer.text}")
        broken = stage.client(Caller.OWNER).request(
            row.method, row.path, content=b'{"broken', headers={"Content-Type": "application/json"}
        )
        answers.append(broken.text)
    client = host.client()
    leaky = {"token": host.owner_token, "api_key": host.owner_token, "query": "x"}
    answers += [
        client.get("/v1/memories/search", params=leaky).text,
        client.post("/v1/remember", json={"content": 7, host.owner_token: "x"}).text,
        client.get("/metrics").text,
        client.get("/openapi.json").text,
        client.get("/health").text,
        client.get("/ready").text,
    ]
    host.stop()
    assert '"level": "debug"' in host.log and '"route": "/v1/remember"' in host.log
    everything = "\n".join([*answers, host.log])
    for token in tokens:
        for piece in pieces(token):
            assert piece not in everything
    assert KEY not in everything
    files = [path for path in host.data_dir.rglob("*") if path.is_file() and path.name != "owner.token"]
    for path in files:
        stored = path.read_bytes()
        for token in tokens:
            assert not any(piece.encode() in stored for piece in pieces(token)), path.name


def test_the_owner_token_is_readable_by_its_owner_only(stage: World) -> None:
    path: Path = stage.host.data_dir / "owner.token"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("token mv_abcdefgh_" + "A" * 43 + " used", "token mv_abcdefgh[hidden] used"),
        ("Authorization: Bearer something-secret", "Authorization: Bearer [hidden]"),
        ('{"X-API-Key": "something-secret"}', '{"X-API-Key": "[hidden]"}'),
        ("nothing to hide: mv_short", "nothing to hide: mv_short"),
    ],
)
def test_a_log_line_loses_what_looks_like_a_credential(line: str, kept: str) -> None:
    assert without_secrets(line) == kept
