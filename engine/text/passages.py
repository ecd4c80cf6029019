"""Cut long text into passages that an embedder can take whole.

1. A text that fits is one passage.
2. Otherwise it is cut into *pieces*: sentences, very short ones joined with the next; a sentence
   that does not fit is cut evenly between words, a word between characters.
3. Pieces are packed in order. When the next does not fit, the passage ends, at its last paragraph
   end if that leaves it at least half full. The next passage starts with an overlap: the last
   whole pieces of the one before, or else its last words, as far as they fit.

Each piece is counted once and each passage once, so `count_tokens` reads the text a small number of
times, whatever its length. Pieces are assumed to add up; a passage that turns out longer than
`max_tokens` is shortened piece by piece.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import regex

CountTokens = Callable[[str], int]

_SHORT_PIECE_CHARACTERS = 48
_WORD_SEARCH_CHARACTERS = 64
_MARK_SEARCH_CHARACTERS = 16
_CHARACTERS_PER_OVERLAP_TOKEN = 16
_FIRST_LOOK_CHARACTERS_PER_TOKEN = 16

_SENTENCE_END = regex.compile(
    r"""(?<![.!?;…])[.!?;…]++["'”’)\]]*+\s++ | [。！？；．]++[」』”’）]*+\s*+ | \n\s*+""", regex.VERBOSE
)
_VISIBLE = regex.compile(r"\S")
_WORD_START = regex.compile(r"(?<=\s)\S")


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch that is not cut further; white space around it belongs to no piece."""

    start: int
    end: int
    tokens: int
    ends_paragraph: bool


def passages(text: str, count_tokens: CountTokens, max_tokens: int = 200, overlap_tokens: int = 40) -> tuple[Span, ...]:
    """Spans in order that together cover every visible character, each of at most `max_tokens`.

    Blank text has none. Neighbours share up to `overlap_tokens`, which must be less than
    `max_tokens` (`ValueError`). A single character that alone counts more than `max_tokens` is a
    passage of its own.
    """
    if not 0 <= overlap_tokens < max_tokens:
        raise ValueError("overlap_tokens must lie in 0..max_tokens-1")
    if not _VISIBLE.search(text):
        return ()
    if _fits(text, count_tokens, max_tokens):
        return (Span(0, len(text)),)
    pieces = list(_pieces(text, count_tokens, max_tokens))
    return tuple(_pack(text, pieces, count_tokens, max_tokens, overlap_tokens))


def windows(text: str, count_tokens: CountTokens, max_tokens: int) -> tuple[Span, ...]:
    """The spans of a long query: like `passages`, without overlap."""
    return passages(text, count_tokens, max_tokens, overlap_tokens=0)


def _fits(text: str, count_tokens: CountTokens, max_tokens: int) -> bool:
    """Whether the text counts at most `max_tokens`, read only as far as needed to see that it does not."""
    size = max_tokens * _FIRST_LOOK_CHARACTERS_PER_TOKEN
    while size < len(text):
        if count_tokens(text[:size]) > max_tokens:
            return False
        size *= 4
    return count_tokens(text) <= max_tokens


def _pieces(text: str, count_tokens: CountTokens, max_tokens: int) -> Iterator[_Piece]:
    for start, end, ends_paragraph in _sentences(text):
        fitting = list(_fitting(text, start, end, count_tokens, max_tokens))
        for left, right, tokens in fitting:
            yield _Piece(left, right, tokens, ends_paragraph and right == fitting[-1][1])


def _sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start, end and whether a paragraph ends; at least `_SHORT_PIECE_CHARACTERS` but for the last."""
    start = 0
    for found in (*_SENTENCE_END.finditer(text), None):
        boundary = found.end() if found else len(text)
        if found and boundary - start < _SHORT_PIECE_CHARACTERS:
            continue
        if trimmed := _trim(text, start, boundary):
            yield *trimmed, found is None or found[0].count("\n") > 1
        start = boundary


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The range without white space at its edges; `None` if nothing is left."""
    stretch = text[start:end]
    left = len(stretch) - len(stretch.lstrip())
    return (start + left, start + len(stretch.rstrip())) if left < len(stretch) else None


def _fitting(
    text: str, start: int, end: int, count_tokens: CountTokens, max_tokens: int
) -> Iterator[tuple[int, int, int]]:
    """Start, end and tokens of stretches that fit, cut as evenly as words allow."""
    tokens = count_tokens(text[start:end])
    if tokens <= max_tokens or end - start == 1:
        yield start, end, tokens
        return
    share = (end - start) / min(-(-5 * tokens // (4 * max_tokens)), end - start)
    left, target = start, start + share
    while left < end:
        right = max(_boundary(text, left, min(round(target), end), end), left + 1)
        if trimmed := _trim(text, left, right):
            yield from _fitting(text, *trimmed, count_tokens, max_tokens)
        left, target = right, target + share


def _boundary(text: str, start: int, position: int, end: int) -> int:
    """A place to cut near `position`: after white space before it, else between two characters."""
    if position >= end:
        return end
    for cut in range(position, max(start, position - _WORD_SEARCH_CHARACTERS), -1):
        if text[cut].isspace() or text[cut - 1].isspace():
            return cut
    for cut in range(position, min(position + _MARK_SEARCH_CHARACTERS, end)):
        if unicodedata.category(text[cut])[0] != "M":
            return cut
    return position


def _pack(
    text: str, pieces: list[_Piece], count_tokens: CountTokens, max_tokens: int, overlap_tokens: int
) -> Iterator[Span]:
    first, begin, carried = 0, pieces[0].start, 0
    while first < len(pieces):
        last = _last_fitting(pieces, first, max_tokens - carried)
        while (begin, last) != (pieces[first].start, first + 1):
            if count_tokens(text[begin : pieces[last - 1].end]) <= max_tokens:
                break
            begin, last = (pieces[first].start, last) if begin < pieces[first].start else (begin, last - 1)
        yield Span(begin, pieces[last - 1].end)
        if last < len(pieces):
            room = min(overlap_tokens, max_tokens - pieces[last].tokens)
            begin, carried = _overlap(text, pieces[first:last], pieces[last].start, count_tokens, room)
        first = last


def _last_fitting(pieces: list[_Piece], first: int, room: int) -> int:
    """Index after the last piece of the passage that begins with piece `first`; at least one piece."""
    used, last = pieces[first].tokens, first + 1
    while last < len(pieces) and used + pieces[last].tokens <= room:
        used += pieces[last].tokens
        last += 1
    if last == len(pieces):
        return last
    kept = used
    for index in range(last - 1, first, -1):
        if 2 * kept < room:
            break
        if pieces[index].ends_paragraph:
            return index + 1
        kept -= pieces[index].tokens
    return last


def _overlap(text: str, before: list[_Piece], following: int, count_tokens: CountTokens, room: int) -> tuple[int, int]:
    """Where the next passage begins and how many tokens it repeats; `following` and 0 for no overlap."""
    begin, carried = following, 0
    for piece in reversed(before[1:]):
        if carried + piece.tokens > room:
            break
        begin, carried = piece.start, carried + piece.tokens
    if carried or room <= 0:
        return begin, carried
    end = before[-1].end
    tail = max(before[-1].start + 1, end - _CHARACTERS_PER_OVERLAP_TOKEN * room)
    starts = [found.start() for found in _WORD_START.finditer(text, tail, end)] or list(range(tail, end))
    fits = bisect_left(starts, True, key=lambda start: count_tokens(text[start:end]) <= room)
    if fits == len(starts):
        return following, 0
    return starts[fits], count_tokens(text[starts[fits] : end])
