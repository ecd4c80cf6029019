"""Raw terms, and the index forms of single words and numbers."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import regex
import Stemmer

from engine.text.stopwords import is_stop_word

MAX_TERM_CHARACTERS = 256
"""A longer term is indexed by its digest: still found when repeated exactly, never stored whole."""

_LEADING_ZERO = re.compile(r"^0(?=\d(?!\d))")
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LOWER_CAMEL = re.compile(r"[a-z]{2,}(?:[A-Z][a-z]+)+")
_UPPER_CAMEL = re.compile(r"(?:[A-Z][a-z]+){3,}")


class TermKind(StrEnum):
    """What a term is. A part is a word or number inside an identifier or a joined word."""

    WORD = "word"
    IDENTIFIER = "identifier"
    PART = "part"
    NUMBER = "number"
    BIGRAM = "bigram"


class RawTerm(NamedTuple):
    """A term in its index form with the half-open range of its surface."""

    text: str
    kind: TermKind
    start: int
    end: int
    stop: bool


_LANGUAGES = (
    ("english", regex.compile(r"[\x00-\x7F]+")),
    ("russian", regex.compile(r"\p{Cyrillic}+")),
    ("greek", regex.compile(r"\p{Greek}+")),
    ("hindi", regex.compile(r"\p{Devanagari}+")),
    ("persian", regex.compile(r"(?=.*[\u067E\u0686\u0698\u06A9\u06AF\u06CC])\p{Arabic}+")),
    ("arabic", regex.compile(r"\p{Arabic}+")),
)
"""The stemmer for each script, by its most written language; six letters tell Persian from Arabic."""


class _Stemmers(threading.local):
    """One Snowball stemmer of each language a thread, since they hold state."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer.Stemmer] = {}

    def stem(self, word: str, language: str) -> str:
        if language not in self.by_language:
            self.by_language[language] = Stemmer.Stemmer(language)
        return str(self.by_language[language].stemWord(word))


_stemmers = _Stemmers()


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """The stem of a folded word in the language that its script stands for; function words and other words stay."""
    if len(word) > 2 and not is_stop_word(word):
        language = next((name for name, letters in _LANGUAGES if letters.fullmatch(word)), None)
        if language is not None:
            return bounded(_stemmers.stem(word, language))
    return bounded(word)


def bounded(form: str) -> str:
    """The form itself, or its digest if it is too long for a term."""
    if len(form) <= MAX_TERM_CHARACTERS:
        return form
    return "digest:" + hashlib.blake2b(form.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_letters(form: str) -> bool:
    """Letters and the marks on them, nothing else."""
    return form.isalpha() or (not form.isascii() and _LETTERS.fullmatch(form) is not None)


def number_form(digits: str) -> str:
    """`04` is 4 and `09:30` is 9:30; `007`, `0.5` and `3.50` stay as they are."""
    return bounded(_LEADING_ZERO.sub("", digits))


def word_terms(surface: str, form: str, start: int, kind: TermKind = TermKind.WORD) -> Iterator[RawTerm]:
    """The word, and the words inside it if its capitals show some.

    A word with humps is an identifier too if it looks like code (`parseJson`, `UserAccountManager`)
    and not like a name (`GitHub`, `iPhone`).
    """
    end = start + len(surface)
    yield RawTerm(stem(form), kind, start, end, is_stop_word(form))
    if not surface.isascii() or surface.islower() or surface.isupper() or surface.istitle():
        return
    if _LOWER_CAMEL.fullmatch(surface) or _UPPER_CAMEL.fullmatch(surface):
        yield RawTerm(identifier_text(form), TermKind.IDENTIFIER, start, end, False)
    for hump in _HUMP.finditer(surface):
        inner = hump[0].lower()
        if 1 < len(inner) < len(form):
            yield RawTerm(stem(inner), TermKind.PART, start + hump.start(), start + hump.end(), is_stop_word(inner))


def identifier_text(form: str) -> str:
    """Index form of an identifier; the prefix keeps it apart from words of the same letters."""
    return "id:" + bounded(form)
