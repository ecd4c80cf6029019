"""The fake keeps the protocol's promises, so that tests against it mean something."""

from __future__ import annotations

import numpy as np
import pytest

from engine.embedding.fake import FakeEmbedder
from engine.embedding.protocol import Embedder


def test_shared_words_mean_a_higher_cosine() -> None:
    embedder: Embedder = FakeEmbedder()
    query = embedder.embed_query("green tea")
    near, far = embedder.embed_documents(["I drink green tea", "the lease of the flat"])
    assert float(query @ near) > float(query @ far)
    np.testing.assert_allclose(np.linalg.norm([near, far], axis=1), 1.0, atol=1e-6)


def test_two_instances_agree() -> None:
    np.testing.assert_array_equal(FakeEmbedder().embed_query("green tea"), FakeEmbedder().embed_query("Green tea."))


def test_a_set_failure_is_raised() -> None:
    embedder = FakeEmbedder()
    embedder.failure = RuntimeError("down")
    with pytest.raises(RuntimeError, match="down"):
        embedder.embed_documents(["tea"])


@pytest.mark.parametrize("text", ["", "one two three"])
def test_blank_and_too_long_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"blank|longer"):
        FakeEmbedder(max_tokens=2).embed_query(text)
