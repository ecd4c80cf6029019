"""Packing: the budget holds for the whole rendered text, and nothing disappears without a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.domain.outcome import ContextPack, Hit, Label, LeftOut, Omission, Passage, Signals
from engine.embedding.wordpiece import TOKENIZER_NAME, count_tokens
from engine.retrieval.packing import CUT_MARK, pack, shown_content

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "In March the backup window was postponed by a week because of the audit. " * 100


def hit(content: str, *, name: str = "a", path: str = "ops/backup", passage: Passage | None = None) -> Hit:
    memory = Memory(
        id=name,
        space_id="s",
        content=content,
        path=path,
        memory_type=MemoryType.SEMANTIC,
        kind=Kind.MEMORY,
        status=Status.ACTIVE,
        bucket="work",
        scope=None,
        team_id=None,
        importance=None,
        confidence=None,
        semantic_key=None,
        state_key=None,
        source=None,
        source_id=None,
        agent_id=None,
        agent_instance_hash=None,
        item_status=None,
        due_at=None,
        event_time=None,
        created_at=NOW,
        updated_at=NOW,
        expires_at=None,
        version=1,
        access_count=0,
        last_accessed_at=None,
        metadata={},
        provenance={},
    )
    signals = Signals(dense=0.5, lexical=1.0, coverage=0.5, legs=frozenset())
    return Hit(memory, 0.5, Label.LIKELY, signals, passage or Passage(0, len(content)))


def hits(*contents: str) -> list[Hit]:
    return [hit(content, name=f"m{rank}") for rank, content in enumerate(contents)]


def packed(
    given: Sequence[Hit],
    max_tokens: int = 2000,
    max_items: int = 10,
    count: Callable[[str], int] = count_tokens,
    similarity: Callable[[Hit, Hit], float] | None = None,
) -> ContextPack:
    return pack(
        given,
        max_items=max_items,
        max_tokens=max_tokens,
        count_tokens=count,
        tokenizer=TOKENIZER_NAME,
        similarity=similarity,
    )


def ids(pack: ContextPack) -> list[str]:
    return [item.hit.memory.id for item in pack.items]


def omissions(pack: ContextPack) -> dict[str, Omission]:
    return {left.memory_id: left.why for left in pack.left_out}


def test_a_pack_is_rendered_block_by_block_in_rank_order() -> None:
    result = packed([hit("One.\n\n\nTwo.", name="x"), hit("Other.", name="y", path="")])
    assert result.text == "[1] id=x\npath: ops/backup\ncontent: One.\nTwo.\n\n[2] id=y\ncontent: Other."
    assert result.tokens == count_tokens(result.text)
    assert result.matched == 2 and result.left_out == () and result.tokenizer == TOKENIZER_NAME
    assert [item.text for item in result.items] == ["One.\nTwo.", "Other."]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("a\n\n\nb", "a\nb"),
        ("a\n \t\nb", "a\nb"),
        ("a\r\n\r\nb", "a\nb"),
        ("\n\na\n", "a"),
        ("a\n  b", "a\n  b"),
    ],
)
def test_shown_content_has_no_blank_lines(content: str, shown: str) -> None:
    assert shown_content(content) == shown


def test_a_path_with_line_breaks_cannot_break_its_block() -> None:
    result = packed([hit("Text.", path="a\n\nb")])
    assert result.text == "[1] id=a\npath: a b\ncontent: Text."


def test_an_item_that_does_not_fit_is_skipped_and_later_ones_are_packed() -> None:
    result = packed(hits(LONG, "The window is at one.", "Winter shifts it by an hour."), max_tokens=120)
    assert ids(result) == ["m1", "m2"]
    assert result.left_out == (LeftOut("m0", Omission.TOO_LONG),)
    assert not any(item.truncated for item in result.items)


def test_an_item_that_fits_alone_but_not_with_the_better_ones_has_no_room() -> None:
    contents = ["The window is at one.", "The tape site gets a call.", "Vendors are told by mail."]
    alone = max(packed([one]).tokens for one in hits(*contents))
    result = packed(hits(*contents), max_tokens=2 * alone)
    assert len(result.items) == 2
    assert omissions(result) == {"m2": Omission.NO_ROOM}


def test_items_beyond_the_limit_are_named() -> None:
    result = packed(hits("Alpha.", "Beta.", "Gamma."), max_items=2)
    assert ids(result) == ["m0", "m1"]
    assert omissions(result) == {"m2": Omission.ITEM_LIMIT}


def test_the_best_item_is_cut_only_if_nothing_fits_whole() -> None:
    result = packed(hits(LONG, LONG + "The end."), max_tokens=80)
    (item,) = result.items
    assert item.hit.memory.id == "m0" and item.truncated
    assert item.text.endswith(CUT_MARK)
    assert item.text.removesuffix(CUT_MARK) in LONG
    assert LONG[len(item.text.removesuffix(CUT_MARK))].isspace()
    assert result.text.startswith("[1] id=m0\npath: ops/backup\ncontent: In March")
    assert 60 < result.tokens <= 80
    assert omissions(result)["m0"] is Omission.TRUNCATED


def test_a_cut_item_shows_its_matched_passage() -> None:
    content = LONG + "The vault key is kept by Ines. " + LONG
    result = packed([hit(content, passage=Passage(len(LONG), len(LONG) + 30))], max_tokens=60)
    assert result.items[0].text.startswith("… The vault key is kept by Ines. In March")


def test_unspaced_text_is_cut_between_characters() -> None:
    result = packed([hit("发布流程要求先在预发环境验证" * 50, path="发布")], max_tokens=60)
    assert result.items[0].truncated
    assert 50 < result.tokens <= 60


def test_the_next_item_is_cut_if_the_identity_of_the_best_leaves_no_word() -> None:
    result = packed(
        [
            hit(LONG, name="deep", path="very/deep/" * 40),
            hit("Someone wrote a diary of the migration, day by day. " * 20, name="flat"),
        ],
        max_tokens=60,
    )
    assert ids(result) == ["flat"]
    assert omissions(result) == {"deep": Omission.TOO_LONG, "flat": Omission.TRUNCATED}


@pytest.mark.parametrize("max_tokens", [0, 1, 10])
def test_a_pack_without_room_for_a_word_says_what_matched(max_tokens: int) -> None:
    result = packed(hits(LONG, "The window is at one."), max_tokens=max_tokens)
    assert result.items == () and result.text == "" and result.tokens == 0
    assert result.matched == 2
    assert omissions(result) == {"m0": Omission.TOO_LONG, "m1": Omission.TOO_LONG}


def test_nothing_given_is_an_empty_pack() -> None:
    result = packed([])
    assert result.items == () and result.matched == 0 and result.left_out == ()


def test_copies_take_one_place_that_of_the_best() -> None:
    copies = [hit("Say what is affected.", name=f"c{n}", path=f"comms/{n}") for n in range(12)]
    result = packed([*copies, hit("The lead approves.", name="x")], max_items=5)
    assert ids(result) == ["c0", "x"]
    assert set(omissions(result).values()) == {Omission.NEAR_DUPLICATE}
    assert len(result.left_out) == 11


WORDS = "alpha beta gamma delta epsilon zeta theta iota kappa lambda sigma omega river stone cloud forest garden harbor"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Status page wording.", "STATUS  page\nwording."),
        (WORDS, f"{WORDS} meadow"),
        (f"{WORDS} at 5 km", f"{WORDS} at 5km"),
    ],
)
def test_nearly_the_same_text_is_a_near_duplicate(one: str, other: str) -> None:
    assert ids(packed(hits(one, other))) == ["m0"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{WORDS} in 2024", f"{WORDS} in 2025"),
        (f"{WORDS} QX-7731", f"{WORDS} QX-7713"),
        (f"we do use {WORDS}", f"we do not use {WORDS}"),
        (f"we use {WORDS}", f"we don't use {WORDS}"),
        (WORDS, " ".join(WORDS.split()[:12])),
        ("!!!", "???"),
    ],
)
def test_texts_that_say_different_things_are_both_packed(one: str, other: str) -> None:
    assert ids(packed(hits(one, other))) == ["m0", "m1"]


def test_very_long_texts_are_duplicates_only_if_equal() -> None:
    long = f"{WORDS} " * 200
    assert omissions(packed(hits(long, long.upper(), f"{long} meadow"), max_tokens=50)) == {
        "m0": Omission.TRUNCATED,
        "m1": Omission.NEAR_DUPLICATE,
        "m2": Omission.TOO_LONG,
    }


def test_another_measure_of_similarity_can_be_given() -> None:
    def same_first_letter(one: Hit, other: Hit) -> float:
        return float(one.memory.content[0] == other.memory.content[0])

    result = packed(hits("apple", "bread", "avocado"), similarity=same_first_letter)
    assert ids(result) == ["m0", "m1"]
    assert omissions(result) == {"m2": Omission.NEAR_DUPLICATE}


CONTENT = st.text(alphabet=st.sampled_from("ab 19.\n\r\t—“发布流程あ한🧯\u0301é"), min_size=1, max_size=120).filter(
    str.strip
)
HITS = st.lists(
    st.tuples(CONTENT, st.sampled_from(["inbox", "", "a/b", "办公/座位", "x" * 60]), st.integers(0, 130)), max_size=8
)


def built(rows: list[tuple[str, str, int]]) -> list[Hit]:
    return [
        hit(content, name=f"m{rank}", path=path, passage=Passage(min(start, len(content)), len(content)))
        for rank, (content, path, start) in enumerate(rows)
    ]


def by_bytes(text: str) -> int:
    return len(text.encode())


@settings(max_examples=300)
@given(HITS, st.integers(0, 300), st.integers(1, 8), st.sampled_from([count_tokens, by_bytes]))
def test_no_pack_ever_exceeds_its_budget(
    rows: list[tuple[str, str, int]], max_tokens: int, max_items: int, count: Callable[[str], int]
) -> None:
    result = packed(built(rows), max_tokens, max_items, count)
    assert count(result.text) == result.tokens <= max_tokens
    assert len(result.items) <= max_items


@settings(max_examples=200)
@given(HITS, st.integers(0, 300), st.integers(1, 8))
def test_every_hit_is_packed_in_order_or_left_out_with_a_reason(
    rows: list[tuple[str, str, int]], max_tokens: int, max_items: int
) -> None:
    given_hits = built(rows)
    result = packed(given_hits, max_tokens, max_items)
    order = [one.memory.id for one in given_hits]
    assert ids(result) == [name for name in order if name in set(ids(result))]
    whole = {item.hit.memory.id for item in result.items if not item.truncated}
    assert set(order) == whole | set(omissions(result))
    assert not whole & set(omissions(result))
    assert result.matched == len(rows)


@settings(max_examples=200)
@given(HITS, st.integers(0, 300))
def test_packing_again_gives_the_same_pack(rows: list[tuple[str, str, int]], max_tokens: int) -> None:
    assert packed(built(rows), max_tokens) == packed(built(rows), max_tokens)


@settings(max_examples=200)
@given(HITS, st.integers(0, 400))
def test_blank_lines_stand_between_blocks_and_nowhere_else(rows: list[tuple[str, str, int]], max_tokens: int) -> None:
    result = packed(built(rows), max_tokens)
    blocks = re.split(r"\n{2,}", result.text) if result.text else []
    assert len(blocks) == len(result.items)
    for number, (block, item) in enumerate(zip(blocks, result.items, strict=True), start=1):
        assert block.startswith(f"[{number}] id={item.hit.memory.id}\n")
        assert block.endswith(item.text)


@settings(max_examples=200)
@given(HITS, st.integers(0, 200))
def test_whatever_is_left_out_for_room_would_not_have_fitted(rows: list[tuple[str, str, int]], max_tokens: int) -> None:
    given_hits = built(rows)
    result = packed(given_hits, max_tokens)
    for one in given_hits:
        if omissions(result).get(one.memory.id) is Omission.TOO_LONG:
            assert packed([one], 10_000).tokens > max_tokens


def test_huge_contents_are_told_too_long_without_reading_them_whole() -> None:
    read = 0

    def counted(text: str) -> int:
        nonlocal read
        read += len(text)
        return count_tokens(text)

    result = packed(hits(*(f"Part {n}. " + "words " * 80_000 for n in range(5))), 200, 5, counted)
    assert result.items[0].truncated
    assert read < 500_000
