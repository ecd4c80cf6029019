"""Tools around memories: timeline, to-dos, decisions, projects, restart snapshots."""

from __future__ import annotations

from dataclasses import replace

from mcp_profiles.catalog import parameters as p
from mcp_profiles.parameter import Kind, Parameter
from mcp_profiles.tool import Effect, Tool

_TODO_ID = p.text("todo_id", "Id of the to-do.", required=True)
_ITEM_STATUS = p.choice("item_status", "open, completed, or % for both.", ("open", "completed", "%"), "open")
_PATH = p.text("path", "Logical place to store it at.")
_BOUND = 100

RECORD_EVENT = Tool(
    name="record_event",
    title="Record an event",
    description="Appends one event to the timeline: a milestone, a hand-over, an incident.",
    effect=Effect.WRITES,
    parameters=(
        replace(p.CONTENT, description="What happened."),
        p.text("event_type", "Kind of event.", default="event"),
        p.bucket("work"),
        p.SCOPE,
        p.SESSION_ID,
        p.moment("occurred_at", "RFC 3339 time; unset: now."),
        p.IMPORTANCE,
        p.CONFIDENCE,
    ),
)

GET_TIMELINE = Tool(
    name="get_timeline",
    title="Timeline",
    description="Events of the timeline, newest first.",
    effect=Effect.READS,
    parameters=(
        p.count("limit", "Most events.", 20),
        p.BUCKET_FILTER,
        p.SCOPE_FILTER,
        p.SESSION_ID,
        p.text("event_type", "Only this kind."),
        p.SINCE,
        p.UNTIL,
    ),
)

CREATE_MEMORY_TODO = Tool(
    name="create_memory_todo",
    title="Create a to-do",
    description="Stores something to be done later.",
    effect=Effect.WRITES,
    parameters=(replace(p.CONTENT, description="What is to be done."), p.DUE_AT),
)

LIST_MEMORY_TODOS = Tool(
    name="list_memory_todos",
    title="List to-dos",
    description="To-dos, the open ones by default.",
    effect=Effect.READS,
    parameters=(
        p.count("limit", "Most to-dos.", 20),
        p.BUCKET_FILTER,
        p.SCOPE_FILTER,
        _ITEM_STATUS,
        p.moment("due_before", "Only those due before this RFC 3339 time."),
    ),
)

COMPLETE_MEMORY_TODO = Tool(
    name="complete_memory_todo",
    title="Complete a to-do",
    description="Marks a to-do as done.",
    effect=Effect.WRITES,
    parameters=(_TODO_ID,),
)

TODO = Tool(
    name="todo",
    title="To-dos",
    description="Creates, updates, completes or lists to-dos.",
    effect=Effect.WRITES,
    parameters=(
        replace(p.choice("action", "What to do.", ("create", "update", "complete", "list")), required=True),
        p.text("content", "What is to be done (create, update)."),
        p.DUE_AT,
        p.text("todo_id", "Id of the to-do (update, complete)."),
        p.text("note", "Remark on its completion."),
        replace(_ITEM_STATUS, default=None, description="Filter for list (open by default), new status for update."),
        p.count("limit", "Most to-dos to list.", 20),
    ),
)

CREATE_PENDING_DECISION = Tool(
    name="create_pending_decision",
    title="Note a pending decision",
    description="Stores a question that somebody has to decide.",
    effect=Effect.WRITES,
    parameters=(
        p.text("context", "What is to be decided.", required=True),
        Parameter(name="options", kind=Kind.TEXTS, description="What can be chosen.", max_items=20),
        p.DUE_AT,
        p.SCOPE,
        _PATH,
        p.bucket("work"),
    ),
)

RESOLVE_DECISION = Tool(
    name="resolve_decision",
    title="Resolve a decision",
    description="Stores how a pending decision was made.",
    effect=Effect.WRITES,
    parameters=(
        p.text("decision_id", "Id of the decision.", required=True),
        p.text("resolution", "What was decided.", required=True),
    ),
)

PROJECT = Tool(
    name="project",
    title="Projects",
    description="Creates a project: a named scope whose memories get_project_context gathers.",
    effect=Effect.WRITES,
    parameters=(
        p.choice("entity", "What it is about.", ("project",), "project"),
        p.choice("action", "What to do.", ("create",), "create"),
        p.text("query", "Name or description of the project."),
        p.text("project_id", "Id of letters, digits, - and _."),
    ),
)

GET_PROJECT_CONTEXT = Tool(
    name="get_project_context",
    title="Project context",
    description="Latest and lasting memories of a project.",
    effect=Effect.READS,
    parameters=(
        p.text("query", "What matters now."),
        p.text("project_id", "Id of the project.", default="default"),
    ),
)

CREATE_RESTART_SNAPSHOT = Tool(
    name="create_restart_snapshot",
    title="Create a restart snapshot",
    description="Keeps working state, timeline, open to-dos and decisions, so that work can go on later.",
    effect=Effect.WRITES,
    parameters=(
        p.SCOPE,
        p.bucket("work"),
        p.STATE_KEY,
        p.SESSION_ID,
        p.TTL_SECONDS,
        p.METADATA_JSON,
        p.count("decision_limit", "Most decisions.", 20, minimum=0, maximum=_BOUND),
        p.count("reminder_limit", "Most to-dos.", 20, minimum=0, maximum=_BOUND),
        p.count("timeline_limit", "Most events.", 20, minimum=0, maximum=_BOUND),
    ),
)

RESTORE_RESTART_SNAPSHOT = Tool(
    name="restore_restart_snapshot",
    title="Restore a restart snapshot",
    description="Gives back what a snapshot holds and makes its state the active one.",
    effect=Effect.WRITES,
    parameters=(
        p.SCOPE,
        p.bucket("work"),
        p.text("state_key", "Name of the slot."),
        p.text("snapshot_id", "Id of the snapshot; unset: the latest."),
        p.TTL_SECONDS,
        p.flag("restore_state", "Make its state the active one.", default=True),
        p.text("source_session_id", "Session that made it."),
        p.text("target_session_id", "Session that goes on."),
        p.flag("record_restore_event", "Note the restore on the timeline.", default=True),
    ),
)

TOOLS = (
    RECORD_EVENT,
    GET_TIMELINE,
    CREATE_MEMORY_TODO,
    LIST_MEMORY_TODOS,
    COMPLETE_MEMORY_TODO,
    TODO,
    CREATE_PENDING_DECISION,
    RESOLVE_DECISION,
    PROJECT,
    GET_PROJECT_CONTEXT,
    CREATE_RESTART_SNAPSHOT,
    RESTORE_RESTART_SNAPSHOT,
)
