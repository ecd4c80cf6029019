"""Settings name one embedder; anything else is an error, never a fall-back."""

from __future__ import annotations

import pytest

from engine.embedding import factory
from engine.errors import SetupError
from engine.settings import Settings


def test_the_default_is_the_bundled_model() -> None:
    assert factory.create(Settings(embedder="bundled")).id.startswith("all-MiniLM-L6-v2-onnx-int8@")


def test_an_endpoint_is_chosen_with_its_model() -> None:
    settings = Settings(embedder="openai:nomic-embed-text:v1.5", embedder_url="http://127.0.0.1:9/v1")
    assert factory.create(settings).id == "openai:nomic-embed-text:v1.5"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("openai:model", "MEMVOUCH_EMBEDDER_URL"),
        ("openai:", "not known"),
        ("fastembed", "not known"),
        ("bundled:other", "not known"),
        ("multilingual:other", "not known"),
        ("minilm", "not known"),
    ],
)
def test_a_name_that_says_nothing_usable_is_a_setup_error(name: str, complaint: str) -> None:
    with pytest.raises(SetupError, match=complaint):
        factory.create(Settings(embedder=name, embedder_url=None))
