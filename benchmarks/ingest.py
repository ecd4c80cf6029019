"""Conversations in, questions out: how segmentation changes recall, and what ingest costs beside embedding.

    python -m benchmarks.ingest --conversations 3                  # segmentations in this process
    python -m benchmarks.ingest --url http://127.0.0.1:8787 --key csk_...   # a host, over REST

A question is a hit when one of the five best memories holds a turn that answers it. Larger segments
hit more easily because they hold more text; so the tokens of the five are shown, and how often the
best memories that fit into a budget of tokens hold an answer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from threading import Lock

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.predictions import store
from benchmarks.shared_data import Asked, EvaluationSet, StoredText, load, shared_folder
from engine.domain.access import Principal
from engine.domain.outcome import Matches
from engine.domain.query import Mode, Query
from engine.domain.source import Message, NewConversation
from engine.embedding.factory import create as create_embedder
from engine.embedding.protocol import Embedder, Vectors
from engine.engine import Engine
from engine.settings import Settings
from engine.writing.ingest.conversations import DEFAULT, Segmentation
from engine.writing.ingest.plan import plan

SET = "locomo"
BEST = 5
ASKED = 30
BUDGETS = (400, 800)
COMPARED = tuple(Segmentation(*each) for each in ((1, 0), (1, 1), (2, 0), (2, 1), (4, 0), (4, 4)))
_POLL_SECONDS = 0.2

Ask = Callable[[Asked], list[str]]
console = Console(width=None if sys.stdout.isatty() else 120)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one way of storing gave."""

    name: str
    memories: int
    hit: float
    tokens: float
    within: tuple[float, ...]
    """Share of hits within each of `BUDGETS`."""
    seconds: float


class Timed:
    """An embedder that adds up the time spent in it, over all threads."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._lock = Lock()
        self._inside, self._since = 0, 0.0
        self.seconds = 0.0
        """Wall time during which at least one thread was embedding."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._since = time.perf_counter()
        try:
            return self._inner.embed_documents(texts)
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self.seconds += time.perf_counter() - self._since


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ingest", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=shared_folder() / "data", help="folder of the sets (%(default)s)")
    parser.add_argument("--conversations", type=int, default=10, metavar="N", help="the first N only (%(default)s)")
    parser.add_argument("--limit-queries", type=int, metavar="N", help="at most N questions (all)")
    parser.add_argument("--url", help="a host to ask over REST instead")
    parser.add_argument("--key", help="its key")
    parser.add_argument("--throughput", action="store_true", help="measure a job's time beside the embedder's")
    options = parser.parse_args(arguments)
    evaluation = _some(load(options.data, SET), options.conversations).narrowed(options.limit_queries)
    if options.throughput:
        console.print(_throughput(evaluation))
        return 0
    if options.url:
        found = [_over_rest(evaluation, options.url, options.key or "")]
    else:
        found = []
        ways = [partial(_own_import, evaluation), *(partial(_segmented, evaluation, by) for by in COMPARED)]
        for way in track(ways, "Ways to store", console=Console(stderr=True)):
            found.append(way())
    console.print(_table(found, len(evaluation.queries)))
    return 0


def _some(evaluation: EvaluationSet, conversations: int) -> EvaluationSet:
    spaces = set(list(evaluation.by_space())[:conversations])
    return EvaluationSet(
        evaluation.name,
        tuple(each for each in evaluation.memories if each.space in spaces),
        tuple(each for each in evaluation.queries if each.space in spaces and each.gold),
    )


def _sessions(evaluation: EvaluationSet) -> Iterator[tuple[str, NewConversation]]:
    """Every session of every conversation, with the name of its space."""
    for space, memories in evaluation.by_space().items():
        sessions: dict[str, list[StoredText]] = {}
        for memory in memories:
            sessions.setdefault(memory.path or space, []).append(memory)
        for name, turns in sessions.items():
            yield space, NewConversation(messages=_messages(turns), session_id=name, session_date=turns[0].time)


def _messages(turns: Sequence[StoredText]) -> tuple[Message, ...]:
    split = (turn.text.partition(": ") for turn in turns)
    return tuple(Message(role, content or "-", place) for place, (role, _, content) in enumerate(split))


def _own_import(evaluation: EvaluationSet) -> Figures:
    """The yardstick: every turn a memory of its own, written without ingest."""
    with tempfile.TemporaryDirectory(prefix="memvouch-ingest-") as folder, _engine(folder) as engine:
        owner = engine.local_owner()
        started = time.perf_counter()
        stored = len(store(engine, owner, evaluation, lambda done: None))
        seconds = time.perf_counter() - started
        return _measure("the engine's own import", stored, seconds, evaluation, _asking(engine, owner))


def _segmented(evaluation: EvaluationSet, by: Segmentation) -> Figures:
    with tempfile.TemporaryDirectory(prefix="memvouch-ingest-") as folder, _engine(folder) as engine:
        owner = engine.local_owner()
        started, stored = time.perf_counter(), 0
        for space in evaluation.by_space():
            engine.create_space(owner, space)
        for space, conversation in _sessions(evaluation):
            source = engine.ingest.source(
                owner, engine.ingest.take_conversation(owner, space, conversation).source_ids[0]
            )
            news = [each.new for each in plan(source, engine.embedder.count_tokens, by=by)]
            stored += len(engine.remember_many(owner, news))
        seconds = time.perf_counter() - started
        name = f"size {by.size}, look-back {by.lookback}" + (" (default)" if by == DEFAULT else "")
        return _measure(name, stored, seconds, evaluation, _asking(engine, owner))


def _throughput(evaluation: EvaluationSet) -> str:
    """All sessions as jobs of the worker pool: how much of the wall time the embedder is busy."""
    timed = Timed(create_embedder(Settings()))
    with tempfile.TemporaryDirectory(prefix="memvouch-ingest-") as folder:
        settings = Settings(data_dir=Path(folder))
        with Engine.open(settings, embedder=timed) as engine:  # type: ignore[arg-type]
            owner = engine.local_owner()
            timed.embed_documents(["warm"])
            for space in evaluation.by_space():
                engine.create_space(owner, space)
            jobs = [
                engine.ingest.take_conversation(owner, space, conversation).job_id
                for space, conversation in _sessions(evaluation)
            ]
            timed.seconds, started = 0.0, time.perf_counter()
            engine.ingest.start()
            while any(engine.ingest.job(owner, job).job.completed_at is None for job in reversed(jobs)):
                time.sleep(_POLL_SECONDS)
            seconds = time.perf_counter() - started
            stored = sum(engine.ingest.job(owner, job).job.memory_count for job in jobs)
    share = timed.seconds / seconds
    return f"{stored} memories in {seconds:.1f} s ({stored / seconds:.0f}/s); the embedder was busy {share:.0%} of it"


def _over_rest(evaluation: EvaluationSet, url: str, key: str) -> Figures:
    with httpx.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=120) as client:
        made = {
            space: client.post("/spaces", json={"name": f"{space}-{time.time_ns()}"}).raise_for_status().json()["id"]
            for space in evaluation.by_space()
        }
        started = time.perf_counter()
        jobs = []
        for space, conversation in _sessions(evaluation):
            body = {
                "space_id": made[space],
                "session_id": conversation.session_id,
                "session_date": conversation.session_date.isoformat() if conversation.session_date else None,
                "messages": [{"role": each.role, "content": each.content} for each in conversation.messages],
            }
            jobs.append(client.post("/conversations", json=body).raise_for_status().json()["job_id"])
        stored = 0
        for job in jobs:
            while (found := client.get(f"/jobs/{job}").raise_for_status().json())["completed_at"] is None:
                time.sleep(_POLL_SECONDS)
            stored += found["result"]["memory_count"]
        seconds = time.perf_counter() - started

        def ask(query: Asked) -> list[str]:
            body = {"space_id": made[query.space], "query": query.text, "limit": ASKED, "include_source": False}
            answer = client.post("/search", json=body).raise_for_status().json()
            return [candidate["content"] for candidate in answer["candidates"]]

        return _measure("over REST", stored, seconds, evaluation, ask)


def _engine(folder: str) -> Engine:
    return Engine.open(Settings(data_dir=Path(folder)))


def _asking(engine: Engine, owner: Principal) -> Ask:
    def ask(query: Asked) -> list[str]:
        asked = Query(text=query.text, mode=Mode.FORGIVING, limit=ASKED, spaces=(query.space,))
        outcome = engine.search(owner, asked)
        return [hit.memory.content for hit in outcome.hits] if isinstance(outcome, Matches) else []

    return ask


def _measure(name: str, stored: int, seconds: float, evaluation: EvaluationSet, ask: Ask) -> Figures:
    texts = {memory.id: memory.text for memory in evaluation.memories}
    embedder = create_embedder(Settings())
    hits, tokens, within = 0, 0, [0] * len(BUDGETS)
    for query in evaluation.queries:
        found = ask(query)
        sizes = [embedder.count_tokens(content) for content in found]
        answers = [any(texts[gold] in content for gold in query.gold) for content in found]
        hits += any(answers[:BEST])
        tokens += sum(sizes[:BEST])
        for place, budget in enumerate(BUDGETS):
            within[place] += any(answers[: sum(used <= budget for used in accumulate(sizes))])
    asked = max(1, len(evaluation.queries))
    return Figures(name, stored, hits / asked, tokens / asked, tuple(each / asked for each in within), seconds)


def _table(found: Sequence[Figures], questions: int) -> Table:
    table = Table(title=f"{SET}: {questions} questions")
    budgets = [f"in {budget} tokens" for budget in BUDGETS]
    for column in ("stored as", "memories", "hit@5", "tokens of the five", *budgets, "seconds to store"):
        table.add_column(column)
    for each in found:
        within = [f"{share:.3f}" for share in each.within]
        table.add_row(
            each.name, str(each.memories), f"{each.hit:.3f}", f"{each.tokens:.0f}", *within, f"{each.seconds:.1f}"
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
