"""Many clients at once on one host: nothing fails, nothing is lost, truth and index agree."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.services.server import RunningHost, serve

WORKERS = 8
OPERATIONS = 40


def work(host: RunningHost, number: int) -> tuple[Counter[str], set[str]]:
    """One client's mixed operations: how they were answered, and the ids that must be there in the end."""
    chance, client, alive, answers = random.Random(number), host.client(), set[str](), Counter[str]()
    for turn in range(OPERATIONS):
        kind = chance.choices(["remember", "search", "update", "forget"], [40, 40, 10, 10])[0]
        if kind == "remember" or not alive:
            answer = client.post("/v1/remember", json={"content": f"Worker {number} notes fact {turn}.", "path": "w"})
            if answer.status_code == 200:
                alive.add(answer.json()["id"])
        elif kind == "search":
            answer = client.get("/v1/memories/search", params={"query": f"what does worker {number} note"})
        else:
            chosen = chance.choice(sorted(alive))
            if kind == "update":
                answer = client.patch(f"/v1/memories/{chosen}", json={"content": f"Worker {number} rewrites {turn}."})
            else:
                answer = client.post(f"/v1/memories/{chosen}/forget", json={"mode": "hard_delete"})
                alive.discard(chosen)
        answers[f"{kind} {answer.status_code}"] += 1
    return answers, alive


def test_mixed_work_of_many_clients_fails_nowhere_and_adds_up(tmp_path: Path) -> None:
    with serve(tmp_path) as host:
        with ThreadPoolExecutor(WORKERS) as pool:
            done = list(pool.map(lambda number: work(host, number), range(WORKERS)))
        answers = sum((each for each, _ in done), Counter[str]())
        assert {answer.rpartition(" ")[2] for answer in answers} == {"200"}, answers
        expected = set().union(*(alive for _, alive in done))
        listed = host.client().get("/v1/memories", params={"limit": 500}).json()
        assert {item["id"] for item in listed["memories"]} == expected and listed["total"] == len(expected)
        found = host.client().get("/v1/memories/search", params={"query": "*", "limit": 100}).json()
        assert {item["id"] for item in found["results"]} <= expected
