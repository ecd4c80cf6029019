"""By what the index was built: compared when the engine opens, so that unlike vectors never meet."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from engine.store import marks

_EMBEDDER = "index.embedder_id"
_DIMENSION = "index.dimension"
_ANALYSIS = "index.analysis_version"
_GENERATION = "index.generation"


@dataclass(frozen=True, slots=True)
class IndexState:
    """Embedder, length of its vectors and version of the text analysis behind the index.

    `generation` names the folder or collection that holds it; a reindex builds the next one.
    """

    embedder_id: str
    dimension: int
    analysis_version: str
    generation: str = "1"


def get(connection: Connection) -> IndexState | None:
    """The recorded state; `None` before the first index was built."""
    embedder, dimension, analysis = (marks.get(connection, key) for key in (_EMBEDDER, _DIMENSION, _ANALYSIS))
    if embedder is None or dimension is None or analysis is None:
        return None
    return IndexState(embedder, int(dimension), analysis, marks.get(connection, _GENERATION) or "1")


def put(connection: Connection, state: IndexState) -> None:
    """Record the state of an index that was built just now."""
    marks.put(connection, _EMBEDDER, state.embedder_id)
    marks.put(connection, _DIMENSION, str(state.dimension))
    marks.put(connection, _ANALYSIS, state.analysis_version)
    marks.put(connection, _GENERATION, state.generation)
