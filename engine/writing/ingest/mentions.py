"""What a text names: speakers, names, identifiers and links, found by form alone.

person       whoever speaks a turn, unless it is a mere role such as `user`
technology   an identifier: a path, a version, a call, an error code
link         an address on the web
no type      a name: capitalised words that do not merely begin a sentence
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.domain.source import Mention, Message
from engine.text.analysis import TermKind, analyse
from engine.text.folding import fold

MENTIONS_LIMIT = 30
_NAME_CHARACTERS = 80
_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "agent", "developer", "function"})
_LINK = re.compile(r"https?://[^\s<>\"'\])]+")
_WORD = r"(?:[A-Z][\w’'-]*[\w]|[A-Z]{2,})"
_NAME = re.compile(rf"(?<![\w@#/.-]){_WORD}(?:[ ]{_WORD}){{0,3}}(?![\w/])")
_BEGINS = re.compile(r"(?:^|[.!?:;…\n\"“(*#>-])\s*$")
_PLAIN_WORDS = """
a also an and april august but december february friday good great he hello her hey hi his how i i'd
i'll i'm i've if it its january july june march may monday my no november now october ok okay or our
saturday september she so sunday sure thank thanks that the then these they this those thursday
tuesday we wednesday well what when where who why wow yes you your
"""
_NO_NAMES = frozenset(_PLAIN_WORDS.split())


def mentions(text: str, speakers: Sequence[Message] = ()) -> list[Mention]:
    """The distinct things that a text names, at most `MENTIONS_LIMIT`, speakers first."""
    found: dict[str, Mention] = {}
    for mention in _all(text, speakers):
        found.setdefault(mention.key, mention)
        if len(found) == MENTIONS_LIMIT:
            break
    return list(found.values())


def _all(text: str, speakers: Sequence[Message]) -> Iterator[Mention]:
    for message in speakers:
        if fold(message.role) not in _ROLES:
            yield _mention(message.role, "person")
    links = list(_LINK.finditer(text))
    for link in links:
        yield _mention(link[0].rstrip(".,;:!?"), "link")
    reach = 0
    for term in analyse(text).terms:
        inside_link = any(link.start() <= term.start < link.end() for link in links)
        if term.kind is TermKind.IDENTIFIER and term.end > reach and not inside_link:
            reach = term.end
            yield _mention(text[term.start : term.end], "technology")
    for name in _names(text):
        yield _mention(name, None)


def _names(text: str) -> Iterator[str]:
    for found in _NAME.finditer(text):
        every = found[0].split(" ")
        first, last = 0, len(every)
        while first < last and fold(every[first]) in _NO_NAMES:
            first += 1
        while last > first and fold(every[last - 1]) in _NO_NAMES:
            last -= 1
        words = every[first:last]
        begins = first == 0 and _BEGINS.search(text[max(0, found.start() - 4) : found.start()])
        # One capitalised word at the beginning of a sentence is most often just that.
        if words and not (begins and len(words) == 1 and not words[0].isupper()):
            yield " ".join(words)


def _mention(name: str, entity_type: str | None) -> Mention:
    shown = " ".join(name.split())[:_NAME_CHARACTERS]
    return Mention(fold(shown), shown, entity_type)
