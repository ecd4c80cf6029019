"""A part that is down is told as an outage, never as "nothing found"."""

from __future__ import annotations

import time
from pathlib import Path

import httpx

from tests.field_cases.embedding_server import embedding_server
from tests.services.server import serve

DUMPS = "Nightly database dumps land in the cold bucket at 02:15 UTC."
PATIENCE_SECONDS = 20


def states(client: httpx.Client) -> tuple[str, int]:
    return client.get("/health").json()["status"], client.get("/ready").status_code


def await_states(client: httpx.Client, wanted: tuple[str, int]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while states(client) != wanted:
        assert time.monotonic() < deadline, f"{states(client)} instead of {wanted}"
        time.sleep(0.2)


def test_a_dead_embedder_is_an_outage_and_health_turns_and_comes_back(tmp_path: Path) -> None:
    with embedding_server(32) as embedder:
        model = {"MEMVOUCH_EMBEDDER": "openai:test", "MEMVOUCH_EMBEDDER_URL": embedder.url}
        with serve(tmp_path, **model) as host:
            client = host.client()
            stored = client.post("/v1/remember", json={"content": DUMPS, "path": "notes"}).json()["id"]
            await_states(client, ("ok", 200))
            embedder.failing = True
            found = client.get("/v1/memories/search", params={"query": DUMPS})
            assert found.status_code in (200, 503)
            if found.status_code == 200:
                assert [item["id"] for item in found.json()["results"]] == [stored]
                assert found.json()["coverage"]["degraded"][0]["leg"] == "dense"
            for path, body in (
                ("/v1/memories/search", {"query": "the name of the parrot"}),
                ("/v1/recall/context", {"query": "the name of the parrot"}),
                ("/v1/remember", {"content": "Something new."}),
            ):
                answer = client.post(path, json=body)
                if path.endswith("context") and answer.status_code == 200:
                    assert answer.json()["coverage"]["degraded"], "an empty pack must say that a leg is down"
                    continue
                assert answer.status_code == 503, path
                assert int(answer.headers["Retry-After"]) >= 1 and answer.json()["detail"]
            await_states(client, ("degraded", 503))
            assert client.get("/v1/memories").json()["count"] == 1, "what needs no embedder goes on"
            embedder.failing = False
            await_states(client, ("ok", 200))
            assert client.post("/v1/remember", json={"content": "Something new."}).status_code == 200
