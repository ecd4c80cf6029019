"""A small embedder for tests: each word adds a fixed signed direction, so shared words mean a higher cosine.

Deterministic across processes and platforms, needs no model, and keeps the promises of the
protocol: float32, unit length, order. A token is a run of non-space characters.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from engine.embedding.protocol import Vectors


class FakeEmbedder:
    """`Embedder` over hashed words. `failure`, when set, is raised instead of an answer."""

    def __init__(self, dimension: int = 64, max_tokens: int = 254, revision: str = "fake-hashing-1") -> None:
        self._dimension = dimension
        self._max_tokens = max_tokens
        self._id = revision
        self.failure: Exception | None = None

    @property
    def id(self) -> str:
        return self._id

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def warm_up(self) -> None:
        """Nothing to load."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_query(self, text: str) -> Vectors:
        if self.failure is not None:
            raise self.failure
        words = text.casefold().split()
        if not words:
            raise ValueError("a blank text has no embedding")
        if len(words) > self._max_tokens:
            raise ValueError(f"a text of {len(words)} tokens is longer than the limit of {self._max_tokens}")
        total = np.sum([self._direction(word) for word in words], axis=0)
        length = np.linalg.norm(total)
        # Opposite directions can cancel out; the first word then stands for the text.
        vector: Vectors = (total / length if length > 1e-6 else self._direction(words[0])).astype(np.float32)
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self._dimension), np.float32)
        return np.stack([self.embed_query(text) for text in texts])

    def _direction(self, word: str) -> Vectors:
        generator = np.random.default_rng(zlib.crc32(word.strip(".,;:!?\"'()").encode()))
        direction = generator.standard_normal(self._dimension).astype(np.float32)
        unit: Vectors = direction / np.linalg.norm(direction)
        return unit
