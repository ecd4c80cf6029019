"""Reasons in words: what a person would say of a passage beside a question.

A word is what a person would call one (`Question.spelled`); an identifier is named whole and apart.
Where the question names an identifier or a number and the passage one of the same form or in the same
place ("port 25" for "port 587"), both are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.retrieval.evidence.question import Question
from engine.retrieval.evidence.reading import Reading
from engine.text.analysis import Term, TermKind

_NAMED = 4
"""At most so many words are named in one reason."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Wording:
    """Words of the question as it spells them, heaviest first: those that the passage holds, and not."""

    matched: tuple[str, ...]
    missing: tuple[str, ...]


def word(question: Question, reading: Reading, weights: Mapping[str, float]) -> Wording:
    """The question's words in the passage. `weights` are by index form."""
    words = question.spelled
    heaviest = sorted(words, key=lambda form: -weights.get(form, 0.0))
    return Wording(
        matched=tuple(words[form] for form in heaviest if form in reading.counts),
        missing=tuple(words[form] for form in heaviest if form not in reading.counts),
    )


def reasons(
    question: Question, reading: Reading, wording: Wording, passage: str, cosine: float, *, whole: bool
) -> tuple[str, ...]:
    """What speaks for the passage, then what is missing. `whole`: the passage is all of the record."""
    told = []
    present = question.identifiers & reading.identifiers
    absent = question.identifiers - reading.identifiers
    if present:
        told.append(f"names {_listed(_spelled(present, question.text))}")
    others = _others(question, reading, absent)
    told += [
        f"asks for {_as_written(asked, question.text)}, record says {_as_written(said, passage)}"
        for asked, said in list(others.items())[:_NAMED]
    ]
    if unmet := absent - others.keys():
        told.append(f"does not name {_listed(_spelled(unmet, question.text))}")
    instead = {question.spelled[form] for form in others if form in question.spelled}
    matched, missing = wording.matched, [each for each in wording.missing if each not in instead]
    if matched:
        told.append(f"has {len(matched)} of {len(matched) + len(wording.missing)} words: {_listed(matched)}")
    if missing:
        lead = "no mention of" if whole else "this passage lacks"
        told.append(f"{lead} {_listed([repr(each) for each in missing])}")
    told.append(f"similar in meaning to {cosine:.2f}")
    return tuple(told)


def _others(question: Question, reading: Reading, absent: Iterable[str]) -> dict[str, str]:
    """What the passage says instead of an identifier or a number of the question."""
    unasked = sorted(reading.identifiers - question.identifiers)
    found = {}
    for asked in sorted(absent):
        form = _DIGITS.sub("0", asked)
        siblings = [each for each in unasked if _DIGITS.sub("0", each) == form]
        if form not in {asked, "0"} and siblings:
            found[asked] = siblings[0]
    for asked, said in _other_numbers(question, reading):
        found.setdefault(asked, said)
    return found


def _other_numbers(question: Question, reading: Reading) -> Iterator[tuple[str, str]]:
    """Numbers that stand beside the same word as another one does in the question."""
    terms = [term for term in question.analysis.terms if term.kind is not TermKind.PART]
    unasked = reading.numbers - question.numbers
    for place, term in enumerate(terms):
        if term.kind is TermKind.NUMBER and term.text not in reading.counts:
            before, after = _content(terms, place - 1), _content(terms, place + 1)
            for left, right in zip(reading.sequence, reading.sequence[1:], strict=False):
                if left == before and right in unasked:
                    yield term.text, right
                elif right == after and left in unasked:
                    yield term.text, left


def _content(terms: Sequence[Term], place: int) -> str | None:
    inside = 0 <= place < len(terms) and not terms[place].stop
    return terms[place].text if inside else None


def _spelled(forms: Iterable[str], text: str) -> list[str]:
    return [_as_written(form, text) for form in sorted(forms)]


def _as_written(form: str, text: str) -> str:
    """A folded form in the spelling of the text, if it is found there."""
    found = re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE)
    return found[0] if found else form


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more
