"""One good call of every tool of the catalogue, in an order in which each has what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PROJECTOR = "The spare projector is in cabinet C2 – ask for the key 🔑."
TRAIN = "The release train leaves on Tuesdays at 09:00."

Run = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Calls a tool of the full profile and gives its structured answer."""


def arguments(tool: str, prepare: Run) -> dict[str, Any]:
    """Arguments with which the tool must succeed; `prepare` makes what they name."""

    def remembered() -> str:
        return str(prepare("remember", {"content": f"{PROJECTOR} ({tool})", "path": "office/projector"})["id"])

    def todo() -> str:
        return str(prepare("create_memory_todo", {"content": "order new lamps"})["id"])

    match tool:
        case "search_memory" | "recall" | "recall_context" | "recall_plan" | "search_memories":
            return {"query": "Where is the spare projector?"}
        case "remember":
            return {"content": TRAIN, "path": "team/release"}
        case "update_memory":
            return {"memory_id": remembered(), "content": "The spare projector is in cabinet D9."}
        case "forget":
            return {"target": remembered()}
        case "forget_memory" | "redact_memory" | "explain_memory" | "list_memory_versions":
            return {"memory_id": remembered()}
        case "restore_memory":
            memory_id = remembered()
            prepare("forget", {"target": memory_id})
            return {"memory_id": memory_id}
        case "update_state":
            return {"current_task": "write the tests", "next_action": "run them"}
        case "record_event":
            return {"content": "The lamps arrived.", "event_type": "milestone"}
        case "create_memory_todo":
            return {"content": "order new lamps", "due_at": "2030-01-01T09:00:00+01:00"}
        case "complete_memory_todo":
            return {"todo_id": todo()}
        case "todo":
            return {"action": "update", "todo_id": todo(), "content": "order ten lamps"}
        case "create_pending_decision":
            return {"context": "Which lamp?", "options": ["LED", "halogen"]}
        case "resolve_decision":
            made = prepare("create_pending_decision", {"context": "Which screen?"})
            return {"decision_id": made["id"], "resolution": "the wide one"}
        case "project":
            return {"action": "create", "query": "A new lecture hall", "project_id": "hall"}
        case "add_memory":
            return {
                "messages": {
                    "messages": [
                        {"role": "user", "content": "I moved my backend to Bun."},
                        {"role": "assistant", "content": "Noted."},
                    ],
                    "session_id": "chat-1",
                    "session_date": "2026-05-28T10:00:00Z",
                }
            }
        case _:
            return {}
