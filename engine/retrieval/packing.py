"""Pack hits into a token budget.

1. Near duplicates collapse into the best-ranked of them: equal folded content, or nearly the same
   set of terms (Jaccard >= 0.9; texts above 16,384 characters are only compared whole). Texts that
   differ in a number, an identifier or a negation say different things and never collapse.
2. In rank order, each item is rendered whole as a block and taken if it fits into what is left. One
   that does not fit is skipped, and later ones are tried.
3. If nothing fits whole, the best item that can be shown in part is cut at a word, from the start of
   its matched passage, and marked. Its identity lines are never cut.
4. The rendered text is counted as a whole; should it exceed the budget, the last items go.

A block is

    [1] id=<id>
    path: <path>
    content: <content>

without blank lines inside; one blank line stands between blocks. Whatever is left out or cut is
named with its reason.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.domain.outcome import ContextPack, Hit, LeftOut, Omission, PackedItem
from engine.text.analysis import Term, analyse
from engine.text.folding import fold

NEAR_DUPLICATE_SIMILARITY = 0.9
CUT_MARK = " …[truncated]"

_SKIPPED_MARK = "… "
_COMPARED_CHARACTERS = 16_384
_SEPARATOR = "\n\n"
_FIRST_LOOK_CHARACTERS_PER_TOKEN = 8
_WORD_SEARCH_CHARACTERS = 48

_LINE_BREAK = re.compile(r"\r\n?")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
_NEGATIONS = frozenset({"no", "not", "never", "none", "nor", "neither", "nothing", "nobody", "without", "cannot"})

CountTokens = Callable[[str], int]
Similarity = Callable[[Hit, Hit], float]


def pack(
    hits: Sequence[Hit],
    *,
    max_items: int,
    max_tokens: int,
    count_tokens: CountTokens,
    tokenizer: str,
    similarity: Similarity | None = None,
) -> ContextPack:
    """Pack `hits`, best first, into at most `max_items` blocks of `max_tokens` tokens in all.

    `count_tokens` must not fall when text is appended. `similarity` (0..1) replaces the comparison
    by terms. The order of the items is that of `hits`; every hit is in `items`, in `left_out`, or,
    if it was cut, in both.
    """
    budget = _Budget(max_tokens, count_tokens)
    kept, left_out = _collapse(hits, similarity)
    items: list[PackedItem] = []
    used = 0
    separator_tokens = count_tokens(_SEPARATOR)
    for hit in kept:
        if len(items) >= max_items:
            left_out[hit.memory.id] = Omission.ITEM_LIMIT
            continue
        item = budget.whole(hit, len(items) + 1)
        if item.tokens > max_tokens:
            left_out[hit.memory.id] = Omission.TOO_LONG
        elif used + item.tokens > max_tokens:
            left_out[hit.memory.id] = Omission.NO_ROOM
        else:
            items.append(item)
            used += item.tokens + separator_tokens
    while items and count_tokens(_render(items)) > max_tokens:
        left_out[items.pop().hit.memory.id] = Omission.NO_ROOM
    if not items and max_items > 0 and (cut := next(filter(None, map(budget.cut, kept)), None)):
        items = [cut]
        left_out[cut.hit.memory.id] = Omission.TRUNCATED
    text = _render(items)
    return ContextPack(
        items=tuple(items),
        text=text,
        tokens=count_tokens(text) if text else 0,
        max_tokens=max_tokens,
        max_items=max_items,
        tokenizer=tokenizer,
        matched=len(hits),
        left_out=tuple(LeftOut(hit.memory.id, left_out[hit.memory.id]) for hit in hits if hit.memory.id in left_out),
    )


def shown_content(content: str) -> str:
    """Content as a block shows it: no blank lines, no white space at the edges."""
    return _BLANK_LINES.sub("\n", _LINE_BREAK.sub("\n", content)).strip()


@dataclass(frozen=True, slots=True)
class _Budget:
    """What one pack may cost, and blocks made to that measure."""

    max_tokens: int
    count_tokens: CountTokens

    def whole(self, hit: Hit, number: int) -> PackedItem:
        """The block with all of the content; `tokens` above the budget may stop short of all of it."""
        text = shown_content(hit.memory.content)
        return PackedItem(hit, text, self._count(_block(hit, number, text)), truncated=False)

    def cut(self, hit: Hit) -> PackedItem | None:
        """The longest marked beginning that fits as the only block; `None` if no word does."""
        source = shown_content(hit.memory.content[hit.passage.start :])
        opening = _SKIPPED_MARK if hit.memory.content[: hit.passage.start].strip() else ""

        def cut_at(length: int) -> PackedItem:
            text = f"{opening}{source[:length].rstrip()}{CUT_MARK}"
            return PackedItem(hit, text, self._count(_block(hit, 1, text)), truncated=True)

        longest = len(source)
        if cut_at(0).tokens > self.max_tokens:
            return None
        lengths = range(1, longest + 1)
        length = bisect_right(lengths, False, key=lambda length: cut_at(length).tokens > self.max_tokens)
        while (length := _word_end(source, length)) > 0:
            item = cut_at(length)
            if item.tokens <= self.max_tokens:
                return item
            length -= 1
        return None

    def _count(self, block: str) -> int:
        """Tokens of the block, read only as far as needed to see that it is too long."""
        size = (self.max_tokens + 1) * _FIRST_LOOK_CHARACTERS_PER_TOKEN
        while size < len(block):
            tokens = self.count_tokens(block[:size])
            if tokens > self.max_tokens:
                return tokens
            size *= 2
        return self.count_tokens(block)


def _block(hit: Hit, number: int, text: str) -> str:
    lines = [f"[{number}] id={hit.memory.id}"]
    if path := " ".join(hit.memory.path.split()):
        lines.append(f"path: {path}")
    return "\n".join([*lines, f"content: {text}"])


def _render(items: Sequence[PackedItem]) -> str:
    return _SEPARATOR.join(_block(item.hit, number, item.text) for number, item in enumerate(items, start=1))


def _word_end(text: str, length: int) -> int:
    """The last place up to `length` where a word ends; between characters in a long unspaced run."""
    if length >= len(text):
        return len(text)
    for cut in range(length, max(0, length - _WORD_SEARCH_CHARACTERS), -1):
        if text[cut].isspace() or text[cut - 1].isspace():
            return len(text[:cut].rstrip())
    if length <= _WORD_SEARCH_CHARACTERS and text[:length].isascii():
        return 0
    while length > 0 and unicodedata.category(text[length])[0] == "M":
        length -= 1
    return length


@dataclass(frozen=True, slots=True)
class _Sense:
    """What two texts must share to count as one."""

    folded: str
    terms: frozenset[str]
    facts: frozenset[str]


def _sense(hit: Hit) -> _Sense:
    content = hit.memory.content
    analysis = analyse(content if len(content) <= _COMPARED_CHARACTERS else "")
    terms = frozenset(term.text for term in analysis.terms if not term.stop)
    negations = {term.text for term in analysis.terms if term.text in _NEGATIONS or _is_contracted_not(term)}
    return _Sense(
        " ".join(fold(content).split()),
        terms,
        frozenset({*analysis.identifiers, *analysis.numbers, *negations}),
    )


def _is_contracted_not(term: Term) -> bool:
    return term.stop and term.text.endswith("nt")


def _are_near_duplicates(one: _Sense, other: _Sense) -> bool:
    if one.folded == other.folded:
        return True
    if one.facts != other.facts or not one.terms or not other.terms:
        return False
    shared = len(one.terms & other.terms)
    return shared >= NEAR_DUPLICATE_SIMILARITY * (len(one.terms) + len(other.terms) - shared)


def _collapse(hits: Sequence[Hit], similarity: Similarity | None) -> tuple[list[Hit], dict[str, Omission]]:
    """The hits to pack, and the near duplicates of better ones."""
    kept: list[Hit] = []
    senses: list[_Sense] = []
    left_out: dict[str, Omission] = {}
    for hit in hits:
        if similarity is not None:
            repeats = any(similarity(better, hit) >= NEAR_DUPLICATE_SIMILARITY for better in kept)
        else:
            sense = _sense(hit)
            repeats = any(_are_near_duplicates(better, sense) for better in senses)
            if not repeats:
                senses.append(sense)
        if repeats:
            left_out[hit.memory.id] = Omission.NEAR_DUPLICATE
        else:
            kept.append(hit)
    return kept, left_out
