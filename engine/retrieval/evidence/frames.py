"""What a question's wording adds to its content: frames that ask for nothing, numbers that name, dates.

- A *frame* is the form of a question and no part of what it asks for: "what kind of", "how many",
  "can you tell me", "是什么意思". No record is expected to hold its words.
  Words that say which property is asked for ("how old", "the name of") are content.
- A *labelled number* names one thing, as an identifier does: "error 1334", "port 8080", "room 512".
  A number that counts something ("order 200 chairs") does not.
- A *name* is written with a capital inside a sentence, or first in it and in few other texts.
- The *dates* of a question (a year, a month with or without a day) may be met by the time at which a
  record's event happened, though its text does not say so.
"""

from __future__ import annotations

import re
from datetime import datetime

from engine.retrieval.evidence.lexicon import lexicon
from engine.text.analysis import Analysis, Term, TermKind, analyse

_FRAME = re.compile(
    r"\b(?:what|which) (?:kind|type|sort)s? of\b"
    r"|\bhow (?:many|much)\b"
    r"|\b(?:do|does|did) (?:you|we|i|anyone|anybody) (?:still )?(?:know|remember|recall)\b"
    r"|\b(?:can|could|would|will) (?:you|we) (?:please )?(?:tell|show|remind|give)(?: me| us)?\b"
    r"|^\W*(?:please )?(?:tell|show|remind) (?:me|us)(?: about| of)?\b"
    r"|\b(?:where|how) (?:can|could|do|would) (?:i|we|you|one) find\b"
    r"|\bwhat (?:does|do|did) (?=.*\bmean\W*$)|(?<=\w) means?\W*$"
    r"|是什么意思|什么意思|是什么|什么|怎么样|怎么|如何|为什么|哪里|哪儿|哪个|哪些|多少|几个"
    r"|とは何ですか|とは何|何ですか|どのように|どこですか|いつですか|誰ですか|ですか|とは",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:\b(?:error|exception|warning|code|bug|issue|ticket|task|incident|invoice|order|account|case|room|port|rfc|pep|pr"
    r"|pull request|fehler|erreur)(?: code| number| no\.?| nr\.?| id)?|错误|エラー)[\s:]*#?(\d{2,})"
    r"(?![\w.,:/%-]*\d)(?!\s*%)(?!\s+(?!is\b|was\b|does\b|has\b)[a-z]+s\b)",
    re.IGNORECASE,
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_DATE = re.compile(rf"\b(?:19|20)\d\d\b|\b(?:{'|'.join(_MONTHS)})\b", re.IGNORECASE)

COMMON_SHARE = 2e-4
"""A capitalised first word that more texts than this hold is a sentence start, not a name."""

_QUESTION_START = re.compile(
    r"\W*(what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|have)\b",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]|[\"“'(\-])\s*$")


def frame_terms(text: str, terms: tuple[Term, ...]) -> frozenset[int]:
    """Places in `terms` of those that lie in a frame of the question; a bigram may reach out of it."""
    spans = [match.span() for match in _FRAME.finditer(text)]

    def framed(term: Term, start: int, end: int) -> bool:
        if term.kind is TermKind.BIGRAM:
            return term.start < end and term.end > start
        return term.start >= start and term.end <= end

    return frozenset(place for place, term in enumerate(terms) if any(framed(term, *span) for span in spans))


def labelled_numbers(text: str) -> frozenset[str]:
    """Numbers that name one thing because of the word before them."""
    return frozenset(match[1] for match in _LABELLED.finditer(text))


def is_dated(text: str) -> bool:
    """Whether a question names a year or a month."""
    return _DATE.search(text) is not None


def date_terms(moment: datetime) -> frozenset[str]:
    """The terms in which a question would name this day: day, month and year, in index form."""
    written = f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
    return frozenset(term.text for term in analyse(written).terms)


def names_in(text: str, analysis: Analysis) -> frozenset[str]:
    """Terms written like names: capitals inside a sentence, or first words that are not common."""
    common = lexicon()
    names = set()
    for term in analysis.terms:
        if term.stop or term.kind is not TermKind.WORD or not term.surface[:1].isupper():
            continue
        if common.share(term.text) < COMMON_SHARE or not _SENTENCE_START.search(
            text, max(term.start - 4, 0), term.start
        ):
            names.add(term.text)
    return frozenset(names)


def is_question(text: str) -> bool:
    """Whether the text ends in a question mark or begins like a question."""
    return text.rstrip().endswith(("?", "？")) or _QUESTION_START.match(text) is not None
