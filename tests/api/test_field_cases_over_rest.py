"""The field cases of isolation, filters, text, strict answers, writes and HTTP, played over REST."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from api.app import create_app
from api.options import ServerOptions
from engine.engine import Engine
from engine.settings import Settings
from tests.field_cases.cases import Case, load, parameters
from tests.field_cases.engine_surface import EngineSurface
from tests.field_cases.rest_surface import RestSurface
from tests.field_cases.runner import play
from tests.shared_data import field_cases_file

AREAS = ("isolation", "filters", "http", "text", "write", "strict", "budget")
MOST_ROWS = 300
START_SECONDS = 30


def cases() -> list[Case]:
    """The cases that need no procedure of their own and no large space: those are the engine's business."""
    file = field_cases_file()
    found = load(file) if file.is_file() else ()
    chosen = [case for case in found if case.area in AREAS and case.tier == "must" and not case.is_procedure]
    return [case for case in chosen if len(case.rows) <= MOST_ROWS and all(step.verb != "cli" for step in case.steps)]


@pytest.fixture(scope="module")
def rest_surface(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestSurface]:
    """A host in this process, so that HTTP and engine answer from the same records."""
    with Engine.open(Settings(data_dir=tmp_path_factory.mktemp("rest-cases"))) as engine:
        config = uvicorn.Config(create_app(engine, ServerOptions()), port=0, log_config=None, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield RestSurface(EngineSurface(engine), client)
        server.should_exit = True
        thread.join(START_SECONDS)


@pytest.mark.parametrize("case", parameters(cases()))
def test_a_field_case_holds_over_rest(case: Case, rest_surface: RestSurface) -> None:
    play(case, rest_surface)
