"""The public names of the library are pinned: a change of these lists is a decision, not an accident."""

from __future__ import annotations

import subprocess
import sys

import pytest

import engine
from engine.engine import Engine

NAMES = {
    *("Engine", "Settings", "MemvouchError"),
    *("Principal", "Space", "ReadableSpace"),
    *("NewMemory", "Memory", "MemoryPatch", "MemoryVersion", "MemoryType", "StateUpdate", "Status"),
    *("ForgetMode", "Written", "WriteStatus"),
    *("Query", "Filters", "TimeWindow", "Mode", "ContextQuery", "ListQuery"),
    *("Outcome", "Matches", "NoMatch", "NoMatchReason", "Hit", "Label", "ContextPack", "Page"),
}
VERBS = {
    *("open", "close", "local_owner", "authenticate"),
    *("create_space", "spaces", "space", "delete_space"),
    *("remember", "remember_many", "update", "forget", "restore", "update_state"),
    *("search", "recall_context", "get", "versions", "list_memories", "explain"),
    *("stats", "doctor", "reindex", "sweep_expired"),
}


def test_the_library_exports_exactly_these_names() -> None:
    assert set(engine.__all__) == NAMES
    assert sorted(engine.__all__) == engine.__all__


@pytest.mark.parametrize("name", sorted(NAMES))
def test_an_exported_name_leads_to_what_it_names(name: str) -> None:
    found = getattr(engine, name)
    assert name == "Outcome" or found.__name__ == name


def test_an_engine_has_at_least_these_verbs() -> None:
    assert {name for name in vars(Engine) if not name.startswith("_")} >= VERBS


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="NoSuchName"):
        _ = engine.NoSuchName


def test_importing_the_library_loads_none_of_its_heavy_parts() -> None:
    heavy = "{'onnxruntime', 'tokenizers', 'sqlalchemy', 'qdrant_edge', 'qdrant_client', 'numpy'}"
    script = f"import sys, engine; print(*({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
