"""Where the tests find the shared data: `MEMVOUCH_SHARED`, by default `../shared` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def shared_folder() -> Path:
    """The folder of the shared data; it may be missing."""
    return Path(os.environ.get("MEMVOUCH_SHARED", str(ROOT.parent / "shared"))).resolve()


def field_cases_file() -> Path:
    """The file of field cases: `MEMVOUCH_FIELD_CASES`, or the one in the shared data; it may be missing."""
    named = os.environ.get("MEMVOUCH_FIELD_CASES")
    return Path(named).resolve() if named else shared_folder() / "cases" / "field-cases.jsonl"
