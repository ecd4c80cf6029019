"""What kind of statement a text is, by rules over its words.

    viewpoint   someone likes, wants, thinks, feels or rates something
    episode     something happened or will happen at some time
    semantic    a lasting state: everything else

A viewpoint wins over an episode: "I loved the film yesterday" tells a taste. Questions count as what
they ask about. Measured on the labelled sentences of the tests.
"""

from __future__ import annotations

import re

from engine.domain.memory import MemoryType
from engine.domain.source import Nature

_VIEWPOINT = re.compile(
    r"\b(?:i|we|she|he|they|user|customer)(?:'d|'m|'re)?\s+(?:really\s+|just\s+|still\s+|also\s+|so\s+|absolutely\s+|"
    r"do(?:es)?n't\s+|don’t\s+|always\s+|never\s+)*"
    r"(?:likes?|loved?|loves|hates?|hated|enjoy(?:s|ed)?|prefers?|preferred|dislikes?|disliked|adores?|wants?|"
    r"thinks?|thought|believes?|feels?|felt|find it|finds it|rather|would rather|hope|hopes|wish|wishes|"
    r"a (?:big |huge )?fan of|can't stand|trusts?|agrees?|disagrees?|recommends?|suggests?)\b"
    r"|\b\w+ (?:loves|hates|enjoys|prefers|dislikes|adores|thinks|believes|recommends)\b"
    r"|\b(?:favou?rite|opinion|imo|overrated|underrated|prefers?|preference|disappoint(?:ed|ing)|"
    r"too (?:slow|hard|easy|loud|expensive|complicated)|should (?:always|never)|worth it)\b"
    r"|\b(?:is|was|are|were|so|looks?|sounds?|seems?|feels?)\s+(?:really |so |very |pretty |such an? )?"
    r"(?:great|awful|terrible|amazing|awesome|beautiful|boring|annoying|fantastic|wonderful|horrible|delicious|ugly)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last (?:night|week|month|year|summer|winter|spring|fall|weekend|"
    r"\w+day)|next (?:week|month|year|weekend|summer|\w+day)|this (?:morning|afternoon|evening|week|weekend|month)|"
    r"\w+ (?:days?|weeks?|months?|years?|hours?|minutes?) ago|the other day|recently|just (?:now|finished|got|"
    r"started|came|had|bought|moved)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\b\d{4}-\d{2}-\d{2}\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)"
    r"\s+\d{1,2}\b|\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\b|\bin (?:19|20)\d{2}\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:went|came|met|bought|sold|started|finished|moved|visited|deployed|released|fixed|broke|crashed|failed|"
    r"decided|signed|joined|left|won|lost|saw|took|made|got|gave|found|happened|attended|travel(?:l)?ed|called|"
    r"sent|shipped|merged|migrated|replaced|upgraded|installed|married|born|died|graduated|adopted|hosted|ran|"
    r"booked|cancel(?:l)?ed|renamed|changed)\b",
    re.IGNORECASE,
)


def nature_of(text: str) -> Nature:
    """The kind of a statement; `text` is one memory's own words."""
    if _VIEWPOINT.search(text):
        return Nature.VIEWPOINT
    if _WHEN.search(text) or _HAPPENED.search(text):
        return Nature.EPISODE
    return Nature.SEMANTIC


def memory_type_of(nature: Nature) -> MemoryType:
    """The type of the record; a viewpoint is a semantic one that says so in its provenance."""
    return MemoryType.EPISODIC if nature is Nature.EPISODE else MemoryType.SEMANTIC
