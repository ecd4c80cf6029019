"""Turn text into the terms that the lexical leg and the evidence count.

1. Cut at white space into chunks; cut each chunk into terms (`engine.text.tokens`), cached, since
   the same chunks come again and again.
2. Words are folded and stemmed by their script; English function words are kept and flagged. Identifiers are kept
   whole, with their parts beside them. Numbers are normalised. Unspaced scripts become bigrams.
3. Quoted phrases are read from the text as a whole.

Nothing depends on what else was analysed, so a text and a question about it meet in one form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import regex

from engine.text.folding import fold
from engine.text.terms import TermKind
from engine.text.tokens import chunk_terms

ANALYSIS_VERSION = "memvouch-text-2"
"""Changes whenever the terms of any text may change; an index of another version is rebuilt."""

_CHUNK = regex.compile(r"\S+")
_QUOTE_MARKS = frozenset('"“”„«»「」『』')
_PHRASE = regex.compile(
    r"""(?<![\w"])"([^"\n]{2,200}?)"(?!\w) | [“„]([^“”\n]{2,200}?)[“”] | «([^«»\n]{2,200}?)»
    | 「([^「」\n]{2,200}?)」 | 『([^『』\n]{2,200}?)』""",
    regex.VERBOSE,
)
_SPEAKING = regex.compile(r"[\p{L}\p{N}]")


class Term(NamedTuple):
    """One term: its index form, its kind, and the half-open range `start..end` of its surface.

    `stop` marks function words; they are indexed, but neither counted in lengths nor evidence.
    A tuple: a search makes hundreds of them, and a frozen dataclass takes three times as long.
    """

    text: str
    kind: TermKind
    surface: str
    start: int
    end: int
    stop: bool


@dataclass(frozen=True, slots=True)
class Analysis:
    """The terms of a text in order, and what matters about it.

    `identifiers` are canonical forms (without the `id:` of their terms) and `numbers` normalised
    numbers, each once, in order of first appearance. `phrases` are quoted stretches, folded, with
    single spaces. `length` counts the terms that are no function words and lie in no counted one: a
    path counts once, whatever is found in it.
    """

    terms: tuple[Term, ...]
    identifiers: tuple[str, ...]
    numbers: tuple[str, ...]
    phrases: tuple[str, ...]
    length: int


def analyse(text: str) -> Analysis:
    """Analyse a text of any length, in time linear in it. Offsets refer to `text` as given."""
    terms: list[Term] = []
    identifiers: dict[str, None] = {}
    numbers: dict[str, None] = {}
    length = reach = 0
    for chunk in _CHUNK.finditer(text):
        offset = chunk.start()
        for form, kind, start, end, stop in chunk_terms(chunk[0]):
            start += offset
            end += offset
            terms.append(Term(form, kind, text[start:end], start, end, stop))
            if not stop and (start >= reach or kind is TermKind.BIGRAM):
                length += 1
                reach = end
            if kind is TermKind.IDENTIFIER:
                identifiers[form[3:]] = None
            elif kind is TermKind.NUMBER:
                numbers[form] = None
    return Analysis(tuple(terms), tuple(identifiers), tuple(numbers), _phrases(text), length)


def term_counts(analysis: Analysis) -> dict[str, int]:
    """How often each term occurs, function words included."""
    counts: dict[str, int] = {}
    for term in analysis.terms:
        counts[term.text] = counts.get(term.text, 0) + 1
    return counts


def _phrases(text: str) -> tuple[str, ...]:
    if _QUOTE_MARKS.isdisjoint(text):
        return ()
    found = (" ".join(fold(next(filter(None, match.groups()))).split()) for match in _PHRASE.finditer(text))
    return tuple(dict.fromkeys(phrase for phrase in found if _SPEAKING.search(phrase)))


__all__ = ["ANALYSIS_VERSION", "Analysis", "Term", "TermKind", "analyse", "term_counts"]
