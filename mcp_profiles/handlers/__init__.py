"""What each tool of the catalogue does: one handler for each, over the engine's verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mcp_profiles.call import Answer, Call
from mcp_profiles.handlers import asking, companion, crosmos, writing

Handler: TypeAlias = Callable[[Call, Mapping[str, Any]], Answer]

HANDLERS: Mapping[str, Handler] = {
    handler.__name__: handler
    for handler in (
        asking.search_memory,
        asking.recall,
        asking.recall_context,
        asking.recall_plan,
        asking.explain_memory,
        asking.list_memory_versions,
        asking.get_mcp_identity,
        writing.remember,
        writing.update_memory,
        writing.forget,
        writing.forget_memory,
        writing.redact_memory,
        writing.restore_memory,
        writing.update_state,
        companion.record_event,
        companion.get_timeline,
        companion.create_memory_todo,
        companion.list_memory_todos,
        companion.complete_memory_todo,
        companion.todo,
        companion.create_pending_decision,
        companion.resolve_decision,
        companion.project,
        companion.get_project_context,
        companion.create_restart_snapshot,
        companion.restore_restart_snapshot,
        companion.memory_stats,
        companion.memory_activity,
        companion.memory_overview,
        crosmos.search_memories,
        crosmos.add_memory,
        crosmos.list_spaces,
        crosmos.health_check,
    )
}
"""By the name of the tool, which is the name of the handler."""
