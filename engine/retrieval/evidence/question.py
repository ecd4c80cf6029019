"""What a query asks for, apart from its vector: content words, names, numbers, the kind of answer.

Words that only frame the question ("how many", "can you tell me") are no content.
Some clients append groups of near synonyms to a query ("memory memories recall saved facts"). Of
such a group nothing is asked of a record when the query says anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from engine.embedding.protocol import Vectors
from engine.retrieval.evidence.frames import frame_terms, is_dated, labelled_numbers
from engine.retrieval.evidence.reading import is_negated, is_question, latin_share, names_in
from engine.text.analysis import Analysis, TermKind, analyse


class Wants(StrEnum):
    """The kind of answer that a question word asks for."""

    PERSON = "person"
    PLACE = "place"
    TIME = "time"
    QUANTITY = "quantity"
    OTHER = "other"


_WANTS = (
    (
        Wants.QUANTITY,
        re.compile(
            r"\bhow (many|much|long|old|far|often|tall|big|large|high|deep|fast|heavy|wide|late)\b"
            r"|\bwhat (percent|percentage|number|amount|price|cost)\b"
        ),
    ),
    (Wants.TIME, re.compile(r"\bwhen\b|\b(what|which) (time|date|day|year|month|week|century|decade)\b")),
    (Wants.PERSON, re.compile(r"\b(who|whom|whose)\b")),
    (
        Wants.PLACE,
        re.compile(r"\bwhere\b|\b(what|which) (country|city|town|place|state|region|county|location|area)\b"),
    ),
)
_PADDING = (
    frozenset({"memori", "recal", "save", "fact", "rememb", "store", "knowledg"}),
    frozenset({"delet", "forget", "remov", "trash"}),
    frozenset({"restor", "recov", "recoveri", "undo"}),
    frozenset({"improv", "plan", "optim", "propos"}),
    frozenset({"trash", "recycl", "bin", "delet", "memori"}),
    frozenset({"incid", "accident", "delet", "recoveri"}),
    frozenset({"xmemo", "memori", "os"}),
)
"""Stems that clients add to queries in groups. Three of a group together say no more than one."""
_PADDING_SIZE = 3


@dataclass(frozen=True, slots=True)
class Question:
    """`words` are the distinct content terms in index form, in order, at most `WORD_LIMIT`.

    `identifiers` are the outermost ones: of `src/app.py:88` the whole, not the file in it.
    A number that names something ("error 1334") is one. `identifier_words` are all terms in them.
    `dated` says whether a year or a month is named.
    """

    text: str
    analysis: Analysis
    vector: Vectors
    words: tuple[str, ...]
    sequence: tuple[str, ...]
    names: frozenset[str]
    numbers: frozenset[str]
    identifiers: frozenset[str]
    identifier_words: frozenset[str]
    only_identifiers: bool
    negated: bool
    wants: Wants
    asks: bool
    dated: bool
    latin: float


WORD_LIMIT = 48
NO_WORD = ("",)
"""A question of punctuation alone asks for a word that no record holds."""


def understand(text: str, vector: Vectors) -> Question:
    """Read a query. `vector` is its embedding, shape (dimension,)."""
    analysis = analyse(text)
    lowered = text.casefold()
    identifiers, inside, alone = _outer_identifiers(analysis)
    numbers = labelled_numbers(text)
    return Question(
        text=text,
        analysis=analysis,
        vector=vector,
        words=_content_words(text, analysis),
        sequence=tuple(term.text for term in analysis.terms),
        names=names_in(text, analysis),
        numbers=frozenset(analysis.numbers),
        identifiers=identifiers | numbers,
        identifier_words=inside | numbers,
        only_identifiers=alone,
        negated=is_negated(analysis),
        wants=next((wants for wants, pattern in _WANTS if pattern.search(lowered)), Wants.OTHER),
        asks=is_question(text),
        dated=is_dated(text),
        latin=latin_share(text),
    )


def _content_words(text: str, analysis: Analysis) -> tuple[str, ...]:
    content = dict.fromkeys(term.text for term in analysis.terms if not term.stop)
    framing = frame_terms(text, analysis.terms)
    said = {term.text for place, term in enumerate(analysis.terms) if place not in framing}
    padding = _padding(content.keys())
    asked = [word for word in content if word in said and word not in padding]
    chosen = asked or list(content) or list(dict.fromkeys(term.text for term in analysis.terms))
    return tuple(chosen[:WORD_LIMIT]) or NO_WORD


def _padding(words: Iterable[str]) -> frozenset[str]:
    present = frozenset(words)
    groups = (group & present for group in _PADDING)
    return frozenset().union(*(group for group in groups if len(group) >= _PADDING_SIZE))


def _outer_identifiers(analysis: Analysis) -> tuple[frozenset[str], frozenset[str], bool]:
    """The identifiers that lie in no wider one, all terms in them, and whether nothing else is said."""
    outer, inside, reach, alone = set(), set(), 0, True
    for term in analysis.terms:
        if term.kind is TermKind.IDENTIFIER and term.end > reach:
            outer.add(term.text.removeprefix("id:"))
            reach = term.end
        elif term.start >= reach and not term.stop:
            alone = False
        if term.start < reach:
            inside.add(term.text)
    return frozenset(outer), frozenset(inside), bool(outer) and alone
