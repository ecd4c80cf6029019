"""Tools that store, change and forget memories and working state."""

from __future__ import annotations

from dataclasses import replace

from engine.domain.memory import ForgetMode
from mcp_profiles.catalog import parameters as p
from mcp_profiles.tool import Effect, Tool

REMEMBER = Tool(
    name="remember",
    title="Remember",
    description="Stores one fact, decision, preference or procedure.",
    effect=Effect.WRITES,
    parameters=(
        p.CONTENT,
        p.PATH,
        p.SCOPE,
        p.bucket("public"),
        p.flag("dedupe", "Merge with a nearly equal memory."),
        p.TEAM,
        p.AGENT_ID,
        p.AGENT_INSTANCE_ID,
        p.text("device_id", "Id of the device."),
        p.text("device_label", "Name of the device."),
        p.text("memory_id", "UUID to store it under."),
        p.CONFIDENCE,
        p.IMPORTANCE,
        p.EXPIRES_AT,
        p.MEMORY_TYPE,
        p.SEMANTIC_KEY,
        p.METADATA_JSON,
        p.text("embedding_json", "Accepted and not used: vectors are made here."),
        p.PROVENANCE_JSON,
    ),
)

UPDATE_MEMORY = Tool(
    name="update_memory",
    title="Update a memory",
    description="Changes one memory; what is not given stays.",
    effect=Effect.DESTROYS,
    parameters=(
        p.MEMORY_ID,
        replace(p.CONTENT, required=False, description="New text."),
        replace(p.PATH, required=False, description="New logical path."),
        replace(p.SCOPE, description="New scope."),
        p.text("bucket", "New bucket."),
        p.STATUS,
        p.text("team_id", "Team it must belong to."),
        p.CONFIDENCE,
        p.IMPORTANCE,
        p.EXPIRES_AT,
        replace(p.MEMORY_TYPE, default=None, description="New kind of knowledge."),
        p.SEMANTIC_KEY,
        p.METADATA_JSON,
        p.flag("merge_metadata", "Add to the metadata instead of replacing it."),
        p.PROVENANCE_JSON,
        p.flag("merge_provenance", "Add to the provenance instead of replacing it."),
        p.flag("detect_conflicts", "Name other memories that say much the same."),
    ),
)

FORGET = Tool(
    name="forget",
    title="Forget a memory",
    description="Removes one memory from every answer; restore_memory brings it back. Give an exact id.",
    effect=Effect.DESTROYS,
    parameters=(
        p.text("target", "Exact id, or current or latest: what you stored last.", default="current"),
        p.REASON,
    ),
)

FORGET_MEMORY = Tool(
    name="forget_memory",
    title="Forget a memory by id",
    description="Removes one memory: softly (can be restored), for good, or only its text.",
    effect=Effect.DESTROYS,
    parameters=(
        p.MEMORY_ID,
        p.choice("mode", "How to forget.", tuple(each.value for each in ForgetMode), ForgetMode.SOFT.value),
        p.REASON,
        p.METADATA_JSON,
        p.text("replacement_content", "Text that stands in the place of a redacted one."),
    ),
)

REDACT_MEMORY = Tool(
    name="redact_memory",
    title="Redact a memory",
    description="Removes the text of one memory and its former versions for good; the record stays.",
    effect=Effect.DESTROYS,
    parameters=(p.MEMORY_ID,),
)

RESTORE_MEMORY = Tool(
    name="restore_memory",
    title="Restore a memory",
    description="Brings a forgotten memory back under its id.",
    effect=Effect.DESTROYS,
    parameters=(p.MEMORY_ID, p.REASON, p.METADATA_JSON),
)

UPDATE_STATE = Tool(
    name="update_state",
    title="Update working state",
    description="Keeps what you are doing now in a slot; each call replaces it.",
    effect=Effect.WRITES,
    parameters=(
        p.STATE_KEY,
        p.text("content", "State in free words."),
        p.text("current_task", "What is being done."),
        p.text("next_action", "What comes next."),
        p.text("blocked_reason", "What is in the way."),
        p.bucket("work"),
        p.SCOPE,
        p.TTL_SECONDS,
        p.METADATA_JSON,
    ),
)

TOOLS = (
    REMEMBER,
    UPDATE_MEMORY,
    FORGET,
    FORGET_MEMORY,
    REDACT_MEMORY,
    RESTORE_MEMORY,
    UPDATE_STATE,
)
