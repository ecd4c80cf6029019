"""The seam between the engine and whatever computes embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors.

    `embed_documents` and `embed_query` return float32, L2-normalised, finite, of shape
    `(len(texts), dimension)` and `(dimension,)`. A text longer than `max_tokens` is the caller's
    mistake: passages and query windows are cut before (`count_tokens` tells). Raises
    `EmbedderUnavailable` when the model cannot answer.
    """

    @property
    def id(self) -> str:
        """Name and revision; the index remembers it. Equal ids mean interchangeable vectors."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    def warm_up(self) -> None:
        """Load what the first call would have to wait for; calling it again costs nothing."""

    def count_tokens(self, text: str) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors: ...

    def embed_query(self, text: str) -> Vectors: ...
