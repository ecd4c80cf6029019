"""Passages: nothing is lost, nothing is too long, and cuts fall where a reader would cut."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.embedding.wordpiece import count_tokens as wordpiece
from engine.text.passages import Span, passages, windows


def by_words(text: str) -> int:
    return len(text.split())


def by_bytes(text: str) -> int:
    return len(text.encode())


def by_pairs(text: str) -> int:
    """Does not add up: two halves of odd length cost more than the whole, and a join costs one more."""
    return (len(text) + 1) // 2 + text.count(" ")


TEXTS = st.text(alphabet=st.sampled_from("ab .!?\n。、数据 \u0301é🧯"), max_size=300)
COUNTERS = st.sampled_from([by_words, by_bytes, by_pairs])


def covers(text: str, spans: tuple[Span, ...]) -> bool:
    covered = {position for span in spans for position in range(span.start, span.end)}
    return all(text[position].isspace() or position in covered for position in range(len(text)))


@settings(max_examples=300)
@given(TEXTS, COUNTERS, st.integers(4, 40), st.integers(0, 20))
@example("a " * 100, by_words, 4, 3)
@example("数据" * 100, by_bytes, 8, 3)
def test_passages_cover_all_that_is_visible_within_the_limit(
    text: str, count: Callable[[str], int], max_tokens: int, overlap: int
) -> None:
    spans = passages(text, count, max_tokens, min(overlap, max_tokens - 1))
    assert covers(text, spans)
    assert all(count(text[span.start : span.end]) <= max_tokens or span.end - span.start == 1 for span in spans)


@settings(max_examples=300)
@given(TEXTS, COUNTERS, st.integers(4, 40), st.integers(0, 20))
def test_passages_go_forward_and_share_no_more_than_the_overlap(
    text: str, count: Callable[[str], int], max_tokens: int, overlap: int
) -> None:
    overlap = min(overlap, max_tokens - 1)
    spans = passages(text, count, max_tokens, overlap)
    for before, after in pairwise(spans):
        assert before.start < after.start and before.end < after.end
        assert after.start >= before.end or count(text[after.start : before.end]) <= overlap


@settings(max_examples=200)
@given(TEXTS, COUNTERS, st.integers(4, 40))
def test_windows_do_not_overlap(text: str, count: Callable[[str], int], max_tokens: int) -> None:
    spans = windows(text, count, max_tokens)
    assert covers(text, spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


def test_a_text_that_fits_is_one_passage() -> None:
    assert passages(" one two \n", by_words) == (Span(0, 10),)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_blank_text_has_no_passage(text: str) -> None:
    assert passages(text, by_words) == ()


@pytest.mark.parametrize(("max_tokens", "overlap"), [(10, 10), (10, -1), (0, 0)])
def test_an_overlap_that_leaves_no_room_is_refused(max_tokens: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap_tokens"):
        passages("text", by_words, max_tokens, overlap)


def cut(text: str, max_tokens: int, overlap: int = 0) -> list[str]:
    return [text[span.start : span.end] for span in passages(text, by_words, max_tokens, overlap)]


FIRST = "The backup window opens at one and closes again at three."
SECOND = "In winter the whole backup window starts one hour later."
THIRD = "The tape site gets a call whenever the window moves."


def test_a_paragraph_stays_whole_if_it_can() -> None:
    assert cut(f"{FIRST} {SECOND}\n\n{THIRD} {FIRST}", 32) == [f"{FIRST} {SECOND}", f"{THIRD} {FIRST}"]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    assert cut(f"{FIRST} {SECOND} {THIRD}", 22) == [f"{FIRST} {SECOND}", THIRD]


def test_chinese_sentences_are_cut_at_their_own_full_stop() -> None:
    sentence = "周五下午三点演练数据库主从切换，由平台组负责，值班同学在交接记录里写明结果，" * 2 + "然后通知所有人。"
    spans = passages(sentence * 3, len, len(sentence) * 2 + 5, 0)
    assert spans == (Span(0, len(sentence) * 2), Span(len(sentence) * 2, len(sentence) * 3))


def test_a_long_sentence_is_cut_between_words() -> None:
    words = [f"word{number}" for number in range(50)]
    assert " ".join(cut(" ".join(words), 12)).split() == words


def test_neighbours_share_whole_sentences() -> None:
    assert cut(f"{FIRST} {SECOND} {THIRD}", 22, 11) == [f"{FIRST} {SECOND}", f"{SECOND} {THIRD}"]


def test_neighbours_share_the_last_words_of_a_sentence_that_is_too_long_to_share() -> None:
    assert cut(f"{FIRST} {SECOND} {THIRD}", 22, 4)[1] == f"starts one hour later. {THIRD}"


def test_a_letter_stays_with_its_marks() -> None:
    text = "e\u0301" * 100
    assert all(span.start % 2 == 0 for span in passages(text, len, 25, 0))


@pytest.mark.parametrize(
    "text",
    [
        "The release train leaves on Tuesday; the captain tags trunk. " * 8500,
        "第一条：发布流程要求先在预发环境验证，再由值班同学确认。" * 1500,
        "word " * 25_000,
        "a\n\n" * 40_000,
        "数据" * 20_000,
        "x" * 512 * 1024,
        "......... " * 12_000,
        "." * 128 * 1024,
    ],
    ids=lambda text: ascii(text[:6]),
)
@pytest.mark.timeout(60)
def test_the_counter_reads_a_long_text_a_small_number_of_times(text: str) -> None:
    read = 0

    def counted(stretch: str) -> int:
        nonlocal read
        read += len(stretch)
        return wordpiece(stretch)

    spans = passages(text, counted)
    assert spans[0].start == 0 and spans[-1].end >= len(text.rstrip())
    assert read <= 8 * len(text)
