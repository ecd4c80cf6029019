"""Records that cost nothing to make: texts of everyday length with made-up vectors.

Words are the whole words of the embedder's own vocabulary, drawn by Zipf's law, so that postings
are as uneven as in real text and a word is one token. About 34 tokens a text, like a turn of a
conversation. Vectors lie around a few hundred centres, as real ones do; they fit no text, which is
no matter for speed: every search is exact and scans them all.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import numpy as np

from engine.embedding import wordpiece
from engine.embedding.bundled import DIMENSION, MAX_TOKENS, BundledEmbedder
from engine.embedding.protocol import Vectors

TEXT_WORDS = (18, 50)
QUERY_WORDS = (5, 12)
_CENTRES = 300
_SPREAD = 0.06


class SyntheticEmbedder:
    """Stands in for the bundled embedder while a folder is filled: its id, its dimension, no model."""

    id = BundledEmbedder(threads=1).id
    dimension = DIMENSION
    max_tokens = MAX_TOKENS

    def __init__(self, seed: int = 1) -> None:
        self._generator = np.random.default_rng(seed)
        self._centres = _unit(self._generator.standard_normal((_CENTRES, DIMENSION)).astype(np.float32))

    def warm_up(self) -> None:
        """Nothing to load."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        centres = self._centres[self._generator.integers(_CENTRES, size=len(texts))]
        noise = self._generator.standard_normal((len(texts), DIMENSION)).astype(np.float32)
        return _unit(centres + _SPREAD * noise)


class Writer:
    """Writes texts and queries, the same ones for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)

    def text(self) -> str:
        """One record's text."""
        return " ".join(self._words(self._random.randint(*TEXT_WORDS))).capitalize() + "."

    def query(self) -> str:
        """One question."""
        return "What about " + " ".join(self._words(self._random.randint(*QUERY_WORDS))) + "?"

    def _words(self, count: int) -> list[str]:
        words, weights = _vocabulary()
        return self._random.choices(words, cum_weights=weights, k=count)


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    """Whole words in the order of the vocabulary, which is roughly by frequency, and cumulated Zipf weights."""
    pieces = sorted(wordpiece.tokenizer().get_vocab().items(), key=lambda item: item[1])
    words = [piece for piece, _ in pieces if piece.isascii() and piece.isalpha() and len(piece) > 1]
    weights = np.cumsum(1.0 / np.arange(10, len(words) + 10))
    return words, weights.tolist()


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
