"""One normal form for comparing text, and the key under which a path is filed.

Folding is canonical caseless matching: drop what is invisible (the Unicode property
Default_Ignorable_Code_Point: zero-width characters, joiners, bidirectional marks, variation
selectors, soft hyphens), compose (NFC), fold case, compose again. It is idempotent.
"""

from __future__ import annotations

import unicodedata

import regex

_INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
_ROOT = "[root]"


def visible(text: str) -> str:
    """The text without invisible characters; otherwise untouched."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def clean(text: str) -> str:
    """Composed (NFC) and without invisible characters; case is kept."""
    return text if text.isascii() else unicodedata.normalize("NFC", visible(text))


def fold(text: str) -> str:
    """Composed, without invisible characters, case folded: equal for texts that read alike."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", clean(text).casefold())


def path_key(path: str) -> str:
    """The folded path without its `[ROOT]/`, spaces around slashes, repeated and edge slashes.

    Two paths with one key are one place. The root itself is the empty key.
    """
    segments = [segment for part in fold(path).split("/") if (segment := part.strip())]
    while segments and segments[0] == _ROOT:
        del segments[0]
    return "/".join(segments)
