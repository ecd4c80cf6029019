"""Vectors of texts, computed once: fitting asks for the same texts again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from engine.embedding.protocol import Embedder, Vectors

_SAVE_EVERY = 8192


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
        missing = list({key: text for text in texts if (key := _key(text)) not in self._rows}.values())
        for start in range(0, len(missing), _SAVE_EVERY):
            self._add(missing[start : start + _SAVE_EVERY])
        found = self._vectors[[self._rows[_key(text)] for text in texts]].astype(np.float32)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def _add(self, texts: Sequence[str]) -> None:
        fresh = self._embedder.embed_documents(texts).astype(np.float16)
        for text in texts:
            self._rows[_key(text)] = len(self._rows)
        self._vectors = np.concatenate([self._vectors, fresh])
        np.save(self._vectors_file, self._vectors)
        np.save(self._keys_file, np.frombuffer(b"".join(self._rows), np.uint8).reshape(-1, 20))


def _key(text: str) -> bytes:
    return hashlib.sha1(text.encode(), usedforsecurity=False).digest()
