"""Handlers of the tools that read memories. None of them changes anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from engine.domain.access import Scope
from engine.domain.outcome import ContextPack, Matches, NoMatch, Outcome
from engine.domain.query import MAX_LIMIT, ContextQuery, Filters, Mode, Query
from engine.errors import Forbidden
from mcp_profiles import render
from mcp_profiles.call import Answer, Call

NOTHING_RECALLED = "No memory found for this query, not even a weak one. Do not guess an answer."
NOTHING_PACKED = "No relevant context found. Do not guess an answer."
PROJECT_ID = "default"
_ORDER = (Scope.READ, Scope.WRITE, Scope.RESTORE, Scope.DELETE, Scope.ADMIN)


def search_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """Strict: an answer that can be vouched for, or an explicit no-match."""
    call = call.attributed(given["agent_id"], given["agent_instance_id"])
    query = Query(
        text=given["query"],
        mode=Mode.STRICT,
        limit=given["limit"],
        spaces=call.readable(given["team_id"]),
        filters=Filters(path_filter=given["path_filter"], memory_type=given["memory_type"], scope=given["scope"]),
        prefer_working=given["prefer_working"],
        explain=given["explain"],
    )
    return answered(call, call.engine.search(call.principal, query), explained=given["explain"], labelled=False)


def recall(call: Call, given: Mapping[str, Any]) -> Answer:
    """Forgiving: the best there is, labelled."""
    call = call.attributed(given["agent_id"], given["agent_instance_id"])
    query = Query(
        text=given["query"],
        mode=Mode.FORGIVING,
        limit=given["limit"],
        filters=Filters(path_filter=given["path_filter"], memory_type=given["memory_type"]),
        prefer_working=given["prefer_working"],
        explain=given["explain"],
    )
    return answered(call, call.engine.search(call.principal, query), explained=given["explain"], labelled=True)


def answered(call: Call, outcome: Outcome, *, labelled: bool, explained: bool) -> Answer:
    """The text and values of a search's outcome."""
    names = call.space_names()
    match outcome:
        case Matches():
            values: dict[str, Any] = {"hits": [render.hit_values(hit, names) for hit in outcome.hits]}
            text = render.hits(outcome.hits, names, labelled=labelled, explained=explained)
        case NoMatch():
            values = {"hits": [], "no_match": render.no_match_values(outcome)}
            text = NOTHING_RECALLED if labelled else render.no_match(outcome, call.profile)
    if outcome.degraded:
        values["degraded"] = [each.leg.value for each in outcome.degraded]
    if outcome.notes:
        values["notes"] = list(outcome.notes)
    return Answer(text, values)


def recall_context(call: Call, given: Mapping[str, Any]) -> Answer:
    """A pack of memories within a budget."""
    call = call.attributed(given["agent_id"], given["agent_instance_id"])
    max_items = given["limit"] or given["max_items"]
    pack = call.engine.recall_context(
        call.principal,
        ContextQuery(
            query=Query(
                text=given["query"],
                mode=Mode.FORGIVING,
                limit=min(max_items, MAX_LIMIT),
                spaces=call.readable(given["team_id"]),
                filters=Filters(
                    path_filter=given["path_filter"],
                    memory_type=given["memory_type"],
                    scope=given["scope"],
                    bucket=given["bucket"],
                ),
                prefer_working=given["prefer_working"],
            ),
            max_items=max_items,
            max_tokens=given["max_tokens"],
        ),
    )
    values = _pack_values(call, pack)
    if given["output_json"]:
        return Answer(as_json(call.doors.bodies.pack(pack)), values)
    return Answer(pack.text or _nothing_packed(pack), values)


def _pack_values(call: Call, pack: ContextPack) -> dict[str, Any]:
    names = call.space_names()
    values: dict[str, Any] = {
        "hits": [
            render.hit_values(item.hit, names) | ({"truncated": True} if item.truncated else {}) for item in pack.items
        ],
        "budget": {"used_tokens": pack.tokens, "max_tokens": pack.max_tokens, "tokenizer": pack.tokenizer},
        "matched": pack.matched,
    }
    if pack.left_out:
        values["left_out"] = [{"id": each.memory_id, "why": each.why.value} for each in pack.left_out]
    if pack.degraded:
        values["degraded"] = [each.leg.value for each in pack.degraded]
    return values


def _nothing_packed(pack: ContextPack) -> str:
    if pack.matched:
        return f"{pack.matched} memories matched, but none fits into {pack.max_tokens} tokens: raise max_tokens."
    return NOTHING_PACKED


def recall_plan(call: Call, given: Mapping[str, Any]) -> Answer:
    """What a recall would find, without the texts."""
    query = Query(
        text=given["query"],
        mode=Mode.FORGIVING,
        limit=MAX_LIMIT,
        spaces=call.readable(given["team_id"]),
        filters=Filters(
            path_filter=given["path_filter"],
            memory_type=given["memory_type"],
            scope=given["scope"],
            bucket=given["bucket"],
        ),
        prefer_working=given["prefer_working"],
    )
    outcome = call.engine.search(call.principal, query)
    if given["output_json"]:
        return Answer(as_json(call.doors.bodies.outcome(outcome)))
    if isinstance(outcome, NoMatch):
        return Answer(NOTHING_RECALLED, {"no_match": render.no_match_values(outcome)})
    paths: dict[str, int] = {}
    labels: dict[str, int] = {}
    for hit in outcome.hits:
        paths[hit.memory.path] = paths.get(hit.memory.path, 0) + 1
        labels[hit.label.value] = labels.get(hit.label.value, 0) + 1
    lines = [
        f"candidates: {len(outcome.hits)} of {outcome.considered} considered",
        f"labels: {', '.join(f'{name} {number}' for name, number in labels.items())}",
        f"strict search would answer: {'yes' if outcome.hits[0].confidence >= outcome.threshold else 'no'}",
        *(f"path: {render.one_line(path)} ({number})" for path, number in paths.items()),
    ]
    return Answer("\n".join(lines), {"candidates": len(outcome.hits), "labels": labels})


def explain_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """One record, and how strict search judges it."""
    found = call.engine.explain(call.principal, given["memory_id"], given["query"])
    vector = None
    if given["include_embedding"]:
        vector = [float(each) for each in call.engine.embedder.embed_documents([found.memory.content])[0]]
    if given["output_json"] or vector is not None:
        return Answer(as_json(call.doors.bodies.explanation(found, vector)), {"id": found.memory.id})
    values: dict[str, Any] = {"id": found.memory.id, "version": found.memory.version}
    if found.considered is not None:
        values |= {"verdict": found.considered.verdict.value, "confidence": found.considered.confidence}
    return Answer(render.explanation(found, call.space_names()), values)


def list_memory_versions(call: Call, given: Mapping[str, Any]) -> Answer:
    """Former states, newest first, after the present one."""
    memory = call.engine.get(call.principal, given["memory_id"])
    former = call.engine.versions(call.principal, memory.id)
    blocks = [
        render.block(
            1, memory, [f"version: {memory.version} (now)", f"path: {render.one_line(memory.path)}"], memory.content
        )
    ]
    blocks += [
        render.block(
            number,
            memory,
            [
                f"version: {each.version}",
                f"path: {render.one_line(each.path)}",
                f"recorded: {render.moment(each.recorded_at)}",
            ],
            each.content,
        )
        for number, each in enumerate(former, start=2)
    ]
    return Answer(render.SEPARATOR.join(blocks), {"id": memory.id, "versions": len(blocks)})


def get_mcp_identity(call: Call, given: Mapping[str, Any]) -> Answer:
    """Five lines that clients read by their labels."""
    principal = call.principal
    if not principal.has(Scope.READ):
        raise Forbidden("this token lacks the scope memory:read")
    tenant = {
        "organization_id": principal.tenant_id,
        "workspace_id": principal.default_space_id or principal.tenant_id,
        "project_id": PROJECT_ID,
    }
    scopes = [scope.value for scope in _ORDER if scope in principal.scopes]
    agent = principal.agent_id or f"memvouch-{call.profile.name}"
    lines = [
        f"Memvouch memory of user {principal.user_id}, profile {call.profile.name}.",
        f"Owner ID: {principal.user_id}",
        f"Agent ID: {render.one_line(agent)}",
        f"Tenant: {as_json(tenant)}",
        f"Scopes: {', '.join(scopes)}",
    ]
    return Answer(
        "\n".join(lines), {"owner_id": principal.user_id, "agent_id": agent, "tenant": tenant, "scopes": scopes}
    )


def as_json(value: object) -> str:
    """The JSON text of a plain value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
