"""What a query asks for, apart from its vector: content words, names, numbers, identifiers.

Words that only frame the question ("how many", "can you tell me") are no content.
Some clients append groups of near synonyms to a query ("memory memories recall saved facts"). Of
such a group nothing is asked of a record when the query says anything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from engine.embedding.protocol import Vectors
from engine.retrieval.evidence.frames import frame_terms, is_dated, is_question, labelled_numbers, names_in
from engine.retrieval.evidence.language import foreign
from engine.text.analysis import Analysis, TermKind, analyse

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
    `dated` says whether a year or a month is named. `foreign`, 0..1, is how little the question looks
    like English: most of its letters are no Latin ones, or few of its words are English. `spelled` are
    the words that a person would look for, by index form, as the question spells them: no identifier,
    no piece of a joined word (`Min`, `IO` of `MinIO`), no function word, nothing of the frame.
    """

    text: str
    analysis: Analysis
    vector: Vectors
    words: tuple[str, ...]
    spelled: Mapping[str, str]
    sequence: tuple[str, ...]
    names: frozenset[str]
    numbers: frozenset[str]
    identifiers: frozenset[str]
    identifier_words: frozenset[str]
    only_identifiers: bool
    asks: bool
    dated: bool
    foreign: float


WORD_LIMIT = 48
NO_WORD = ("",)
"""A question of punctuation alone asks for a word that no record holds."""


def understand(text: str, vector: Vectors) -> Question:
    """Read a query. `vector` is its embedding, shape (dimension,)."""
    analysis = analyse(text)
    identifiers, inside, alone = _outer_identifiers(analysis)
    numbers = labelled_numbers(text)
    words = _content_words(text, analysis)
    return Question(
        text=text,
        analysis=analysis,
        vector=vector,
        words=words,
        spelled=_spelled(analysis, set(words) - identifiers - numbers),
        sequence=tuple(term.text for term in analysis.terms),
        names=names_in(text, analysis),
        numbers=frozenset(analysis.numbers),
        identifiers=identifiers | numbers,
        identifier_words=inside | numbers,
        only_identifiers=alone,
        asks=is_question(text),
        dated=is_dated(text),
        foreign=foreign(text, analysis),
    )


def _content_words(text: str, analysis: Analysis) -> tuple[str, ...]:
    content = dict.fromkeys(term.text for term in analysis.terms if not term.stop)
    framing = frame_terms(text, analysis.terms)
    said = {term.text for place, term in enumerate(analysis.terms) if place not in framing}
    padding = _padding(content.keys())
    asked = [word for word in content if word in said and word not in padding]
    chosen = asked or list(content) or list(dict.fromkeys(term.text for term in analysis.terms))
    return tuple(chosen[:WORD_LIMIT]) or NO_WORD


def _spelled(analysis: Analysis, content: Collection[str]) -> dict[str, str]:
    words: dict[str, str] = {}
    reach = 0
    for term in analysis.terms:
        if term.kind is TermKind.IDENTIFIER:
            reach = max(reach, term.end)
        elif term.start >= reach and term.kind is not TermKind.PART and not term.stop and term.text in content:
            words.setdefault(term.text, term.surface)
    return words


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
