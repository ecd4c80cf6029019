"""Things as they go over the Crosmos wire: the union of what any generation of clients reads.

Times that clients take for granted are never null: a memory that was never used was last used when
it was made.
"""

from __future__ import annotations

from typing import Any

from api.xmemo.items import moment
from engine.domain.access import Space
from engine.domain.memory import Memory
from engine.domain.outcome import Hit
from engine.domain.source import Entity, Job, JobReport, JobStatus, Source, SourceStatus
from engine.engine import Engine

PREVIEW_CHARACTERS = 200


def space_item(space: Space) -> dict[str, Any]:
    return {
        "id": space.id,
        "org_id": space.tenant_id,
        "name": space.name,
        "description": space.description,
        "meta": dict(space.metadata),
        "created_at": moment(space.created_at),
        "updated_at": moment(space.updated_at),
    }


def memory_item(engine: Engine, memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "memory_id": memory.id,
        "space_id": memory.space_id,
        "content": memory.content,
        "memory_type": engine.ingest.nature(memory).value,
        "access_frequency": memory.access_count,
        "created_at": moment(memory.created_at),
        "updated_at": moment(memory.updated_at),
        "last_accessed_at": moment(memory.last_accessed_at or memory.created_at),
        "importance_score": memory.importance,
        "event_time": moment(memory.event_time),
        "forgotten_at": None,
        "source_id": memory.source_id,
        "meta": dict(memory.metadata),
    }


def candidate_item(engine: Engine, hit: Hit, score: float, owner_name: str | None) -> dict[str, Any]:
    memory = hit.memory
    return {
        "memory_id": memory.id,
        "content": memory.content,
        "memory_type": engine.ingest.nature(memory).value,
        "score": score,
        "confidence": hit.confidence,
        "label": hit.label.value,
        "created_at": moment(memory.created_at),
        "recorded_at": moment(memory.created_at),
        "event_time": moment(memory.event_time),
        "owner_name": owner_name,
        "source_id": memory.source_id,
    }


def source_item(source: Source, *, whole: bool) -> dict[str, Any]:
    text = {"content": source.content} if whole else {"content_preview": source.content[:PREVIEW_CHARACTERS]}
    return {
        "id": source.id,
        "space_id": source.space_id,
        **text,
        "content_type": source.content_type.value,
        "extraction_status": source.status.value,
        "error_message": source.error,
        "token_count": source.token_count,
        "memory_count": source.memory_count,
        "sequence": source.number,
        "role": source.role,
        "visibility": source.visibility,
        "meta": dict(source.meta),
        "created_at": moment(source.created_at),
        "updated_at": moment(source.updated_at),
    }


def job_item(report: JobReport) -> dict[str, Any]:
    job = report.job
    return {
        "job_id": job.id,
        "status": job.status.value,
        "current_stage": job.stage,
        "source_ids": [source.number for source in report.sources],
        "created_at": moment(job.created_at),
        "started_at": moment(job.started_at),
        "completed_at": moment(job.completed_at),
        "error_message": job.error,
        "result": _result(job, report),
    }


def _result(job: Job, report: JobReport) -> dict[str, Any] | None:
    if job.status is JobStatus.PENDING and not job.memory_count:
        return None
    failed = [source for source in report.sources if source.status is SourceStatus.FAILED]
    return {
        "memory_count": job.memory_count,
        "entity_count": job.entity_count,
        "edge_count": job.edge_count,
        "tokens_used": job.tokens_used,
        "source_ids": [s.number for s in report.sources if s.status is SourceStatus.COMPLETED],
        "failed_source_ids": [source.number for source in failed],
        "error_message": job.error,
        "source_errors": {str(source.number): source.error or "failed" for source in failed} or None,
    }


def entity_item(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "space_id": entity.space_id,
        "name": entity.name,
        "entity_type": entity.entity_type,
        "edge_count": entity.edge_count,
        "created_at": moment(entity.created_at),
        "updated_at": moment(entity.updated_at),
    }
