"""The Python client reads as the engine does: the same answers, the same errors."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.client import Client
from engine.domain.access import Scope
from engine.errors import (
    Conflict,
    ContentTooLarge,
    Forbidden,
    InvalidIdentifier,
    InvalidRequest,
    MemvouchError,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from tests.services.server import RunningHost

TRAIN = "The release train leaves on Tuesdays."


@pytest.fixture
def memory(running_host: RunningHost) -> Iterator[Client]:
    token = running_host.issue(spaces=[(f"client-{uuid.uuid4().hex}", True)])
    with Client(running_host.url, token, agent="tester") as client:
        yield client


def test_a_memory_lives_through_all_verbs(memory: Client) -> None:
    stored = memory.remember(TRAIN, path="team/release", importance=0.5)
    assert (stored.status, stored.version) == ("created", 1)
    hit = memory.search("When does the release train leave?").results[0]
    assert (hit.id, hit.content, hit.path, hit.label) == (stored.id, TRAIN, "team/release", "strong")
    assert memory.update(stored.id, content=f"{TRAIN} At ten.").version == 2
    assert memory.get(stored.id)["agent_id"] == "tester"
    pack = memory.recall_context("release train", max_tokens=200)
    assert [item.id for item in pack.items] == [stored.id] and 0 < pack.used_tokens <= pack.max_tokens == 200
    memory.forget(stored.id)
    assert memory.list_memories() == []
    assert memory.restore(stored.id).id == stored.id
    assert memory.update_state(current_task="ship").status == "active"


def test_no_match_is_a_value_and_recall_says_weak(memory: Client) -> None:
    memory.remember(TRAIN)
    answer = memory.search("What is the name of the parrot?")
    assert answer.results == () and answer.no_match is not None
    assert answer.no_match.reason == "below_threshold"
    assert memory.recall("What is the name of the parrot?").results[0].label == "weak"


def test_errors_are_those_of_the_engine(running_host: RunningHost, memory: Client) -> None:
    stored = memory.remember(TRAIN, idempotency_key="k")
    faults: list[tuple[type[MemvouchError], object]] = [
        (NotFound, lambda: memory.get(str(uuid.uuid4()))),
        (InvalidIdentifier, lambda: memory.get("nonsense")),
        (InvalidRequest, lambda: memory.search("x", colour="blue")),
        (Conflict, lambda: memory.remember("Something else.", idempotency_key="k")),
        (Conflict, lambda: memory.update(stored.id, content="x y", expected_version=7)),
        (ContentTooLarge, lambda: memory.remember("x" * 600_000)),
    ]
    for kind, call in faults:
        with pytest.raises(kind):
            call()  # type: ignore[operator]
    with pytest.raises(InvalidRequest) as raised:
        memory.search("x", colour="blue")
    assert raised.value.field == "colour"
    for token, missing in ((None, True), ("mv_abcdefgh_" + "x" * 43, False)):
        with Client(running_host.url, token) as stranger, pytest.raises(Unauthenticated) as refused:
            stranger.search("x")
        assert refused.value.missing is missing
    read_only = running_host.issue(scopes=frozenset({Scope.READ}))
    with Client(running_host.url, read_only) as reader, pytest.raises(Forbidden):
        reader.remember("x y")


def test_a_folder_leads_to_its_host_and_an_unserved_one_says_so(running_host: RunningHost, tmp_path: Path) -> None:
    with Client.of_folder(running_host.data_dir) as owner:
        assert owner.search("*", limit=1) is not None
    with pytest.raises(Unavailable, match="memvouch serve"):
        Client.of_folder(tmp_path)


def test_a_host_that_is_gone_is_unavailable() -> None:
    with Client("http://127.0.0.1:9", "x" * 20) as client, pytest.raises(Unavailable):
        client.search("x")
