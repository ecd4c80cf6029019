"""Which index belongs to which embedder.

The store remembers what built the current index: the embedder's id and dimension, the version of
the text analysis, and the generation (the folder or collection it lies in). An index made by
anything else is not served: its vectors or terms would not fit the queries'.
"""

from __future__ import annotations

from dataclasses import replace

from engine.embedding.protocol import Embedder
from engine.errors import EmbedderMismatch
from engine.index.factory import create, remove
from engine.index.protocol import Index
from engine.settings import Settings
from engine.store import index_state
from engine.store.database import Database
from engine.store.index_state import IndexState

FIRST = "1"


class Generations:
    """Opens, adopts and removes index generations of one store."""

    def __init__(self, settings: Settings, database: Database, embedder: Embedder, analysis_version: str) -> None:
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._wanted = IndexState(embedder.id, embedder.dimension, analysis_version, FIRST)

    def current(self, *, any_embedder: bool = False) -> IndexState:
        """What the store says; written down on first use.

        Raises `EmbedderMismatch` unless the index fits this embedder or `any_embedder` is set.
        """
        with self._database.reading() as connection:
            state = index_state.get(connection)
        if state is None:
            with self._database.writing() as connection:
                index_state.put(connection, self._wanted)
            return self._wanted
        if not any_embedder and replace(state, generation=FIRST) != self._wanted:
            raise EmbedderMismatch(self._difference(state))
        return state

    def _difference(self, state: IndexState) -> str:
        wanted = self._wanted
        if (state.embedder_id, state.dimension) == (wanted.embedder_id, wanted.dimension):
            return (
                f"the index was built by another version of Memvouch, which read text otherwise "
                f"({state.analysis_version}, now {wanted.analysis_version}); run `memvouch reindex`, no memory is lost"
            )
        return (
            f"the index was built by {state.embedder_id} ({state.dimension} dimensions), the settings ask for "
            f"{wanted.embedder_id} ({wanted.dimension}); run `memvouch reindex`, or set MEMVOUCH_EMBEDDER back"
        )

    def open(self, state: IndexState) -> Index:
        """The index of a generation, created if it is not there."""
        return create(self._settings, state.dimension, state.generation)

    def successor(self, state: IndexState) -> IndexState:
        """The state that a reindex with the present embedder leads to."""
        return replace(self._wanted, generation=str(int(state.generation) + 1))

    def adopt(self, state: IndexState) -> None:
        """From now on this generation is the current one."""
        with self._database.writing() as connection:
            index_state.put(connection, state)

    def remove(self, state: IndexState) -> None:
        """Delete the folder or collection of a generation that is closed."""
        remove(self._settings, state.generation)
