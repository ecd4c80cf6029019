"""A child process that dies between the commit of a write and its step in the index.

python -m tests.field_cases.dying_writer FOLDER remember TEXT
python -m tests.field_cases.dying_writer FOLDER forget MEMORY_ID
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from engine.domain.memory import ForgetMode, NewMemory
from engine.engine import Engine
from engine.index.qdrant_edge import EdgeIndex
from engine.settings import Settings


def die(*_: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process does not get here")


def main(folder: str, verb: str, argument: str) -> None:
    with Engine.open(Settings(data_dir=Path(folder))) as engine:
        owner = engine.local_owner()
        for step in ("upsert", "replace_records", "delete_records"):
            setattr(EdgeIndex, step, die)
        if verb == "remember":
            engine.remember(owner, NewMemory(content=argument, path="crash/test"))
        else:
            engine.forget(owner, argument, ForgetMode.HARD)


if __name__ == "__main__":
    main(*sys.argv[1:])
