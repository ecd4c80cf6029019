"""Engines for tests: the real rooms over the small hashing embedder, in a folder of the test's own."""

from __future__ import annotations

from pathlib import Path

from engine.domain.memory import Memory, NewMemory
from engine.domain.outcome import Matches
from engine.domain.query import Mode, Query
from engine.embedding.fake import FakeEmbedder
from engine.engine import Engine
from engine.settings import Settings


def open_engine(folder: Path, embedder: FakeEmbedder | None = None) -> Engine:
    """An engine on `folder`; close it, or use it as a context manager."""
    return Engine.open(Settings(data_dir=folder, flush_seconds=0.05), embedder=embedder or FakeEmbedder())


def store(engine: Engine, content: str, path: str = "notes", **fields: object) -> Memory:
    """One memory of the local owner."""
    new = NewMemory(content=content, path=path, **fields)  # type: ignore[arg-type]
    return engine.remember(engine.local_owner(), new).memory


def recalled(engine: Engine, text: str, limit: int = 10) -> list[str]:
    """Contents that a forgiving query brings, best first."""
    outcome = engine.search(engine.local_owner(), Query(text=text, mode=Mode.FORGIVING, limit=limit))
    return [hit.memory.content for hit in outcome.hits] if isinstance(outcome, Matches) else []
