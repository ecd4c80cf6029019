"""The file of field cases, parsed: rows to store, steps to take, and what to expect of each.

A line is one case. Short forms are written out where their meaning is known: texts and repeated
rows when the case is read, `{"$ref": ...}` and `{"$now": ...}` when the step runs, because only
then ids exist and the clock counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import field_cases_file

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
SLUG_WORDS = 9


@dataclass(frozen=True, slots=True)
class Row:
    """One memory to store before the steps; `fields` are the arguments of `remember`."""

    ref: str
    space: str
    fields: Mapping[str, Any]

    @property
    def content(self) -> str:
        return str(self.fields["content"])


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a step must answer; `None` and empty mean that the case does not say."""

    statuses: frozenset[str] = frozenset()
    first: str | None = None
    contains: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    count: int | None = None
    same: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    max_tokens: int | None = None
    http: frozenset[int] = frozenset()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One call: a verb, raw arguments, who calls, and the expected answer."""

    verb: str
    arguments: Mapping[str, Any]
    actor: str | None
    creates: str | None
    expect: Expectation


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `actors` maps a name to its rights by space (`r` or `rw`)."""

    id: str
    area: str
    tier: str
    symptom: str
    rows: tuple[Row, ...]
    actors: Mapping[str, Mapping[str, str]]
    steps: tuple[Step, ...]
    source: Mapping[str, Any] = field(repr=False, hash=False, compare=False, default_factory=dict)

    @property
    def label(self) -> str:
        """A readable test id, such as `B1-07-strict-a-neighbouring-error-code`."""
        words = re.findall(r"[a-z0-9]+", self.symptom.casefold())
        return "-".join([self.id, self.area, *words[:SLUG_WORDS]])

    @property
    def is_procedure(self) -> bool:
        """Whether only the note of the case says what to do."""
        return not self.source["store"] and not self.source["args"]

    @property
    def spaces(self) -> tuple[str, ...]:
        """Every space that exists in the case, in order of first mention.

        A space that only a step names exists if nobody's rights are spelt out: then the one caller
        may use every space of the case.
        """
        named = [row.space for row in self.rows] + [space for rights in self.actors.values() for space in rights]
        if not self.actors:
            named += [str(step.arguments["space"]) for step in self.steps if step.arguments.get("space")]
        return tuple(dict.fromkeys(named)) or ("s1",)

    def resized(self, copies: int) -> Case:
        """The same case with every repeated row written out `copies` times."""
        source = dict(self.source)
        source["store"] = [{**row, "repeat": copies} if "repeat" in row else row for row in source["store"]]
        return replace(parse(source), source=source)


def load(path: Path) -> tuple[Case, ...]:
    """All cases of a file, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(parse(json.loads(line)) for line in lines if line.strip())


def parse(source: Mapping[str, Any]) -> Case:
    """One case from its JSON object."""
    actor = source.get("as")
    steps = [_step(source, actor), *(_step(step, actor) for step in source.get("then", ()))]
    return Case(
        id=source["id"],
        area=source["area"],
        tier=source["tier"],
        symptom=source["symptom"],
        rows=tuple(_rows(source["store"])),
        actors=source.get("actors", {}),
        steps=tuple(steps),
        source=source,
    )


def resolved(value: Any, ids: Mapping[str, Sequence[str]]) -> Any:
    """`value` with its short forms written out; a ref with several rows gives the first one's id."""
    if isinstance(value, list):
        return [resolved(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    if "$text" in value:
        return "".join(text * count for text, count in value["$text"])
    if "$ref" in value:
        return ids[value["$ref"]][0]
    if "$now" in value:
        return _relative_time(value)
    return {key: resolved(item, ids) for key, item in value.items()}


def refs_in(value: Any) -> Iterator[str]:
    """Every row that a raw argument points at."""
    if isinstance(value, list):
        for item in value:
            yield from refs_in(item)
    elif isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for item in value.values():
            yield from refs_in(item)


def _step(source: Mapping[str, Any], actor: str | None) -> Step:
    return Step(
        verb=source["do"],
        arguments=source.get("args", {}),
        actor=source.get("as", actor),
        creates=source.get("creates"),
        expect=_expectation(source["expect"]),
    )


def _expectation(source: Mapping[str, Any]) -> Expectation:
    return Expectation(
        statuses=frozenset(source["status"].split("|")),
        first=source.get("first"),
        contains=tuple(source.get("contains", ())),
        excludes=tuple(source.get("excludes", ())),
        count=source.get("count"),
        same=tuple(source.get("same", ())),
        differs=tuple(source.get("differs", ())),
        max_tokens=source.get("max_tokens"),
        http=frozenset(source.get("http", ())),
        note=source.get("note", ""),
    )


def _rows(store: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for source in store:
        fields = dict(source)
        ref, space = fields.pop("ref"), fields.pop("space")
        copies, vary = fields.pop("repeat", None), fields.pop("vary", {})
        for number in range(1 if copies is None else copies):
            yield Row(ref, space, {key: _filled(value, number, vary, copies) for key, value in fields.items()})


def _filled(value: Any, number: int, vary: Mapping[str, Sequence[str]], copies: int | None) -> Any:
    """A field of copy `number`: placeholders picked in mixed radix, the first list turning fastest."""
    if isinstance(value, dict) and "$text" in value:
        value = resolved(value, {})
    if copies is None or not isinstance(value, str):
        return value
    value = value.replace("{i}", str(number))
    for name, options in vary.items():
        number, pick = divmod(number, len(options))
        value = value.replace("{" + name + "}", options[pick])
    return value


def _relative_time(value: Mapping[str, str]) -> str:
    zone = datetime.strptime(value.get("tz", "+0000"), "%z").tzinfo
    shift = timedelta(seconds=int(value["$now"][:-1]) * SECONDS[value["$now"][-1]])
    return (datetime.now(UTC) + shift).astimezone(zone).isoformat()


def parameters(chosen: Sequence[Case]) -> list[object]:
    """One parameter a case, or one that is skipped with the reason."""
    if not chosen:
        why = f"no field cases at {field_cases_file()}; set MEMVOUCH_FIELD_CASES or MEMVOUCH_SHARED"
        return [pytest.param(None, marks=pytest.mark.skip(reason=why), id="no-file")]
    return [pytest.param(case, id=case.label) for case in chosen]
