"""The bundled embedder: unit vectors that depend on the text alone."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine.embedding import wordpiece
from engine.embedding.bundled import DIMENSION, MAX_TOKENS, BundledEmbedder
from engine.errors import CorruptData

TEXTS = [
    "The door code of the studio is 4471.",
    "x",
    "Lina prefers tea without sugar, unless she has not slept; then it is coffee, and plenty of it.",
    "error E1042-XQ7: the lease expired before the renewal was acknowledged",
    "明天早上九点去机场接她。",
    "A sentence that is repeated until it is long. " * 20,
]


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder(threads=1)


def test_vectors_are_float32_of_unit_length_and_in_order(embedder: BundledEmbedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), DIMENSION) == (len(TEXTS), embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert float(embedder.embed_query(text) @ vector) > 1 - 1e-4


def test_a_vector_does_not_depend_on_its_batch(embedder: BundledEmbedder) -> None:
    alone = np.stack([embedder.embed_query(text) for text in TEXTS])
    crowd = [f"neighbour number {number} {'padding ' * (number % 60)}" for number in range(40)]
    together = embedder.embed_documents([*crowd, *TEXTS])[len(crowd) :]
    assert float((alone * together).sum(axis=1).min()) > 1 - 1e-4


def test_a_paraphrase_is_nearer_than_another_subject(embedder: BundledEmbedder) -> None:
    query = embedder.embed_query("What is the code for the studio door?")
    door, tea = embedder.embed_documents([TEXTS[0], TEXTS[2]])
    assert float(query @ door) > 0.5 > float(query @ tea)


def test_no_texts_give_no_vectors(embedder: BundledEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, DIMENSION)


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a_blank_text_is_refused(embedder: BundledEmbedder, blank: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        embedder.embed_documents(["something", blank])


def test_a_text_of_exactly_the_limit_is_embedded_and_a_longer_one_is_refused_not_cut(embedder: BundledEmbedder) -> None:
    at_limit = " ".join(["tea"] * MAX_TOKENS)
    assert embedder.count_tokens(at_limit) == embedder.max_tokens
    assert embedder.embed_query(at_limit).shape == (DIMENSION,)
    with pytest.raises(ValueError, match="255 tokens"):
        embedder.embed_query(at_limit + " tea")


def test_threads_share_one_embedder_and_get_their_own_vectors(embedder: BundledEmbedder) -> None:
    alone = [embedder.embed_query(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        for vector, expected in zip(pool.map(embedder.embed_query, TEXTS * 3), alone * 3, strict=True):
            np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_importing_the_embedder_loads_neither_onnxruntime_nor_tokenizers() -> None:
    program = (
        "import sys, engine.embedding, engine.embedding.bundled, engine.embedding.factory;"
        "sys.exit(' '.join({'onnxruntime', 'tokenizers', 'fastembed'} & set(sys.modules)) or 0)"
    )
    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "tokenizer.json"
    damaged.write_bytes(wordpiece.TOKENIZER_PATH.read_bytes()[:-1] + b" ")
    with pytest.raises(CorruptData, match=r"tokenizer\.json .* SHA-256"):
        wordpiece.verified_bytes(damaged, wordpiece.TOKENIZER_SHA256)
    with pytest.raises(CorruptData, match="Cannot read"):
        wordpiece.verified_bytes(tmp_path / "missing.json", wordpiece.TOKENIZER_SHA256)
