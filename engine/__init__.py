"""Memvouch as a library. Everything that a caller needs can be imported from here.

    from engine import Engine, NewMemory, Query, Settings

Names are loaded at their first use, so that importing one room does not load the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.domain.access import Principal, ReadableSpace, Space
    from engine.domain.memory import (
        ForgetMode,
        Memory,
        MemoryPatch,
        MemoryType,
        MemoryVersion,
        NewMemory,
        StateUpdate,
        Status,
        WriteStatus,
        Written,
    )
    from engine.domain.outcome import ContextPack, Hit, Label, Matches, NoMatch, NoMatchReason, Outcome, Page
    from engine.domain.query import ContextQuery, Filters, ListQuery, Mode, Query, TimeWindow
    from engine.engine import Engine
    from engine.errors import MemvouchError
    from engine.settings import Settings

_HOMES = {
    "engine.domain.access": ("Principal", "ReadableSpace", "Space"),
    "engine.domain.memory": (
        *("ForgetMode", "Memory", "MemoryPatch", "MemoryType", "MemoryVersion", "NewMemory", "StateUpdate"),
        *("Status", "WriteStatus", "Written"),
    ),
    "engine.domain.outcome": (
        *("ContextPack", "Hit", "Label", "Matches", "NoMatch", "NoMatchReason", "Outcome", "Page"),
    ),
    "engine.domain.query": ("ContextQuery", "Filters", "ListQuery", "Mode", "Query", "TimeWindow"),
    "engine.engine": ("Engine",),
    "engine.errors": ("MemvouchError",),
    "engine.settings": ("Settings",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ContextPack",
    "ContextQuery",
    "Engine",
    "Filters",
    "ForgetMode",
    "Hit",
    "Label",
    "ListQuery",
    "Matches",
    "Memory",
    "MemoryPatch",
    "MemoryType",
    "MemoryVersion",
    "MemvouchError",
    "Mode",
    "NewMemory",
    "NoMatch",
    "NoMatchReason",
    "Outcome",
    "Page",
    "Principal",
    "Query",
    "ReadableSpace",
    "Settings",
    "Space",
    "StateUpdate",
    "Status",
    "TimeWindow",
    "WriteStatus",
    "Written",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
