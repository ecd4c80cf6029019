"""Handlers of the tools around memories: timeline, to-dos, decisions, projects, restart, overview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.companion import decisions, overview, projects, reminders, restart, timeline
from engine.domain.access import Principal, Scope
from engine.domain.memory import Memory, MemoryPatch, NewMemory
from engine.domain.query import MATCH_ALL, Filters, TimeAxis, TimeWindow
from engine.errors import Forbidden, InvalidRequest
from mcp_profiles import render
from mcp_profiles.call import Answer, Call
from mcp_profiles.handlers.asking import as_json

_RESTORERS = frozenset({Scope.RESTORE, Scope.WRITE, Scope.ADMIN})
_DEFAULT_GROUPS = ("type", "status", "path")
_PROJECT_KEY = "project"
_NO_ACTIVITY_HERE = {"ledger": "There is no ledger here."}


def record_event(call: Call, given: Mapping[str, Any]) -> Answer:
    """Append to the timeline."""
    event = timeline.Event(
        content=given["content"],
        event_type=given["event_type"],
        session_id=given["session_id"],
        occurred_at=given["occurred_at"],
        importance=_or(given["importance"], timeline.DEFAULT_IMPORTANCE),
        confidence=_or(given["confidence"], timeline.DEFAULT_CONFIDENCE),
        bucket=given["bucket"],
        scope=given["scope"],
    )
    memory = timeline.record(call.engine, call.principal, event, idempotency_key=call.idempotency_key)
    return Answer(f"Recorded event {memory.id} ({event.event_type}).", {"id": memory.id})


def get_timeline(call: Call, given: Mapping[str, Any]) -> Answer:
    """Events, newest first."""
    found = timeline.events(
        call.engine,
        call.principal,
        filters=Filters(
            bucket=given["bucket"],
            scope=given["scope"],
            window=TimeWindow(given["since"], given["until"], TimeAxis.EVENT),
        ),
        session_id=given["session_id"],
        event_type=given["event_type"],
        limit=given["limit"],
    )
    return _listed(found, _event_lines, "No events.")


def create_memory_todo(call: Call, given: Mapping[str, Any]) -> Answer:
    """An open to-do."""
    reminder = reminders.Reminder(content=given["content"], due_at=given["due_at"])
    memory = reminders.create(call.engine, call.principal, reminder, idempotency_key=call.idempotency_key)
    return Answer(f"Created to-do {memory.id}.", {"id": memory.id})


def list_memory_todos(call: Call, given: Mapping[str, Any]) -> Answer:
    """To-dos under filters."""
    status = given["item_status"]
    found = reminders.reminders(
        call.engine,
        call.principal,
        filters=Filters(
            bucket=given["bucket"], scope=given["scope"], item_status=None if status == MATCH_ALL else status
        ),
        due_before=given["due_before"],
        limit=given["limit"],
    )
    return _listed(found, _item_lines, "No to-dos.")


def complete_memory_todo(call: Call, given: Mapping[str, Any]) -> Answer:
    """Done; a second time changes nothing."""
    memory = reminders.complete(call.engine, call.principal, given["todo_id"], given.get("note"))
    return Answer(f"Completed to-do {memory.id}.", {"id": memory.id})


def todo(call: Call, given: Mapping[str, Any]) -> Answer:
    """Four verbs in one tool, for profiles that list few tools."""
    match given["action"]:
        case "create":
            return create_memory_todo(call, {**given, "content": _needed(given, "content")})
        case "complete":
            return complete_memory_todo(call, {**given, "todo_id": _needed(given, "todo_id")})
        case "list":
            everywhere = {"bucket": MATCH_ALL, "scope": None, "due_before": None}
            return list_memory_todos(
                call, {**given, **everywhere, "item_status": given["item_status"] or reminders.OPEN}
            )
        case _:
            status = given["item_status"]
            if status == MATCH_ALL:
                raise InvalidRequest("item_status must be open or completed", field="item_status")
            patch = MemoryPatch(content=given["content"], due_at=given["due_at"], item_status=status)
            memory = reminders.update(call.engine, call.principal, _needed(given, "todo_id"), patch)
            return Answer(f"Updated to-do {memory.id}.", {"id": memory.id})


def create_pending_decision(call: Call, given: Mapping[str, Any]) -> Answer:
    """A question that waits."""
    decision = decisions.Decision(
        context=given["context"],
        options=given["options"] or (),
        due_at=given["due_at"],
        bucket=given["bucket"],
        scope=given["scope"],
        path=given["path"],
    )
    memory = decisions.create(call.engine, call.principal, decision, idempotency_key=call.idempotency_key)
    return Answer(f"Noted pending decision {memory.id}.", {"id": memory.id})


def resolve_decision(call: Call, given: Mapping[str, Any]) -> Answer:
    """How it was decided."""
    memory = decisions.resolve(call.engine, call.principal, given["decision_id"], given["resolution"])
    return Answer(f"Resolved decision {memory.id}.", {"id": memory.id})


def project(call: Call, given: Mapping[str, Any]) -> Answer:
    """Make a project known: one record in its scope says what it is."""
    project_id, about = given["project_id"] or "default", given["query"]
    scope = projects.scope_of(project_id)
    new = NewMemory(
        content=about or f"Project {project_id}",
        path=f"projects/{project_id}",
        scope=scope,
        semantic_key=_PROJECT_KEY,
        source="project",
    )
    memory = call.engine.remember(call.principal, new, idempotency_key=call.idempotency_key).memory
    text = f"Project {project_id} is ready as {memory.id}: its memories lie in scope {scope}."
    return Answer(text, {"id": memory.id, "project_id": project_id, "scope": scope})


def get_project_context(call: Call, given: Mapping[str, Any]) -> Answer:
    """Latest and lasting memories of a project in one list."""
    found = projects.context(call.engine, call.principal, given["project_id"], durable_query=given["query"])
    items = (*(found.durable.items if found.durable else ()), *found.lately)
    names = call.space_names()
    blocks = [
        render.block(number, item.hit.memory, render.place_lines(item.hit.memory, names), item.text)
        for number, item in enumerate(items, start=1)
    ]
    text = render.SEPARATOR.join(blocks) or f"Nothing is stored for project {found.project_id} (scope {found.scope})."
    return Answer(text, {"scope": found.scope, "hits": [{"id": item.hit.memory.id} for item in items]})


def create_restart_snapshot(call: Call, given: Mapping[str, Any]) -> Answer:
    """Note where things stand."""
    wanted = restart.SnapshotRequest(
        place=restart.Place(bucket=given["bucket"], scope=given["scope"]),
        state_key=given["state_key"],
        session_id=given["session_id"],
        timeline_limit=given["timeline_limit"],
        reminder_limit=given["reminder_limit"],
        decision_limit=given["decision_limit"],
        ttl_seconds=given["ttl_seconds"],
        metadata=given["metadata_json"] or {},
    )
    taken = restart.snapshot(call.engine, call.principal, wanted, idempotency_key=call.idempotency_key)
    counts = f"{len(taken.timeline)} events, {len(taken.reminders)} to-dos, {len(taken.decisions)} decisions"
    state = "the active state" if taken.state else "no state"
    return Answer(f"Created restart snapshot {taken.memory.id}: {state}, {counts}.", {"id": taken.memory.id})


def restore_restart_snapshot(call: Call, given: Mapping[str, Any]) -> Answer:
    """Go on from a snapshot; without one, say so."""
    place = restart.Place(bucket=given["bucket"], scope=given["scope"])
    found = restart.find(
        call.engine,
        call.principal,
        place,
        snapshot_id=given["snapshot_id"],
        state_key=given["state_key"],
        session_id=given["source_session_id"],
    )
    if found is None:
        return Answer("There is no restart snapshot to restore.", {"restored": False})
    writes = given["restore_state"] or given["record_restore_event"]
    restored = restart.restore(
        call.engine,
        _restorer(call.principal) if writes else call.principal,
        found,
        place,
        restore_state=given["restore_state"],
        record_event=given["record_restore_event"],
        ttl_seconds=given["ttl_seconds"],
        target_session_id=given["target_session_id"],
    )
    return Answer(_snapshot_text(restored.snapshot), {"restored": True, "id": found.memory.id})


def memory_stats(call: Call, given: Mapping[str, Any]) -> Answer:
    """Counts, by group."""
    document = _statistics(call, given)
    return Answer(as_json(document) if given["output_json"] else _statistics_text(document), document)


def memory_activity(call: Call, given: Mapping[str, Any]) -> Answer:
    """What was done lately."""
    document = _activity(call, given)
    return Answer(as_json(document) if given["output_json"] else _activity_text(document), document)


def memory_overview(call: Call, given: Mapping[str, Any]) -> Answer:
    """Counts and activity, or one of the two."""
    section = given["section"]
    document: dict[str, Any] = {}
    texts = []
    if section != "activity":
        document |= _statistics(call, given)
        texts.append(_statistics_text(document))
    if section != "stats":
        latest = _activity(call, given)
        document |= latest
        texts.append(_activity_text(latest))
    return Answer(as_json(document) if given["output_json"] else render.SEPARATOR.join(texts), document)


def _statistics(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    named = given["group_by"]
    groups = tuple(each.strip() for each in named.split(",") if each.strip()) if named else _DEFAULT_GROUPS
    found = overview.statistics(
        call.engine,
        call.principal,
        filters=Filters(
            path_filter=given["path_filter"],
            memory_type=given["memory_type"],
            scope=given["scope"],
            window=TimeWindow(given["since"], given["until"]),
        ),
        groups=groups,
        top_n=given["top_n"],
    )
    totals = {
        "records": found.totals.records,
        "content_bytes": found.totals.content_bytes,
        "oldest": render.moment(found.totals.oldest),
        "newest": render.moment(found.totals.newest),
    }
    return {"totals": totals, "groups": {name: dict(counts) for name, counts in found.groups.items()}}


def _statistics_text(document: Mapping[str, Any]) -> str:
    totals = document["totals"]
    lines = [f"records: {totals['records']} ({totals['content_bytes']} bytes)"]
    if totals["newest"]:
        lines.append(f"from {totals['oldest']} to {totals['newest']}")
    for name, counts in document["groups"].items():
        shown = ", ".join(f"{render.one_line(value) or '(none)'} {number}" for value, number in counts.items())
        lines.append(f"by {name}: {shown or '(none)'}")
    return "\n".join(lines)


def _activity(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    wanted = given["activity_type"]
    if wanted in _NO_ACTIVITY_HERE:
        return {"activity": [], "total": 0}
    found = overview.activity(
        call.engine,
        call.principal,
        wanted=overview.ActivityType(wanted),
        since=given["since"],
        until=given["until"],
        include_timeline=given["include_timeline"],
        limit=given["limit"],
    )
    deeds = [
        {
            "at": render.moment(deed.at),
            "type": overview.kind_of_deed(deed),
            "action": deed.action,
            "memory_id": deed.target,
            "kind": deed.kind,
            "path": deed.path,
            "content": deed.content,
        }
        for deed in found.deeds
    ]
    return {"activity": deeds, "total": found.total}


def _activity_text(document: Mapping[str, Any]) -> str:
    lines = [
        " ".join(
            str(part)
            for part in (deed["at"], deed["action"], deed["memory_id"], deed["path"] and render.one_line(deed["path"]))
            if part
        )
        for deed in document["activity"]
    ]
    return "\n".join(lines) or "No activity."


def _snapshot_text(found: restart.Snapshot) -> str:
    blocks = []
    if found.state is not None:
        blocks.append(
            render.block(1, found.state.memory, [f"state: {found.state.memory.state_key}"], found.state.content)
        )
    for memories, lines in (
        (found.timeline, _event_lines),
        (found.reminders, _item_lines),
        (found.decisions, _item_lines),
    ):
        blocks += [
            render.block(len(blocks) + 1 + number, each, lines(each), each.content)
            for number, each in enumerate(memories)
        ]
    return render.SEPARATOR.join(blocks) or f"Restart snapshot {found.memory.id} holds nothing that still exists."


def _listed(found: Sequence[Memory], lines: Callable[[Memory], list[str]], none: str) -> Answer:
    blocks = [render.block(number, each, lines(each), each.content) for number, each in enumerate(found, start=1)]
    return Answer(render.SEPARATOR.join(blocks) or none, {"items": [{"id": each.id} for each in found]})


def _event_lines(memory: Memory) -> list[str]:
    event_type = render.one_line(str(memory.metadata.get("event_type", timeline.DEFAULT_TYPE)))
    return [f"event: {event_type}", f"at: {render.moment(memory.event_time)}"]


def _item_lines(memory: Memory) -> list[str]:
    lines = [f"status: {memory.item_status}"]
    return [*lines, f"due: {render.moment(memory.due_at)}"] if memory.due_at else lines


def _restorer(principal: Principal) -> Principal:
    """The right to restore includes the two writes of a restore; the spaces stay those of the token."""
    if principal.scopes.isdisjoint(_RESTORERS):
        raise Forbidden("this token lacks the scope memory:restore or memory:write")
    return replace(principal, scopes=principal.scopes | {Scope.WRITE})


def _needed(given: Mapping[str, Any], name: str) -> str:
    value = given[name]
    if not value:
        raise InvalidRequest(f"{name} is needed for the action {given['action']}", field=name)
    return str(value)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
