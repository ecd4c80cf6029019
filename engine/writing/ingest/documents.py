"""The parts of a text that become one memory each: Markdown by headings, the rest by passages.

markdown   one part per section, each under the headings that lead to it; long ones cut further
html       the visible text, its headings as Markdown headings; scripts and styles are dropped
json       one `path: value` line per leaf; a list of objects is one part per object
text       passages of meaning: paragraphs and sentences, packed up to `PART_TOKENS`
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser

from engine.domain.source import ContentType
from engine.errors import InvalidRequest
from engine.text.passages import passages

PART_TOKENS = 200
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_BLANKS = re.compile(r"[ \t\r\f\v]+")
_HIDDEN = frozenset({"script", "style", "template", "noscript", "head"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "header", "hr"}
    | {"li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul"}
)
_JSON_DEPTH = 32


def parts(content: str, content_type: ContentType, count_tokens: Callable[[str], int]) -> list[str]:
    """The parts of a source's text, in order. Raises `InvalidRequest` for JSON that does not parse."""
    match content_type:
        case ContentType.MARKDOWN:
            found = _sections(content)
        case ContentType.HTML:
            found = _sections(_visible(content))
        case ContentType.JSON:
            found = _records(content)
        case _:
            found = iter([("", content)])
    return [part for heading, body in found for part in _cut(heading, body, count_tokens)]


def _cut(heading: str, body: str, count_tokens: Callable[[str], int]) -> Iterator[str]:
    room = max(PART_TOKENS - count_tokens(heading), PART_TOKENS // 2) if heading else PART_TOKENS
    for span in passages(body, count_tokens, room, overlap_tokens=0):
        text = body[span.start : span.end].strip()
        if text:
            yield f"{heading}\n{text}" if heading else text


def _sections(content: str) -> Iterator[tuple[str, str]]:
    """Heading trail and body of each section that has a body."""
    trail: list[tuple[int, str]] = []
    body: list[str] = []
    fenced = False
    for line in [*content.splitlines(), None]:
        found = None if line is None or fenced else _HEADING.match(line)
        if line is None or found:
            text = "\n".join(body).strip()
            if text:
                yield " > ".join(title for _, title in trail), text
            body = []
        if found:
            level = len(found[1])
            trail = [each for each in trail if each[0] < level] + [(level, found[2])]
        elif line is not None:
            fenced ^= bool(_FENCE.match(line))
            body.append(line)


class _Text(HTMLParser):
    """Collects what a reader of the page would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif re.fullmatch(r"h[1-6]", tag):
            self.pieces.append("\n\n" + "#" * int(tag[1]) + " ")
        elif tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BLOCKS or re.fullmatch(r"h[1-6]", tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(re.sub(r"\s+", " ", data))


def _visible(content: str) -> str:
    reader = _Text()
    reader.feed(content)
    reader.close()
    lines = (_BLANKS.sub(" ", line).strip() for line in "".join(reader.pieces).splitlines())
    return "\n".join(line for line in lines if line and line.strip("#"))


def _records(content: str) -> Iterator[tuple[str, str]]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("the content is not JSON", field="content") from error
    whole = value if isinstance(value, list) and all(isinstance(each, dict) for each in value) else [value]
    for each in whole:
        lines = "\n".join(_leaves(each, "", 0))
        if lines:
            yield "", lines


def _leaves(value: object, path: str, depth: int) -> Iterator[str]:
    if depth > _JSON_DEPTH:
        raise InvalidRequest("the JSON is nested too deeply", field="content")
    match value:
        case dict():
            for name, inner in value.items():
                yield from _leaves(inner, f"{path}.{name}" if path else str(name), depth + 1)
        case list():
            for inner in value:
                yield from _leaves(inner, path, depth + 1)
        case None | "":
            return
        case _:
            yield f"{path}: {value}" if path else str(value)
