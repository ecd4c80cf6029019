"""The ILIKE language of `path_filter` and `memory_type`, parsed once and matched anywhere.

`%` is any run of characters, slashes too. `_` is exactly one character, but only in a pattern that
holds a `%` or ends in `*`; elsewhere it is itself, because a bare path is a name and not a pattern.
A backslash takes the next character literally. Stars at the end equal `%` at the end. A path
pattern without a wildcard means that path or anything below it; a value pattern without one means
that value. Blank means everything.

Patterns and keys are compared in folded form (`engine.text.folding`), so one character is one
character of the folded key. A path pattern is brought into the normal form of path keys as well:
no `[ROOT]/`, no spaces around slashes, no repeated or edge slashes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from engine.errors import InvalidPattern
from engine.text.folding import fold, path_key

MAX_PATTERN_CHARACTERS = 1024

_SLASH = re.compile(r"\s*/[\s/]*")
_ROOT = re.compile(r"\A(?:\[root\]/)+")
_LIKE_SPECIAL = re.compile(r"[\\%_]")


class Wild(Enum):
    """A wildcard of a parsed pattern."""

    ANY = "%"
    ONE = "_"


Token: TypeAlias = str | Wild


@dataclass(frozen=True, slots=True)
class Pattern:
    """A parsed pattern: folded literal runs and wildcards, none of the runs empty.

    `below` tells that a literal also stands for everything under it (`p` or `p/...`).
    """

    tokens: tuple[Token, ...]
    below: bool

    @property
    def is_match_all(self) -> bool:
        """Whether every key matches."""
        return self.tokens == (Wild.ANY,)

    @property
    def literal(self) -> str | None:
        """The folded text of a pattern without wildcards, else `None`."""
        match self.tokens:
            case (str() as text,):
                return text
            case _:
                return None

    @property
    def like(self) -> tuple[str, ...]:
        """SQL LIKE patterns over folded keys, escaped by a backslash; a key matches any of them."""
        whole = "".join(
            token.value if isinstance(token, Wild) else _LIKE_SPECIAL.sub(r"\\\g<0>", token) for token in self.tokens
        )
        return (whole, f"{whole}/%") if self.below else (whole,)

    def matches(self, key: str) -> bool:
        """Whether a folded key matches; time grows with the product of the two lengths at most."""
        literal = self.literal
        if literal is not None:
            return key == literal or (self.below and key.startswith(f"{literal}/"))
        return _matches_segments(_segments(self.tokens), key)


def parse_path_pattern(text: str, *, field: str = "path_filter") -> Pattern:
    """Parse a path pattern. Raises `InvalidPattern`, naming `field`."""
    tokens = _tidy_path(_tokens(text, field))
    if not tokens:
        return Pattern((Wild.ANY,), below=False)
    return Pattern(tokens, below=not any(isinstance(token, Wild) for token in tokens))


def parse_value_pattern(text: str, *, field: str = "memory_type") -> Pattern:
    """Parse a pattern over a whole value. Raises `InvalidPattern`, naming `field`."""
    return Pattern(_tokens(text.strip(), field) or (Wild.ANY,), below=False)


def _tokens(text: str, field: str) -> tuple[Token, ...]:
    """Folded literal runs and wildcards in order, runs of `%` collapsed."""
    _check(text, field)
    characters = _characters(text, field)
    if Wild.ANY not in characters:
        characters = [character.value if isinstance(character, Wild) else character for character in characters]
    tokens: list[Token] = []
    run = ""
    for character in [*characters, None]:
        if isinstance(character, str):
            run += character
            continue
        if folded := fold(run):
            tokens.append(folded)
        run = ""
        if character is Wild.ONE or (character is Wild.ANY and tokens[-1:] != [Wild.ANY]):
            tokens.append(character)
    return tuple(tokens)


def _check(text: str, field: str) -> None:
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise InvalidPattern(f"{field} is longer than {MAX_PATTERN_CHARACTERS} characters.", field=field)
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidPattern(f"{field} holds a character that no stored text can hold.", field=field)


def _characters(text: str, field: str) -> list[Token]:
    """Each character as itself or as the wildcard that it is, escapes resolved."""
    characters: list[Token] = []
    stars = 0
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
            if position == len(text):
                raise InvalidPattern(f"{field} ends in a lone backslash.", field=field)
            characters.append(text[position])
        elif character == "*":
            characters.append(character)
            stars += 1
            position += 1
            continue
        else:
            characters.append(Wild(character) if character in "%_" else character)
        stars = 0
        position += 1
    if stars:
        characters[-stars:] = [Wild.ANY]
    return characters


def _tidy_path(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The tokens in the normal form of path keys; empty for the root, that is for everything."""
    match tokens:
        case (str() as literal,):
            key = path_key(literal)
            return (key,) if key else ()
    tidied: list[Token] = [_SLASH.sub("/", token) if isinstance(token, str) else token for token in tokens]
    if tidied and isinstance(tidied[0], str):
        tidied[0] = _ROOT.sub("", tidied[0].lstrip().lstrip("/"))
    if tidied and isinstance(tidied[-1], str):
        tidied[-1] = tidied[-1].rstrip().rstrip("/")
    return tuple(token for token in tidied if token != "")


@dataclass(frozen=True, slots=True)
class _Segment:
    """A stretch between two `%`: an expression without repetition and the length that it matches."""

    expression: re.Pattern[str]
    length: int


@lru_cache(maxsize=256)
def _segments(tokens: tuple[Token, ...]) -> tuple[_Segment, ...]:
    segments: list[_Segment] = []
    expression, length = "", 0
    for token in (*tokens, Wild.ANY):
        if token is Wild.ANY:
            segments.append(_Segment(re.compile(expression, re.DOTALL), length))
            expression, length = "", 0
        else:
            expression += "." if isinstance(token, Wild) else re.escape(token)
            length += 1 if isinstance(token, Wild) else len(token)
    return tuple(segments)


def _matches_segments(segments: tuple[_Segment, ...], key: str) -> bool:
    """The first segment stands at the start, the last at the end, the others leftmost between."""
    first, *between = segments
    if not between:
        return first.expression.fullmatch(key) is not None
    *middle, last = between
    if first.expression.match(key) is None:
        return False
    position = first.length
    for segment in middle:
        found = segment.expression.search(key, position)
        if found is None:
            return False
        position = found.end()
    start = len(key) - last.length
    return start >= position and last.expression.match(key, start) is not None
