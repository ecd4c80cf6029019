"""BM25 as a dot product of two sparse vectors.

A passage's vector holds the saturated term frequency of each term,

    tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / REFERENCE_LENGTH)),

a query's vector its inverse document frequency in the space that is asked. The length is set
against a constant instead of the space's average, so that stored vectors stay true while the space
grows. Dimensions are 32-bit hashes of terms; terms that collide are summed.

Formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
REFERENCE_LENGTH = 40
"""Terms of a middling passage: longer than an utterance, shorter than a paragraph."""


def term_hash(term: str) -> int:
    """Dimension of a term, 0..2**32-1 (CRC-32 of its UTF-8); the same in every process and release."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def document_weights(counts: Mapping[str, int], length: int) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """Sorted distinct dimensions and positive weights (below k1 + 1 each, unless terms collide)."""
    norm = K1 * (1 - B + B * length / REFERENCE_LENGTH)
    return _vector({term: count * (K1 + 1) / (count + norm) for term, count in counts.items() if count > 0})


def query_weights(idf: Mapping[str, float]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """Sorted distinct dimensions and weights of a query; terms of weight 0 are left out."""
    return _vector({term: weight for term, weight in idf.items() if weight != 0})


def _vector(weights: Mapping[str, float]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    by_dimension: dict[int, float] = {}
    for term, weight in weights.items():
        dimension = term_hash(term)
        by_dimension[dimension] = by_dimension.get(dimension, 0.0) + weight
    dimensions = sorted(by_dimension)
    return (
        np.array(dimensions, dtype=np.uint32),
        np.array([by_dimension[dimension] for dimension in dimensions], dtype=np.float32),
    )
