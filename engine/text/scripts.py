"""Writing systems: the index form of a piece of text, and bigrams where words are not spaced.

Terms are compatibility composed (NFKC), so that full-width and half-width letters and digits equal
the plain ones; marks that Arabic and Hebrew may leave out are dropped, and digits of any script
become 0-9. Runs of Han, kana, hangul, Thai, Lao, Khmer and Myanmar are cut into overlapping bigrams
of user-perceived characters; a run of one character is that character.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import regex

from engine.text.folding import visible

BIGRAM_SCRIPTS = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u30FC\uFF70\uFF9E\uFF9F\u3099\u309A"
)
"""Members of a character class, with the length and voicing marks that belong to no single script."""

_OPTIONAL_MARKS = regex.compile(
    r"[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06ED]"
)
_FOREIGN_DIGIT = regex.compile(r"[\p{Nd}--[0-9]]", regex.V1)
_APOSTROPHE = regex.compile("[\u2018\u2019\u02bc\uff07]")
_MARK = regex.compile(r"\p{M}")
_CLUSTER = regex.compile(r"\X")


def index_form(surface: str) -> str:
    """How a piece of text is written in the index: folded, compatible, without optional marks."""
    if surface.isascii():
        return surface.lower()
    text = unicodedata.normalize("NFKC", visible(surface)).casefold()
    text = unicodedata.normalize("NFKC", _OPTIONAL_MARKS.sub("", text))
    text = _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0], digit[0])), text)
    return _APOSTROPHE.sub("'", text)


def bigrams(run: str) -> Iterator[tuple[str, int, int]]:
    """Index form, start and end (offsets in `run`) of each pair of neighbours; of the lone one if single."""
    form = index_form(run)
    if 1 < len(form) == len(run) and not _MARK.search(form):
        yield from ((form[start : start + 2], start, start + 2) for start in range(len(form) - 1))
        return
    clusters = [
        (form, found.start(), found.end()) for found in _CLUSTER.finditer(run) if (form := index_form(found[0]))
    ]
    if len(clusters) == 1:
        yield clusters[0]
    for (left, start, _), (right, _, end) in pairwise(clusters):
        yield left + right, start, end
