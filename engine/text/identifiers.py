"""The terms of one identifier: itself, the narrower identifiers in it, and its parts.

A narrower identifier is one under which the wider may be looked up: a file without its line, the
end of a path, a folder, a host without its port or page, a piece such as `parse_json` in
`tools/parse_json.py`, the date of a timestamp, the short forms of a commit hash. Parts are the
words and numbers inside, so that plain words find the identifier; hashes have none.

Spellings that name the same thing are one identifier: no scheme, no `www.`, no edge slashes,
`\\` as `/`, and no `v` before a version of three numbers or more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from engine.text import shapes
from engine.text.scripts import index_form
from engine.text.terms import RawTerm, TermKind, identifier_text, is_letters, number_form, word_terms

_MAX_PATH_ENDS = 6
_SHORT_COMMIT_LENGTHS = (7, 8, 10, 12)
_COMMIT_LENGTHS = (40, 64)

_VERSION_LETTER = re.compile(r"^v(?=\d+(?:\.\d+){2})")
_HOST_LABEL = re.compile(r"^www\.(?=[^/]*\.)")
_SLASH = re.compile(r"[/\\]")
_LINE = re.compile(r"(?::\d{1,7}){1,2}$")
_PAGE = re.compile(r"[?#]")
_JOINED = re.compile(r"[^/\\:@#?&=]+")
_DOTTED = re.compile(r"v?\d+(?:\.\d+)+|[^/\\:@#?&=.]+")
_HYPHENATED = re.compile(r"v?\d+(?:\.\d+)+|[^/\\:@#?&=.\-]+")
_RUN = r"[\p{L}\p{Nd}][\p{L}\p{M}\p{Nd}\p{Default_Ignorable_Code_Point}]*"
_UNDERSCORED = regex.compile(rf"v?\d+(?:\.\d+)+|{_RUN}")
_LEAF = regex.compile(rf"\d+(?:\.\d+)+(?![\p{{L}}\p{{Nd}}])|{_RUN}")
_ALTERNATION = regex.compile(r"\p{Nd}+|\p{L}[\p{L}\p{M}\p{Default_Ignorable_Code_Point}]*")


def identifier_form(surface: str) -> str:
    """The canonical spelling, without the `id:` of its term."""
    form = index_form(surface).replace("\\", "/").strip("/")
    return _HOST_LABEL.sub("", _VERSION_LETTER.sub("", form))


def identifier_terms(surface: str, start: int) -> Iterator[RawTerm]:
    """All terms of an identifier that stands at `start`: the whole first, each identifier once."""
    whole = identifier_form(surface)
    seen = {whole}
    yield RawTerm(identifier_text(whole), TermKind.IDENTIFIER, start, start + len(surface), False)
    for form, left, right in _narrower(surface, whole):
        if form and form not in seen:
            seen.add(form)
            yield RawTerm(identifier_text(form), TermKind.IDENTIFIER, start + left, start + right, False)
    if not shapes.is_opaque(whole):
        yield from _parts(surface, start)


def _narrower(surface: str, whole: str) -> Iterator[tuple[str, int, int]]:
    """Form and range of each candidate that is an identifier itself."""
    if date := shapes.timestamp_date(whole):
        yield date, 0, len(date)
        return
    if shapes.is_opaque(whole):
        for length in _SHORT_COMMIT_LENGTHS if len(whole) in _COMMIT_LENGTHS else ():
            yield whole[:length], 0, length
        return
    for left, right in dict.fromkeys(_ranges(surface)):
        if right - left < len(surface) and shapes.is_identifier(index_form(surface[left:right]).replace("\\", "/")):
            yield identifier_form(surface[left:right]), left, right


def _ranges(surface: str) -> Iterator[tuple[int, int]]:
    end = len(surface)
    page = _PAGE.search(surface, 1)
    line = _LINE.search(surface)
    stem_end = page.start() if page else line.start() if line else end
    slashes = [found.start() for found in _SLASH.finditer(surface, 1, stem_end)]
    yield 0, stem_end
    for slash in slashes[-_MAX_PATH_ENDS:]:
        yield slash + 1, end
        yield slash + 1, stem_end
    for slash in slashes[:_MAX_PATH_ENDS]:
        yield 0, slash
    for level in (_JOINED, _DOTTED, _HYPHENATED, _UNDERSCORED):
        for found in level.finditer(surface):
            yield found.start(), found.end()


def _parts(surface: str, start: int) -> Iterator[RawTerm]:
    """Words and numbers inside; of a version its first two numbers, as people quote it."""
    for leaf in _LEAF.finditer(surface):
        left, form = start + leaf.start(), index_form(leaf[0])
        if form[0].isdecimal() and "." in form:
            yield _number_part(".".join(form.split(".")[:2]), left, start + leaf.end())
        elif form.isdecimal():
            yield _number_part(form, left, start + leaf.end())
        elif is_letters(form):
            if len(form) > 1:
                yield from word_terms(leaf[0], form, left, TermKind.PART)
        elif not shapes.is_opaque(form):
            yield from _alternating_parts(leaf[0], left)


def _alternating_parts(surface: str, start: int) -> Iterator[RawTerm]:
    """`TS1002` is `ts` and `1002`; a piece that changes more often is not made of words."""
    pieces = list(_ALTERNATION.finditer(surface))
    if len(pieces) > 3:
        return
    for piece in pieces:
        form, left, right = index_form(piece[0]), start + piece.start(), start + piece.end()
        if len(form) < 2:
            continue
        if form.isdecimal():
            yield _number_part(form, left, right)
        else:
            yield from word_terms(piece[0], form, left, TermKind.PART)


def _number_part(digits: str, start: int, end: int) -> RawTerm:
    return RawTerm(number_form(digits), TermKind.PART, start, end, False)
