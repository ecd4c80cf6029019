"""Vectors of texts, computed once: fitting asks for the same texts again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from engine.embedding.protocol import Embedder, Vectors

_SAVE_EVERY = 8192
_QUESTION = "query: "
"""Marks the digest of a question for an embedder that treats questions otherwise than records."""


class VectorCache:
    """Vectors by text digest, kept as two numpy files in `folder`."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._vectors_file, self._keys_file = folder / "vectors.npy", folder / "keys.npy"
        self._vectors = np.zeros((0, embedder.dimension), np.float16)
        self._rows: dict[bytes, int] = {}
        if self._keys_file.exists():
            self._vectors = np.load(self._vectors_file)
            self._rows = {bytes(key): row for row, key in enumerate(np.load(self._keys_file))}

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of the texts, shape (len(texts), dimension); what is missing is embedded and kept."""
        return self._kept(texts, "", self._embedder.embed_documents)

    def query_vectors(self, texts: Sequence[str]) -> Vectors:
        """Likewise of questions."""
        return self.vectors(texts) if self._symmetric else self._kept(texts, _QUESTION, self._embed_queries)

    @cached_property
    def _symmetric(self) -> bool:
        """Whether the embedder treats a question like a record, so that they share their vectors."""
        return bool(np.allclose(self._embedder.embed_query("word"), self._embedder.embed_documents(["word"])[0]))

    def _embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._embedder.embed_query(text) for text in texts])

    def _kept(self, texts: Sequence[str], mark: str, embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
        keys = [_key(mark + text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        for start in range(0, len(missing), _SAVE_EVERY):
            part = list(missing)[start : start + _SAVE_EVERY]
            self._add(part, embed([missing[key] for key in part]))
        found = self._vectors[[self._rows[key] for key in keys]].astype(np.float32)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def _add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        for key in keys:
            self._rows[key] = len(self._rows)
        self._vectors = np.concatenate([self._vectors, vectors.astype(np.float16)])
        np.save(self._vectors_file, self._vectors)
        np.save(self._keys_file, np.frombuffer(b"".join(self._rows), np.uint8).reshape(-1, 20))


def _key(text: str) -> bytes:
    return hashlib.sha1(text.encode(), usedforsecurity=False).digest()
