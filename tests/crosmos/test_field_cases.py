"""Field cases of isolation and writes, played over the Crosmos-compatible surface.

A search there asks one space; a case that names none is asked in every space that the caller lists,
and the candidates meet by confidence.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx
import pytest
import uvicorn

from api.app import create_app
from api.options import ServerOptions
from engine.engine import Engine
from engine.settings import Settings
from tests.field_cases.accounts import KEEPER
from tests.field_cases.cases import Case, Row, load, parameters
from tests.field_cases.engine_surface import EngineSurface, EngineWorld
from tests.field_cases.runner import play
from tests.field_cases.surface import Arrangement, Reply, Shown
from tests.shared_data import field_cases_file

AREAS = ("isolation", "write")
SPOKEN = {
    "search_memory": {"query", "limit", "space", "min_confidence"},
    "recall": {"query", "limit", "space"},
    "forget": {"memory_id"},
    "get_memory": {"memory_id"},
}
"""What the surface has of the verbs of the cases."""

MODES = {"search_memory": "strict", "recall": "forgiving"}
START_SECONDS = 30


def cases() -> list[Case]:
    """The cases that this surface has the words for."""
    file = field_cases_file()
    found = load(file) if file.is_file() else ()
    chosen = [case for case in found if case.area in AREAS and case.tier == "must" and not case.is_procedure]
    return [case for case in chosen if all(set(step.arguments) <= SPOKEN.get(step.verb, set()) for step in case.steps)]


class CrosmosWorld:
    """The spaces and actors of one case; rows are stored inside, questions go over HTTP."""

    def __init__(self, inside: EngineWorld, client: httpx.Client) -> None:
        self._inside = inside
        self._client = client

    def write(self, rows: Sequence[Row]) -> list[str]:
        return self._inside.write(rows)

    def may_read(self, actor: str | None, space: str) -> bool:
        return self._inside.may_read(actor, space)

    def count_tokens(self, text: str) -> int:
        return self._inside.count_tokens(text)

    def call(self, actor: str | None, verb: str, arguments: Mapping[str, Any]) -> Reply:
        headers = {"Authorization": f"Bearer {self._inside.accounts.secrets[KEEPER if actor is None else actor]}"}
        if verb in MODES:
            return self._search(headers, MODES[verb], dict(arguments))
        method = "DELETE" if verb == "forget" else "GET"
        # A token of the other contract may be used here; without a space the answer is the union.
        answer = self._client.request(method, f"/api/v1/memories/{arguments['memory_id']}", headers=headers)
        status = "ok" if answer.is_success else "error"
        return Reply(status, record_id=str(arguments["memory_id"]), text=answer.text, http=answer.status_code)

    def _search(self, headers: Mapping[str, str], mode: str, given: dict[str, Any]) -> Reply:
        listed = self._client.get("/api/v1/spaces", headers=headers).json()["spaces"]
        named = given.pop("space", None)
        chosen = [space["id"] for space in listed if named in (None, space["name"], space["id"])]
        if not chosen:
            return Reply("error", text=f"Space {named} not found", http=404)
        limit = int(given.pop("limit", 5))
        candidates, texts = [], []
        for space_id in chosen:
            body = {**given, "space_id": space_id, "mode": mode, "limit": limit}
            answer = self._client.post("/api/v1/search", json=body, headers=headers)
            texts.append(answer.text.replace(space_id, ""))
            if not answer.is_success:
                return Reply("error", text=answer.text, http=answer.status_code)
            candidates += answer.json()["candidates"]
        candidates.sort(key=lambda each: -each["confidence"])
        hits = tuple(Shown(each["memory_id"], each["content"], each["confidence"]) for each in candidates[:limit])
        return Reply("ok" if hits else "no_match", hits, text="\n".join(texts), http=200)


class CrosmosSurface:
    """Opens worlds behind one host."""

    def __init__(self, engine: EngineSurface, client: httpx.Client) -> None:
        self._engine = engine
        self._client = client

    def world(
        self, spaces: Sequence[str], actors: Mapping[str, Mapping[str, str]], arrangement: Arrangement
    ) -> CrosmosWorld:
        return CrosmosWorld(self._engine.world(spaces, actors, arrangement), self._client)


@pytest.fixture(scope="module")
def surface(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrosmosSurface]:
    """A host in this process, so that rows can be stored as the cases give them."""
    with Engine.open(Settings(data_dir=tmp_path_factory.mktemp("crosmos-cases"))) as engine:
        server = uvicorn.Server(uvicorn.Config(create_app(engine, ServerOptions()), port=0, log_config=None, ws="none"))
        thread = threading.Thread(target=server.run)
        thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield CrosmosSurface(EngineSurface(engine), client)
        server.should_exit = True
        thread.join(START_SECONDS)


@pytest.mark.parametrize("case", parameters(cases()))
def test_a_field_case_holds_over_the_crosmos_surface(case: Case, surface: CrosmosSurface) -> None:
    play(case, surface)
