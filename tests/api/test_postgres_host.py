"""A host on PostgreSQL, over HTTP: what it keeps, finds, forgets and gives out, and what a restart leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import URL, create_engine, text

from tests.services.postgres import PostgresServer, postgres
from tests.services.server import serve

__all__ = ["postgres"]

FACTS = {
    "projects/heron/tickets": "Heron tickets are signed QR codes, valid for 48 hours without reception.",
    "projects/heron-gateway": "The Heron gateway retries a failed payment three times.",
    "travel/gdansk": "The train to Gdansk leaves from platform 7 at 06:14.",
    "kitchen/recipes": "Rye bread needs a sourdough that was fed twelve hours before.",
}


@pytest.fixture
def store(postgres: PostgresServer) -> Iterator[URL]:
    url = postgres.new_database()
    yield url
    postgres.drop_database(url)


def address(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def remember(client: httpx.Client) -> dict[str, str]:
    """Ids by path."""
    made = {}
    for path, content in FACTS.items():
        answer = client.post("/v1/remember", json={"content": content, "path": path})
        assert answer.status_code == 200, answer.text
        made[path] = answer.json()["id"]
    return made


def asked(client: httpx.Client, way: str, query: str, **params: Any) -> dict[str, Any]:
    answer = client.get(way, params={"query": query, **params})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def ids(body: dict[str, Any], key: str = "results") -> list[str]:
    return [item["id"] for item in body[key]]


def holds_everything(client: httpx.Client, made: dict[str, str]) -> None:
    """All that a host on this store has to answer, before and after a restart."""
    strict = asked(client, "/v1/memories/search", "From which platform does the train to Gdansk leave?")
    assert ids(strict)[0] == made["travel/gdansk"] and "no_match" not in strict
    nothing = asked(client, "/v1/memories/search", "What is the licence plate of the lawn mower?")
    assert nothing["results"] == [] and nothing["no_match"]["reason"] == "below_threshold"
    forgiving = asked(client, "/v1/recall", "sourdough", limit=3)
    assert ids(forgiving)[0] == made["kitchen/recipes"]
    below = {made["projects/heron/tickets"]}
    assert set(ids(asked(client, "/v1/recall", "Heron", path="projects/heron"))) == below
    assert set(ids(asked(client, "/v1/recall", "Heron", path="PROJECTS/%"))) == below | {made["projects/heron-gateway"]}
    assert set(ids(asked(client, "/v1/memories/search", "*", path="projects/heron/%"))) == below
    listed = client.get("/v1/memories", params={"path_prefix": "projects/heron"}).json()
    assert set(ids(listed, "memories")) == below | {made["projects/heron-gateway"]}
    assert client.get("/v1/memories").json()["count"] == len(made)


def test_a_host_on_postgresql_remembers_finds_filters_and_survives_a_restart(tmp_path: Path, store: URL) -> None:
    data_dir, environment = tmp_path / "data", {"MEMVOUCH_DATABASE_URL": address(store)}
    with serve(data_dir, **environment) as host:
        made = remember(host.client())
        holds_everything(host.client(), made)
        token = host.owner_token
        host.kill()
    assert not (data_dir / "memvouch.db").exists(), "nothing is stored beside PostgreSQL"
    with serve(data_dir, **environment) as again:
        assert again.owner_token == token
        holds_everything(again.client(), made)
        assert again.client().get("/ready").status_code == 200


def test_a_text_that_was_forgotten_on_postgresql_is_found_nowhere(tmp_path: Path, store: URL) -> None:
    with serve(tmp_path / "data", MEMVOUCH_DATABASE_URL=address(store)) as host:
        client = host.client()
        made = remember(client)
        gone = made["travel/gdansk"]
        assert client.post(f"/v1/memories/{gone}/forget", json={}).status_code == 200
        assert client.get(f"/v1/memories/{gone}").status_code == 404
        assert gone not in ids(asked(client, "/v1/recall", "train to Gdansk"))
        assert client.post(f"/v1/memories/{gone}/restore", json={}).status_code == 200
        assert ids(asked(client, "/v1/recall", "train to Gdansk"))[0] == gone
        assert client.post(f"/v1/memories/{gone}/forget", json={"mode": "hard_delete"}).status_code == 200
        assert gone not in ids(asked(client, "/v1/recall", "train to Gdansk"))
        assert FACTS["travel/gdansk"] not in client.post("/v1/memories/export", json={}).json()["jsonl"]
        assert "platform 7" not in contents_of(store)


def test_an_export_from_postgresql_is_imported_elsewhere_unchanged(
    tmp_path: Path, store: URL, postgres: PostgresServer
) -> None:
    with serve(tmp_path / "one", MEMVOUCH_DATABASE_URL=address(store)) as host:
        made = remember(host.client())
        pages, cursor = "", 0
        while cursor is not None:
            page = host.client().post("/v1/memories/export", json={"limit": 3, "cursor": cursor}).json()
            pages, cursor = pages + page["jsonl"], page["next_cursor"]
    assert {json.loads(line)["content"] for line in pages.splitlines()} >= set(FACTS.values())
    other = postgres.new_database()
    try:
        with serve(tmp_path / "two", MEMVOUCH_DATABASE_URL=address(other)) as host:
            sent = {"jsonl": pages, "idempotency_key": "once", "bucket": "work"}
            for _ in range(2):
                assert host.client().post("/v1/memories/import", json=sent).status_code == 200
            holds_everything(host.client(), made)
    finally:
        postgres.drop_database(other)


def contents_of(url: URL) -> str:
    """Everything that the tables hold, as text."""
    engine = create_engine(url)
    with engine.connect() as connection:
        tables = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars().all()
        found = [str(connection.execute(text(f'SELECT * FROM "{table}"')).all()) for table in tables]
    engine.dispose()
    return "\n".join(found)
