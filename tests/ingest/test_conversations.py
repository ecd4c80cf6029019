from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.domain.source import Message
from engine.writing.ingest.conversations import SEGMENT_TOKENS, Segmentation, segments


def count_words(text: str) -> int:
    return len(text.split())


def talk(*texts: str, old: int = 0) -> list[Message]:
    return [Message("user", text, place, fresh=place >= old) for place, text in enumerate(texts)]


@given(
    texts=st.lists(st.text("ab ", max_size=8), max_size=12),
    old=st.integers(0, 4),
    size=st.integers(1, 5),
    lookback=st.integers(0, 4),
)
def test_every_new_turn_that_says_something_is_in_exactly_one_segment(
    texts: list[str], old: int, size: int, lookback: int
) -> None:
    messages = talk(*texts, old=old)
    found = list(segments(messages, count_words, Segmentation(size, lookback)))
    own = [turn for segment in found for turn in segment.turns]
    assert own == [message for message in messages if message.fresh and message.content.strip()]
    assert all(len(segment.turns) <= size and len(segment.context) <= lookback for segment in found)


def test_context_is_what_was_said_just_before_even_in_an_earlier_request() -> None:
    (segment,) = segments(talk("Which city?", "Lisbon.", old=1), count_words, Segmentation(1, 1))
    assert segment.text == "user: Which city?\nuser: Lisbon."


def test_a_segment_ends_before_it_outgrows_one_vector() -> None:
    long = "word " * (SEGMENT_TOKENS - 2)
    found = list(segments(talk(long, long, "short", "short"), count_words, Segmentation(4, 2)))
    assert [len(segment.turns) for segment in found] == [1, 1, 2]
    assert [len(segment.context) for segment in found] == [0, 0, 0]
