"""The named tokenizer counts what a budget counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.wordpiece import count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), (" \n", 0), ("tea", 1), ("Tea, please!", 4), ("embeddings", 4), ("东京", 2), ("[CLS]", 1)],
)
def test_known_texts_have_known_lengths(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_a_long_text_is_counted_to_its_end() -> None:
    assert count_tokens("tea " * 5000) == 5000


@given(st.text(max_size=60), st.text(max_size=60))
def test_texts_on_separate_lines_cost_the_sum_of_their_lengths(one: str, other: str) -> None:
    assert count_tokens(f"{one}\n{other}") == count_tokens(one) + count_tokens(other)
