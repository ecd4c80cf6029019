"""Tell identifiers from words and numbers by the shape of a compound.

A *compound* is the index form of pieces (letters, digits, `_`) joined by single joiners. It is an
identifier if its exact spelling names one thing: letters mixed with digits, or inner punctuation
that running text does not have (`parse_json`, `src/app/main.py:88`, `cache-3.internal:6380`, dates,
addresses, versions). Everyday compounds are not: hyphenated words, amounts with units, ordinals,
times, decimals, ranges, alternatives with a slash.

The rules look at one joiner at a time, from the widest (`/`) to the narrowest (`-`). None of them
looks at case, so that a text and a question about it are judged alike.
"""

from __future__ import annotations

import re

from engine.text.stopwords import is_stop_word

_UNITS = (
    "nm|mm|cm|m|km|in|ft|yd|mi|ug|mg|g|kg|lb|lbs|oz|t|ml|cl|l|gal|"
    "ns|us|ms|s|sec|secs|min|mins|h|hr|hrs|hour|hours|d|day|days|w|wk|wks|mo|mos|y|yr|yrs|yo|am|pm|"
    "b|kb|mb|gb|tb|pb|kib|mib|gib|tib|bit|bits|kbps|mbps|gbps|hz|khz|mhz|ghz|"
    "mv|v|kv|ma|mah|kw|mw|gw|kwh|px|pt|em|rem|vh|vw|dpi|fps|rpm|bpm|mph|kph|kmh|c|f|x|p|u|"
    "k|mn|bn|usd|eur|gbp|cad|aud|inr|jpy|pcs|ish"
)
_QUANTITY = re.compile(rf"\d+(?:[.,]\d+)*(?:{_UNITS})|(?:\d+[dhms]){{2,}}|\d+(?:\.\d+)?e\d+")
_ORDINAL = re.compile(r"\d*(?:1st|2nd|3rd|\dth)")
_TIME = re.compile(r"\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?(?:am|pm)?")
_TIMESTAMP = re.compile(r"(\d{4}-\d{2}-\d{2})t\d{2}(?::?\d{2}){0,2}(?:\.\d+)?z?")
_HARDWARE_ADDRESS = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}|[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7}")
_HEX = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}")
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
_DECIMAL_PIECE = re.compile(r"(?<![^-])\d+\.\d+(?![^-])")
_VOWEL = re.compile(r"[aeiouy]")

_EXTENSIONS = """
py pyi js jsx mjs ts tsx md rst txt json jsonl yaml yml toml ini cfg conf env sh bash zsh ps1 bat c h cc cpp hpp cs
java kt go rs rb php pl swift sql db csv tsv xls xlsx doc docx ppt pptx pdf png jpg jpeg gif svg webp html htm css
scss xml log lock tar gz zip tgz xz rar exe dll so dylib bin iso dmg deb rpm whl ipynb proto tf vue lua mp3 mp4 wav
avi mov mkv com org net io dev
"""
_PLAIN_PREFIXES = """
mid pre post late early circa since top under over sub anti non pro multi inter intra semi
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
"""
_PLAIN_SUFFIXES = """
like based dependent independent induced mediated positive negative related specific deficient containing driven style
type only free compatible aware powered enabled bound sized ready level
"""
_FILE_ENDINGS = frozenset(_EXTENSIONS.split())
_NAMELESS_STARTS = frozenset(_PLAIN_PREFIXES.split())
_NAMELESS_ENDS = frozenset(_PLAIN_SUFFIXES.split())


def is_identifier(compound: str) -> bool:
    """Whether the compound (index form; a `#` or `/` before the first piece included) names one thing."""
    if compound.startswith("#"):
        return len(compound) > 2 and compound[1:].isdecimal()
    if _TIMESTAMP.fullmatch(compound) or _HARDWARE_ADDRESS.fullmatch(compound) or _UUID.fullmatch(compound):
        return True
    if "::" in compound:
        return True
    if "@" in compound:
        return not compound.rpartition("@")[2].isdecimal()
    if "/" in compound:
        return _is_path(compound)
    if "'" in compound:
        return False
    if ":" in compound:
        return _is_location(compound)
    if "#" in compound:
        return compound.rpartition("#")[2].isdecimal()
    compound = _DECIMAL_PIECE.sub("0", compound)
    if "." in compound:
        return _is_dotted(compound)
    if "-" in compound:
        return _is_hyphenated(compound)
    return is_code(compound)


def is_opaque(compound: str) -> bool:
    """Whether the pieces mean nothing by themselves: hashes, UUIDs, hardware addresses."""
    return bool(_HEX.fullmatch(compound) or _UUID.fullmatch(compound) or _HARDWARE_ADDRESS.fullmatch(compound))


def timestamp_date(compound: str) -> str | None:
    """The date of an ISO 8601 date and time, else `None`."""
    found = _TIMESTAMP.fullmatch(compound)
    return found[1] if found else None


def is_amount(compound: str) -> bool:
    """A number with a unit, an ordinal or a time of day."""
    return bool(_QUANTITY.fullmatch(compound) or _ORDINAL.fullmatch(compound) or _TIME.fullmatch(compound))


def is_ordinal(compound: str) -> bool:
    """`1st`, `22nd`, `400th`."""
    return _ORDINAL.fullmatch(compound) is not None


def is_abbreviation(compound: str) -> bool:
    """`e.g`, `u.s.a`, `ph.d`: letters in ones and twos between dots, at least one of them alone."""
    pieces = compound.split(".")
    return (
        len(pieces) > 1 and all(piece.isalpha() and len(piece) <= 2 for piece in pieces) and min(map(len, pieces)) == 1
    )


def is_code(piece: str) -> bool:
    """Whether a single piece, without joiners, is an identifier."""
    if "_" in piece:
        return True
    if piece.isalpha() or piece.isdecimal() or not (piece.isascii() and piece.isalnum()):
        return False
    return not is_amount(piece)


def _is_hyphenated(compound: str) -> bool:
    pieces = compound.split("-")
    if all(piece.isdecimal() for piece in pieces):
        return len(pieces) >= 3
    if pieces[0] in _NAMELESS_STARTS or pieces[-1] in _NAMELESS_ENDS:
        return False
    if any(is_code(piece) for piece in pieces):
        return True
    words = [piece for piece in pieces if piece.isalpha()]
    if len(words) == len(pieces):
        return False
    if not words or not pieces[0].isalpha():
        return any(not _VOWEL.search(word) and not _is_unit(word) for word in words if word.isascii())
    return not any(is_stop_word(word) for word in words if len(word) > 1)


def _is_unit(word: str) -> bool:
    return _QUANTITY.fullmatch(f"1{word}") is not None


def _is_dotted(compound: str) -> bool:
    pieces = compound.split(".")
    if all(piece.isdecimal() for piece in pieces):
        return len(pieces) >= 3
    if is_amount(compound) or is_abbreviation(compound):
        return False
    if len(pieces) == 2 and {piece.isdecimal() for piece in pieces} == {True, False}:
        return not any(piece.isalpha() for piece in pieces)
    words = [word for piece in pieces for word in piece.split("-")]
    if not all(word.isalpha() for word in words):
        return len(pieces) >= 3 or any(_is_hyphenated(piece) or is_code(piece) for piece in pieces)
    if pieces[-1] in _FILE_ENDINGS:
        return True
    return len(pieces[0]) > 1 and not any(is_stop_word(word) for word in words)


def _is_location(compound: str) -> bool:
    """`host:port`, `file:line`, `file:line:column`; not times, ratios or labels before a value."""
    place, *numbers = compound.split(":")
    if not all(number.isdecimal() for number in numbers):
        return False
    if place.isdecimal():
        return len(numbers) >= 3
    if is_identifier(place):
        return True
    port = numbers[-1]
    return len(numbers) == 1 and 4 <= len(port) <= 5 and place.replace("-", "").isalpha() and not is_stop_word(place)


def _is_path(compound: str) -> bool:
    pieces = [piece for piece in compound.split("/") if piece]
    slashes = len(pieces) - (not compound.startswith("/"))
    if any(is_identifier(piece) for piece in pieces):
        return True
    if all(piece.isdecimal() or is_amount(piece) for piece in pieces):
        return False
    first, *rest = pieces
    if slashes < 2:
        return bool(rest) and not first.isdecimal() and rest[-1].isdecimal()
    if compound.startswith("/"):
        return True
    return not any(is_stop_word(word) for piece in pieces for word in piece.split("-") if len(word) > 1)
