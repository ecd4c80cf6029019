"""Synthetic spaces whose records carry identifiers: codes, versions, paths, hashes, addresses.

Half of the questions name an identifier that a record carries, half one that differs from a stored
identifier in a single character and that nobody stored. Codes are also asked by their number alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.synthetic_spaces import Question, SyntheticSpace

_RECORD = ("{i}: {t}", "error {i}: {t}", "{t} ({i})", "{t} See {i}.", "Ticket {i}. {t}", "{i} {t}")
_ASKED = (
    *("{i}",) * 3,
    "what is {i}",
    "what does {i} mean?",
    "tell me about {i}",
    "{i} 是什么",
    "explain {i}",
    "notes on {i}",
    "why {i}",
    "where is {i} described",
    "{i} details please",
    "error {i}",
    "has {i} been solved?",
)
_ASKED_BY_NUMBER = ("what does error {n} mean", "error {n}", "number {n}", "{n}", "what is {n} about", "{n} 是什么")
_CODE = re.compile(r"[A-Za-z_\-]{2,5}(\d{3,6})")
_CAPITALS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_RECORDS_PER_SPACE = (1, 3, 8, 25, 60, 120)


def identifier_spaces(texts: Sequence[str], seed: int = 7) -> list[SyntheticSpace]:
    """Spaces over `texts`, four of five of which are given an identifier."""
    rng = random.Random(seed)
    left = [text[: rng.randint(60, 260)] for text in texts]
    rng.shuffle(left)
    spaces: list[SyntheticSpace] = []
    while left:
        part, left = left[: (size := rng.choice(_RECORDS_PER_SPACE))], left[size:]
        spaces.append(_space(rng, f"identifiers-{len(spaces)}", part))
    return spaces


def _space(rng: random.Random, space_id: str, texts: Sequence[str]) -> SyntheticSpace:
    space = SyntheticSpace({})
    named: dict[str, str] = {}
    makers = rng.sample(_makers(rng), 3)
    for place, text in enumerate(texts):
        record_id = f"{space_id}/{place}"
        space.records[record_id] = text
        if rng.random() < 0.8:
            identifier = rng.choice(makers)()
            space.records[record_id] = rng.choice(_RECORD).format(i=identifier, t=text)
            named[identifier] = record_id
    for identifier, record_id in named.items():
        space.questions.append(_question(rng, identifier, record_id))
        sibling = _altered(rng, identifier)
        if sibling not in named:
            space.questions.append(_question(rng, sibling, None))
        space.questions.extend(_by_number(rng, identifier, sibling, space.records))
    return space


def _by_number(rng: random.Random, identifier: str, sibling: str, records: Mapping[str, str]) -> Iterator[Question]:
    for code in (identifier, sibling):
        if number := _CODE.fullmatch(code):
            holding = frozenset(each for each, text in records.items() if number[1] in text)
            text = rng.choice(_ASKED_BY_NUMBER).format(n=number[1])
            yield Question(text, holding, None if holding else "B", "number of a code")


def _question(rng: random.Random, identifier: str, record_id: str | None) -> Question:
    text = rng.choice(_ASKED).format(i=identifier)
    if record_id is None:
        return Question(text, frozenset(), "B", "identifier absent")
    return Question(text, frozenset({record_id}), None, "identifier")


def _makers(rng: random.Random) -> list[Callable[[], str]]:
    def digits(count: int) -> str:
        return "".join(rng.choice("0123456789") for _ in range(count))

    def capitals(count: int) -> str:
        return "".join(rng.choice(_CAPITALS) for _ in range(count))

    def path() -> str:
        folders = f"{rng.choice(('src', 'app', 'lib'))}/{rng.choice(('core', 'api', 'ui', 'db'))}"
        return f"{folders}/{capitals(4).lower()}.py:{rng.randint(1, 900)}"

    return [
        lambda: f"{capitals(2)}{digits(4)}",
        lambda: f"{capitals(3)}-{digits(3)}",
        lambda: f"E{digits(4)}-{capitals(2)}{digits(1)}",
        lambda: f"v{digits(1)}.{rng.randint(0, 20)}.{rng.randint(0, 30)}",
        path,
        lambda: f"CVE-20{rng.randint(10, 26)}-{digits(5)}",
        lambda: "".join(rng.choice("0123456789abcdef") for _ in range(40)),
        lambda: f"ERR_{capitals(4)}_{digits(2)}",
        lambda: f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(0, 255)}",
        lambda: f"INC-{digits(6)}",
        lambda: f"{capitals(4).lower()}_{capitals(5).lower()}_{digits(1)}",
    ]


def _altered(rng: random.Random, identifier: str) -> str:
    """The identifier with one character changed for another of its kind, a digit if it has one."""
    digits = [place for place, character in enumerate(identifier) if character.isdigit()]
    letters = [place for place, character in enumerate(identifier) if character.isalpha()]
    place = rng.choice(digits or letters)
    old = identifier[place]
    kind = "0123456789" if old.isdigit() else "abcdefghij" if old.islower() else _CAPITALS
    return identifier[:place] + rng.choice([new for new in kind if new != old]) + identifier[place + 1 :]
