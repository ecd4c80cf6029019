"""The engine's rooms opened one by one, so that a benchmark can put something else in the place of one.

`Engine` composes the same rooms; here the embedder may be synthetic, and calls may be timed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from engine.domain.access import ALL_SCOPES, Principal
from engine.embedding.protocol import Embedder, Vectors
from engine.index.protocol import Index, IndexFilter, IndexHit, SparseVector
from engine.retrieval.background import Backgrounds
from engine.retrieval.calibration.calibrator import Calibrator
from engine.retrieval.search import Searcher
from engine.settings import Settings
from engine.store import spaces
from engine.store.database import Database
from engine.text.analysis import ANALYSIS_VERSION
from engine.upkeep.folder import Folder
from engine.upkeep.generations import Generations
from engine.writing.applier import Applier
from engine.writing.remember import Rememberer

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Rooms:
    """An open folder and its local owner."""

    settings: Settings
    database: Database
    index: Index
    embedder: Embedder
    applier: Applier
    owner: Principal

    @property
    def space_id(self) -> str:
        """The owner's default space."""
        assert self.owner.default_space_id is not None
        return self.owner.default_space_id

    def rememberer(self) -> Rememberer:
        return Rememberer(self.database, self.embedder, self.applier)

    def searcher(self, index: Index) -> Searcher:
        """A searcher over this folder that asks `index`."""
        return Searcher(
            self.database,
            lambda: index,
            self.embedder,
            Calibrator.load(self.embedder.id, self.settings.data_dir),
            Backgrounds(lambda: index),
            pool_size=self.settings.pool_size,
            operating_point=self.settings.operating_point,
        )


@contextmanager
def open_rooms(folder: Path, embedder: Embedder) -> Iterator[Rooms]:
    """Open a data folder with this embedder; on leaving, what was written is flushed and all is closed."""
    settings = Settings(data_dir=folder)
    with ExitStack() as stack:
        stack.callback(Folder.open(folder).close)
        database = Database.open(f"sqlite:///{folder / 'memvouch.db'}")
        stack.callback(database.close)
        generations = Generations(settings, database, embedder, ANALYSIS_VERSION)
        index = generations.open(generations.current())
        stack.callback(index.close)
        applier = Applier(database, index)
        stack.callback(applier.flush)
        with database.writing() as connection:
            found = spaces.ensure_owner(connection, datetime.now(UTC))
        owner = Principal(
            tenant_id=found.tenant_id, user_id=found.user_id, scopes=ALL_SCOPES, default_space_id=found.space.id
        )
        yield Rooms(settings, database, index, embedder, applier, owner)


class Stopwatch:
    """Seconds by name; times in one thread."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)

    def time(self, name: str, call: Callable[..., Result], *arguments: Any) -> Result:
        """Run a call and keep how long it took."""
        start = time.perf_counter()
        try:
            return call(*arguments)
        finally:
            self.seconds[name].append(time.perf_counter() - start)

    def total(self, *names: str) -> float:
        return sum(sum(self.seconds[name]) for name in names)


class TimedEmbedder:
    """An embedder whose calls are timed as `count`, `documents` and `query`."""

    def __init__(self, inner: Embedder, watch: Stopwatch) -> None:
        self._inner = inner
        self._watch = watch
        self.id = inner.id
        self.dimension = inner.dimension
        self.max_tokens = inner.max_tokens

    def warm_up(self) -> None:
        self._inner.warm_up()

    def count_tokens(self, text: str) -> int:
        return self._watch.time("count", self._inner.count_tokens, text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._watch.time("documents", self._inner.embed_documents, texts)

    def embed_query(self, text: str) -> Vectors:
        return self._watch.time("query", self._inner.embed_query, text)


class TimedIndex:
    """The reading half of an index, timed as `dense` and `lexical`."""

    def __init__(self, inner: Index, watch: Stopwatch) -> None:
        self._inner = inner
        self._watch = watch

    def search_dense(self, vector: Vectors, where: IndexFilter, limit: int) -> list[IndexHit]:
        return self._watch.time("dense", self._inner.search_dense, vector, where, limit)

    def search_lexical(self, vector: SparseVector, where: IndexFilter, limit: int) -> list[IndexHit]:
        return self._watch.time("lexical", self._inner.search_lexical, vector, where, limit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
