"""Runs one case through a surface and checks every step of it: here lie the assertions of all field-case tests.

`play` stores the rows, takes the steps in order and returns what was answered; `check` holds an
answer against its expectation. `play_without_foreign_rows` plays a case twice, once without the
rows that the caller may not read: the answers must be the same, down to scores and traces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.field_cases.cases import Case, Row, Step, refs_in, resolved
from tests.field_cases.surface import Arrangement, Reply, Surface, World

Ids = dict[str, list[str]]


@dataclass(slots=True)
class Played:
    """A case after its last step: its world, the ids behind its refs, and one reply a step."""

    case: Case
    world: World
    ids: Ids
    replies: list[Reply] = field(default_factory=list)


def play(case: Case, surface: Surface, arrangement: Arrangement = Arrangement.TOKENS) -> Played:
    """Store, act and check; raises `AssertionError` at the first answer that is not as expected."""
    played = prepare(case, surface, arrangement)
    for number, step in enumerate(case.steps):
        reply = take(step, played)
        played.replies.append(reply)
        check(step, reply, played, f"{case.id} step {number} ({step.verb})")
    return played


def prepare(case: Case, surface: Surface, arrangement: Arrangement = Arrangement.TOKENS) -> Played:
    """A world of the case with its rows stored and no step taken."""
    world = surface.world(case.spaces, case.actors, arrangement)
    return Played(case, world, _stored(case.rows, world))


def take(step: Step, played: Played) -> Reply:
    """Do one step. A ref that stands for several rows is acted on once for each of them."""
    verb, arguments = verb_of(step)
    several = [ref for ref in refs_in(arguments) if len(played.ids[ref]) > 1]
    copies = max((len(played.ids[ref]) for ref in several), default=1)
    reply = Reply("ok")
    for copy in range(copies):
        ids = {**played.ids, **{ref: [played.ids[ref][copy]] for ref in several}}
        reply = played.world.call(step.actor, verb, resolved(dict(arguments), ids))
        if reply.status == "error":
            break
    if step.creates and reply.record_id:
        played.ids[step.creates] = [reply.record_id]
    return reply


def verb_of(step: Step) -> tuple[str, Mapping[str, Any]]:
    """The verb and its own arguments; a REST step names its operation in `call`."""
    if step.verb != "rest":
        return step.verb, step.arguments
    arguments = dict(step.arguments)
    call = arguments.pop("call", "")
    return ("search_memory" if call == "search" else call), arguments


def check(step: Step, reply: Reply, played: Played, where: str) -> None:
    """Hold one reply against the expectation of its step."""
    expect, ids = step.expect, played.ids
    told = f"{where}: {reply.status}, {_summary(reply, ids)}; note: {expect.note}"
    assert reply.status in expect.statuses, told
    if expect.http and reply.http is not None:
        assert reply.http in expect.http, f"HTTP {reply.http} instead of {sorted(expect.http)}; {told}"
    if reply.status == "ok":
        if expect.first is not None:
            assert reply.hits and reply.hits[0].id in ids[expect.first], told
        missing = [ref for ref in expect.contains if not set(ids[ref]) <= set(reply.ids)]
        assert not missing, f"not shown: {missing}; {told}"
        if expect.count is not None:
            assert len(reply.hits) == expect.count, told
        assert all(reply.record_id in ids[ref] for ref in expect.same), f"got {reply.record_id}; {told}"
        assert all(reply.record_id not in ids[ref] for ref in expect.differs), f"got {reply.record_id}; {told}"
    for ref in expect.excludes:
        _check_hidden(ref, step, reply, played, told)
    if expect.max_tokens is not None and reply.rendered is not None:
        _check_budget(expect.max_tokens, reply, played.world, told)


def play_without_foreign_rows(case: Case, surface: Surface, arrangement: Arrangement) -> None:
    """Whatever the caller may not read must leave no mark on what the caller is answered."""
    caller = case.steps[0].actor
    whole = prepare(case, surface, arrangement)
    own = tuple(row for row in case.rows if whole.world.may_read(caller, row.space))
    world = surface.world(case.spaces, case.actors, arrangement)
    partial = Played(case, world, _stored(own, world))
    known = set(partial.ids)
    for number, step in enumerate(case.steps):
        if step.actor != caller or not set(refs_in(step.arguments)) <= known:
            continue
        with_foreign, without = take(step, whole), take(step, partial)
        known |= {step.creates} if step.creates else set()
        seen, unseen = _nameless(with_foreign, whole.ids), _nameless(without, partial.ids)
        assert seen == unseen, f"{case.id} step {number}: a foreign row changes the answer"


def _stored(rows: Sequence[Row], world: World) -> Ids:
    ids: Ids = {}
    for row, record_id in zip(rows, world.write(rows), strict=True):
        ids.setdefault(row.ref, []).append(record_id)
    return ids


def _check_hidden(ref: str, step: Step, reply: Reply, played: Played, told: str) -> None:
    """No row of `ref` is a hit, and no text of it stands anywhere in the reply.

    A rejected row that the caller may read can be named by an explanation; one that it may not
    read is not even named.
    """
    for record_id in played.ids.get(ref, ()):
        assert record_id not in reply.ids, f"shown: {ref}; {told}"
    rows = [row for row in played.case.rows if row.ref == ref]
    if any(not played.world.may_read(step.actor, row.space) for row in rows):
        named = [record_id for record_id in played.ids[ref] if record_id in reply.text]
        assert not named, f"a foreign row is named: {ref}; {told}"
    asked = str(resolved(step.arguments.get("query", ""), played.ids))
    allowed = [shown.content for shown in reply.hits]
    for content in {row.content for row in rows}:
        if content in asked or any(content in text for text in allowed):
            continue
        assert content not in reply.text and repr(content)[1:-1] not in reply.text, f"text of {ref} leaks; {told}"


def _check_budget(max_tokens: int, reply: Reply, world: World, told: str) -> None:
    counted = world.count_tokens(reply.rendered or "")
    assert counted <= max_tokens, f"{counted} tokens; {told}"
    assert counted == reply.reported_tokens, f"reported {reply.reported_tokens}, counted {counted}; {told}"


def _nameless(reply: Reply, ids: Ids) -> tuple[str, str]:
    """A reply as text, with refs in the place of ids, so that two worlds can be compared."""
    text = repr(reply.facts)
    for ref, record_ids in ids.items():
        for number, record_id in enumerate(record_ids):
            text = text.replace(record_id, f"{ref}[{number}]")
    return reply.status, text


def _summary(reply: Reply, ids: Ids) -> str:
    refs = {record_id: ref for ref, record_ids in ids.items() for record_id in record_ids}
    hits = [
        refs.get(shown.id, shown.id) + ("" if shown.confidence is None else f" {shown.confidence:.3f}")
        for shown in reply.hits[:12]
    ]
    facts = {key: value for key, value in reply.facts.items() if key not in {"hits", "trace", "items"}}
    return f"hits {hits}, {facts}"
