"""How little a question looks like English, by its letters and by its words.

The embedder that is bundled and the lexicon know English; what they say of another language counts for
nothing. There is no list of languages here: a question is foreign as far as it is written in other
than Latin letters, or as its words are unknown to the lexicon and no function words of English.
Commands may look foreign, and a foreign question with many words that English has too may look English.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from engine.retrieval.evidence.lexicon import lexicon
from engine.text.analysis import Analysis, TermKind

_LEAST_WORDS = 4
"""Fewer words do not tell whether they are English."""

_LETTER, _LATIN = regex.compile(r"\p{L}"), regex.compile(r"\p{Latin}")


class _Ramp(NamedTuple):
    """From 0 to 1 between two shares: a word more or less must not turn one language into another."""

    start: float
    end: float

    def at(self, share: float) -> float:
        return min(max((share - self.start) / (self.end - self.start), 0.0), 1.0)


_OTHER_LETTERS = _Ramp(0.4, 0.6)
_UNKNOWN_WORDS = _Ramp(0.2, 0.4)
_NO_FUNCTION_WORDS = _Ramp(0.7, 0.9)


def foreign(text: str, analysis: Analysis) -> float:
    """From 0, English, to 1, foreign. A question of few words is told by its letters alone."""
    letters = len(_LETTER.findall(text))
    by_letters = _OTHER_LETTERS.at(1 - len(_LATIN.findall(text)) / letters) if letters else 0.0
    words = [term for term in analysis.terms if term.kind is TermKind.WORD and term.text.isalpha()]
    if len(words) < _LEAST_WORDS:
        return by_letters
    unknown = sum(not (term.stop or lexicon().describes(term.text)) for term in words) / len(words)
    telling = sum(not term.stop for term in words) / len(words)
    return max(by_letters, _UNKNOWN_WORDS.at(unknown) * _NO_FUNCTION_WORDS.at(telling))
