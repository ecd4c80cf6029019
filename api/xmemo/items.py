"""Records as they go over the XMemo wire: one flat shape, with every key that a client may read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engine.domain.memory import Memory, MemoryVersion, Written
from engine.domain.outcome import Considered, Degraded, Hit, NoMatch, Outcome, Signals

LEAST_SCORE = 1e-6
"""A hit's score is never 0: clients take 0 for a missing score."""


def moment(value: datetime | None) -> str | None:
    """A time as RFC 3339 in UTC."""
    return value.isoformat().replace("+00:00", "Z") if value else None


def memory_item(memory: Memory) -> dict[str, Any]:
    """A record by itself. `confidence` is the writer's own belief."""
    return {
        "id": memory.id,
        "memory_id": memory.id,
        "logical_memory_id": memory.id,
        "content": memory.content,
        "snippet": memory.content,
        "path": memory.path,
        "memory_path": memory.path,
        "canonical_path": memory.path,
        "bucket": memory.bucket,
        "scope": memory.scope,
        "team_id": memory.team_id,
        "space_id": memory.space_id,
        "memory_type": memory.memory_type.value,
        "kind": memory.kind.value,
        "status": memory.status.value,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "semantic_key": memory.semantic_key,
        "state_key": memory.state_key,
        "item_status": memory.item_status,
        "source": memory.source,
        "source_id": memory.source_id,
        "agent_id": memory.agent_id,
        "provenance": provenance_of(memory),
        "metadata": dict(memory.metadata),
        "event_time": moment(memory.event_time),
        "due_at": moment(memory.due_at),
        "created_at": moment(memory.created_at),
        "updated_at": moment(memory.updated_at),
        "expires_at": moment(memory.expires_at),
        "version": memory.version,
    }


def provenance_of(memory: Memory) -> dict[str, Any]:
    """Who wrote a record and from what."""
    found: dict[str, Any] = dict(memory.provenance)
    for name, value in (
        ("agent_id", memory.agent_id),
        ("agent_instance_hash", memory.agent_instance_hash),
        ("source", memory.source),
    ):
        if value is not None:
            found[name] = value
    return found


def hit_item(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """A record that answers: `score`, `similarity` and `confidence` are the search confidence."""
    memory = hit.memory
    score = max(hit.confidence, LEAST_SCORE)
    item = memory_item(memory) | {
        "snippet": memory.content[hit.passage.start : hit.passage.end],
        "score": score,
        "similarity": score,
        "confidence": score,
        "stated_confidence": memory.confidence,
        "label": hit.label.value,
    }
    if hit.boundary is not None:
        item["agent_boundary"] = {"relationship": hit.boundary.value, "ownership": hit.boundary.value}
        item["ownership"] = hit.boundary.value
    if explain:
        item["why"] = list(hit.reasons)
        item["explanation"] = {"reasons": list(hit.reasons), "signals": signals(hit.signals)}
    return item


def outcome_body(outcome: Outcome, *, explain: bool, scope: str | None) -> dict[str, Any]:
    """A search's answer: `results`, and why there are none."""
    hits = () if isinstance(outcome, NoMatch) else outcome.hits
    body: dict[str, Any] = {
        "results": [hit_item(hit, explain=explain) for hit in hits],
        "threshold": outcome.threshold,
        "coverage": {"considered": outcome.considered, "degraded": [degraded(each) for each in outcome.degraded]},
    }
    if scope is not None:
        body["scope"] = scope
    if outcome.notes:
        body["notes"] = list(outcome.notes)
    if isinstance(outcome, NoMatch):
        body["no_match"] = {
            "reason": outcome.reason.value,
            "threshold": outcome.threshold,
            "considered": outcome.considered,
            "best_confidence": outcome.best_confidence,
        }
        if outcome.missing_identifiers:
            body["no_match"]["missing_identifiers"] = list(outcome.missing_identifiers)
    if explain:
        body["trace"] = [considered(each) for each in outcome.trace]
    return body


def written_body(written: Written) -> dict[str, Any]:
    """The answer of a write: the record, and what happened to it as `status`."""
    return memory_item(written.memory) | {"status": written.status.value, "memory_status": written.memory.status.value}


def version_item(version: MemoryVersion) -> dict[str, Any]:
    """A former state of a record."""
    return {
        "id": version.memory_id,
        "memory_id": version.memory_id,
        "version": version.version,
        "content": version.content,
        "path": version.path,
        "memory_type": version.memory_type.value,
        "recorded_at": moment(version.recorded_at),
    }


def considered(each: Considered) -> dict[str, Any]:
    """One pooled record of a trace, without its text."""
    return {
        "memory_id": each.memory_id,
        "path": each.path,
        "confidence": each.confidence,
        "verdict": each.verdict.value,
        "reasons": list(each.reasons),
        "signals": signals(each.signals),
    }


def signals(found: Signals) -> Mapping[str, Any]:
    """Raw evidence, for people and traces."""
    return {
        "dense": found.dense,
        "lexical": found.lexical,
        "coverage": found.coverage,
        "pair": found.pair,
        "legs": sorted(leg.value for leg in found.legs),
        "matched_terms": list(found.matched_terms),
        "missing_terms": list(found.missing_terms),
        "missing_identifiers": list(found.missing_identifiers),
    }


def degraded(each: Degraded) -> dict[str, str]:
    """A leg that failed while the others answered."""
    return {"leg": each.leg.value, "reason": each.reason}
