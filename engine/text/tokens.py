"""Cut a chunk (a run without white space) into raw terms.

One expression finds the pieces: addresses with a scheme, numbers with thousands separators and the
currency that touches them, names like `C++`, symbols (emoji), runs of unspaced scripts, and
*compounds*: letters, digits and `_` joined by single punctuation marks. A compound that is an
identifier (`engine.text.shapes`) becomes the terms of `engine.text.identifiers`. Any other falls
apart at its widest joiner, and its pieces are looked at in turn. All offsets are relative to the
chunk.

Every step takes time linear in the chunk: no expression can run to the end of a long chunk from
many starts, so repetitions that may fail late are bounded or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import regex

from engine.text import shapes
from engine.text.identifiers import identifier_form, identifier_terms
from engine.text.scripts import BIGRAM_SCRIPTS, bigrams, index_form
from engine.text.stopwords import is_stop_word
from engine.text.terms import RawTerm, TermKind, bounded, is_letters, number_form, stem, word_terms

_CACHED_CHUNK_CHARACTERS = 48

_APOSTROPHES = "'\u2018\u2019\u02bc\uff07"
_WORD = (
    rf"[[\p{{L}}\p{{Nd}}_]--[{BIGRAM_SCRIPTS}]]"
    rf"[[\p{{L}}\p{{M}}\p{{Nd}}_\p{{Default_Ignorable_Code_Point}}]--[{BIGRAM_SCRIPTS}]]*+"
)
_PIECE = regex.compile(
    rf"""
      (?P<address> [A-Za-z][A-Za-z0-9+.\-]{{0,20}}:// [!\#-&(-;=?-Z_a-z~\[\]]++ )
    | (?P<number> \p{{Nd}}{{1,3}}(?:,\p{{Nd}}{{3}}){{1,8}}(?:\.\p{{Nd}}{{1,20}})?(?![\w,]) )
    | (?P<currency> (?<!\w)[A-Za-z]{{2,3}}(?=\p{{Nd}}{{1,3}}(?:,\p{{Nd}}{{3}}){{1,8}}(?![\w,])) )
    | (?P<named> (?<!\w)(?:[A-Za-z]{{1,20}}\+\+|[A-Za-z]\#)(?!\w) )
    | (?P<symbol> \p{{Regional_Indicator}}{{2}}
        | \p{{Extended_Pictographic}}(?:\uFE0F|\p{{Emoji_Modifier}}|\u200D\p{{Extended_Pictographic}})*+ )
    | (?P<unspaced> [{BIGRAM_SCRIPTS}][{BIGRAM_SCRIPTS}\p{{M}}\p{{Default_Ignorable_Code_Point}}]*+ )
    | (?P<compound> (?:(?<!\w)[\#/\\])? {_WORD} (?:(?:::|[-./:@\#\\{_APOSTROPHES}]){_WORD})*+ )
    """,
    regex.VERBOSE | regex.V1,
)
_AFTER_ADDRESS = ".,;:!?)]}*_~'"
_LEVELS = tuple(
    re.compile(joiners)
    for joiners in (r"[/\\]", r"::|[:@#]", rf"[{_APOSTROPHES}]", r"\.", r"-", r"_", r"(?<=\d)(?=\D)|(?<=\D)(?=\d)")
)
_HYPHEN = re.compile(r"-")
_MARKS = regex.compile(r"\p{M}+")
_POSSESSIVE = re.compile(rf"[{_APOSTROPHES}][sS]$")
_CLITIC = re.compile(r"'(?:s|ll|re|ve|d|m)$")
_ELISION = re.compile(r"(?:[a-z]|qu)'\w{3}")
_DECIMAL = re.compile(r"\d+\.\d+")
_SLASH_DATE = re.compile(r"\d{1,4}/\d{1,2}/\d{1,4}")
_AMOUNT = re.compile(r"(?P<number>\d[\d.,:]*)(?P<unit>[a-z]*)")


def chunk_terms(chunk: str) -> tuple[RawTerm, ...]:
    """The terms of a run without white space, piece by piece; an identifier stands before its parts."""
    return _cached_terms(chunk) if len(chunk) <= _CACHED_CHUNK_CHARACTERS else tuple(_terms(chunk))


@lru_cache(maxsize=16_384)
def _cached_terms(chunk: str) -> tuple[RawTerm, ...]:
    return tuple(_terms(chunk))


def _terms(chunk: str) -> Iterator[RawTerm]:
    for found in _PIECE.finditer(chunk):
        surface, start = found[0], found.start()
        match found.lastgroup:
            case "address":
                yield from _address(surface, start)
            case "number":
                yield _number(surface.replace(",", ""), start, found.end())
            case "named" | "symbol" | "currency":
                yield RawTerm(index_form(surface), TermKind.WORD, start, found.end(), False)
            case "unspaced":
                for form, left, right in bigrams(surface):
                    yield RawTerm(form, TermKind.BIGRAM, start + left, start + right, False)
            case _:
                yield from _compound(surface, start)


def _address(surface: str, start: int) -> Iterator[RawTerm]:
    trimmed = surface.rstrip(_AFTER_ADDRESS)
    scheme, _, place = trimmed.partition("://")
    if identifier_form(place):
        yield from identifier_terms(place, start + len(scheme) + 3)
    else:
        yield from _compound(scheme, start)


def _compound(surface: str, start: int) -> Iterator[RawTerm]:
    trimmed = _POSSESSIVE.sub("", surface.lstrip("_")).rstrip("_")
    start += len(surface) - len(surface.lstrip("_"))
    form = index_form(trimmed)
    if not form.strip("_"):
        return
    if is_letters(form):
        yield from word_terms(trimmed, form, start)
    elif shapes.is_identifier(_MARKS.sub("", form).replace("\\", "/")):
        yield from identifier_terms(trimmed, start)
    else:
        yield from _plain(trimmed, form, start)


def _plain(surface: str, form: str, start: int) -> Iterator[RawTerm]:
    """The terms of a compound that is neither one word nor an identifier."""
    end = start + len(surface)
    if form.isdecimal() or _DECIMAL.fullmatch(form):
        yield _number(form, start, end)
    elif shapes.is_amount(form):
        yield from _amount(form, start, end)
    elif shapes.is_abbreviation(form):
        yield RawTerm(form.replace(".", ""), TermKind.WORD, start, end, form in ("e.g", "i.e"))
    elif "'" in form and is_letters(form.replace("'", "")):
        yield from _apostrophe(surface, form, start)
    elif _SLASH_DATE.fullmatch(form):
        yield _number(form, start, end)
        yield from (term._replace(kind=TermKind.PART) for term in _split(surface, form, start))
    else:
        yield from _split(surface, form, start)


def _split(surface: str, form: str, start: int) -> Iterator[RawTerm]:
    """Look at the pieces between the widest joiners; a range of amounts is widest at its hyphen."""
    pieces = form.split("-")
    if len(pieces) == 2 and len(pieces[0]) == 1 and pieces[0].isalpha() and len(pieces[1]) > 2 and pieces[1].isalpha():
        yield RawTerm(stem("".join(pieces)), TermKind.WORD, start, start + len(surface), False)
        yield RawTerm(stem(pieces[1]), TermKind.PART, start + 2, start + len(surface), is_stop_word(pieces[1]))
        return
    amounts = len(pieces) > 1 and any(_DECIMAL.fullmatch(piece) or shapes.is_amount(piece) for piece in pieces)
    level = _HYPHEN if amounts else next((level for level in _LEVELS if level.search(surface)), None)
    if level is None:
        yield RawTerm(bounded(form), TermKind.WORD, start, start + len(surface), False)
        return
    left = 0
    for joiner in (*level.finditer(surface), None):
        right = joiner.start() if joiner else len(surface)
        if left < right:
            yield from _compound(surface[left:right], start + left)
        left = joiner.end() if joiner else right


def _apostrophe(surface: str, form: str, start: int) -> Iterator[RawTerm]:
    """`don't` is one word, `they'll` its pronoun, `d'accord` two words."""
    end = start + len(surface)
    if form.endswith("n't"):
        joined = form.replace("'", "")
        yield RawTerm(stem(joined), TermKind.WORD, start, end, is_stop_word(joined))
    elif not _ELISION.match(form) and (clitic := _CLITIC.search(form)):
        word = surface[: clitic.start() - len(form)]
        yield from _compound(word, start)
    else:
        yield from _split(surface, form, start)


def _amount(form: str, start: int, end: int) -> Iterator[RawTerm]:
    """Each number and its unit; an ordinal is a word whose number is a part."""
    if shapes.is_ordinal(form):
        yield RawTerm(form, TermKind.WORD, start, end, False)
        yield RawTerm(form[:-2], TermKind.PART, start, end - 2, False)
        return
    aligned = len(form) == end - start  # not so if invisible characters stand between
    for found in _AMOUNT.finditer(form):
        number, unit = found["number"], found["unit"]
        left, middle = (start + found.start(), start + found.end("number")) if aligned else (start, end)
        yield _number(number.replace(",", ""), left, middle)
        if ":" in number:
            yield RawTerm(number_form(number.partition(":")[0]), TermKind.PART, left, middle, False)
        if unit:
            unit_start, unit_end = (middle, start + found.end()) if aligned else (start, end)
            yield RawTerm(stem(unit), TermKind.WORD, unit_start, unit_end, is_stop_word(unit))


def _number(digits: str, start: int, end: int) -> RawTerm:
    return RawTerm(number_form(index_form(digits)), TermKind.NUMBER, start, end, False)
