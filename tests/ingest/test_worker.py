from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from engine.domain.source import ContentType, JobReport, JobStatus, Message, NewConversation, NewSource
from engine.embedding.fake import FakeEmbedder
from engine.embedding.protocol import Vectors
from engine.engine import Engine
from engine.errors import EmbedderUnavailable, NotFound
from engine.settings import Settings
from tests.engines import open_engine

SOURCES = 6
MESSAGES = 240
MEMORIES = MESSAGES // 2
JOB_SECONDS = 60


def talk(number: int, size: int = MESSAGES) -> NewConversation:
    turns = tuple(
        Message("user", f"Turn {place} of talk {number} is about topic {place % 7}.", place) for place in range(size)
    )
    return NewConversation(messages=turns, session_id=f"talk-{number}")


def finished(engine: Engine, job_id: str) -> JobReport:
    deadline = time.monotonic() + JOB_SECONDS
    while time.monotonic() < deadline:
        report = engine.ingest.job(engine.local_owner(), job_id)
        if report.job.completed_at is not None:
            return report
        time.sleep(0.02)
    raise AssertionError("the job did not end")


class Broken(FakeEmbedder):
    """An embedder that is down for its first calls."""

    down = 2

    def embed_documents(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        if self.down:
            self.down -= 1
            raise EmbedderUnavailable("the embedder is down", retry_after_seconds=0.01)
        return super().embed_documents(texts)


def test_a_process_that_is_killed_in_a_job_loses_and_doubles_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.ingest.dying_host", str(tmp_path), str(SOURCES), str(MESSAGES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        accepted = json.loads(process.stdout.readline())
        assert process.stdout.readline() == "writing\n"
        process.kill()
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        before = engine.ingest.memories(me, None, limit=1)[1]
        assert before < SOURCES * MEMORIES, "killed too late to tell anything"
        engine.ingest.start(2)
        for job_id in accepted:
            report = finished(engine, job_id)
            assert (report.job.status, report.job.memory_count) == (JobStatus.COMPLETED, MEMORIES)
        found, total = engine.ingest.memories(me, None, limit=SOURCES * MEMORIES + 1)
        assert total == len({memory.content for memory in found}) == SOURCES * MEMORIES
        assert engine.doctor().equal


def test_an_outage_puts_the_job_back_and_it_is_done_later(tmp_path: Path) -> None:
    with open_engine(tmp_path, Broken()) as engine:
        me = engine.local_owner()
        engine.ingest.start(1)
        accepted = engine.ingest.take_sources(me, "default", [NewSource(content="Kept for later.")])
        report = finished(engine, accepted.job_id)
        assert (report.job.status, report.job.attempts) == (JobStatus.COMPLETED, 3)


def test_a_source_that_is_deleted_while_it_waits_leaves_nothing(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        accepted = engine.ingest.take_conversation(me, "default", talk(1))
        engine.ingest.delete_source(me, accepted.source_ids[0])
        assert engine.ingest.worker.drain() == 1
        assert engine.ingest.memories(me, None)[1] == 0
        with pytest.raises(NotFound):
            engine.ingest.source(me, accepted.source_ids[0])


def test_a_source_that_is_deleted_in_mid_job_leaves_nothing(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        accepted = engine.ingest.take_conversation(me, "default", talk(1, 500))
        engine.ingest.start(1)
        while not engine.ingest.memories(me, None, limit=1)[1]:
            time.sleep(0.002)
        engine.ingest.delete_source(me, accepted.source_ids[0])
        finished(engine, accepted.job_id)
        assert engine.ingest.memories(me, None)[1] == 0
        assert engine.doctor().equal


def test_a_space_that_is_deleted_in_mid_job_leaves_nothing(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        space = engine.create_space(me, "doomed")
        engine.ingest.take_conversation(me, space.id, talk(1, 500))
        engine.ingest.start(1)
        while not engine.ingest.memories(me, space.id, limit=1)[1]:
            time.sleep(0.002)
        engine.delete_space(me, space.id)
        after = engine.ingest.take_sources(me, "default", [NewSource(content="The worker lives.")])
        assert finished(engine, after.job_id).job.status is JobStatus.COMPLETED
        assert engine.ingest.memories(me, None)[1] == 1
        assert engine.doctor().equal


def test_a_memory_keeps_its_source_and_place(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        accepted = engine.ingest.take_conversation(me, "default", talk(3, 4))
        engine.ingest.worker.drain()
        found = engine.ingest.memories(me, None, descending=False)[0]
        assert {memory.source_id for memory in found} == set(accepted.source_ids)
        assert sorted(memory.provenance["position"]["first"] for memory in found) == [0, 2]
        assert all(memory.metadata["session_id"] == "talk-3" for memory in found)


class _Chat(BaseHTTPRequestHandler):
    """A chat endpoint that states one fact."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps({"facts": ["Ann lives in Turin.", ""]})
        body = json.dumps({"choices": [{"message": {"content": answer}}]}).encode()
        self.send_response(200 if self.headers["Authorization"] == "Bearer secret" else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@pytest.fixture
def chat() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Chat) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


def test_an_extractor_adds_its_facts_beside_the_rules(tmp_path: Path, chat: str) -> None:
    settings = Settings(data_dir=tmp_path, extractor="any", extractor_url=chat, extractor_api_key="secret")
    with Engine.open(settings, embedder=FakeEmbedder()) as engine:
        me = engine.local_owner()
        engine.ingest.take_sources(
            me, "default", [NewSource(content="ann: i moved there", content_type=ContentType.TEXT)]
        )
        engine.ingest.worker.drain()
        found = {memory.content: memory.provenance["position"] for memory in engine.ingest.memories(me, None)[0]}
        assert found == {"ann: i moved there": {"part": 0}, "Ann lives in Turin.": {"extracted": True}}
