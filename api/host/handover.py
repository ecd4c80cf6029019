"""A host that a person starts takes the folder over from one that was only started on demand.

Commands and tools leave a detached host behind for some minutes. It is asked to end as any process
is: it answers what it has begun, and its clients find the next host by themselves. Meanwhile the turn
to start a host is held, so that none of them starts another.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from api.host.start import HOST_FILE, START_PATIENCE_SECONDS, TURN_FILE, living_socket
from engine.errors import FolderBusy, Unavailable
from engine.upkeep.folder import Folder

END_PATIENCE_SECONDS = 30.0
"""A little more than a host gives the requests that are under way when it ends."""
_PAUSE_SECONDS = 0.05


@contextmanager
def folder_taken_over(data_dir: Path) -> Iterator[None]:
    """End a detached host of the folder; within the block no client starts another.

    Raises:
        FolderBusy: a host that a person started serves the folder.
        Unavailable: the detached host does not end, or one goes on starting.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    turn = FileLock(data_dir / TURN_FILE, mode=0o600)
    try:
        turn.acquire(timeout=START_PATIENCE_SECONDS)
    except Timeout as error:
        raise Unavailable(f"another host of {data_dir} goes on starting; try again") from error
    try:
        if living_socket(data_dir) is not None:
            _end(data_dir)
        yield
    finally:
        turn.release()


def _end(data_dir: Path) -> None:
    running = json.loads((data_dir / HOST_FILE).read_text(encoding="utf-8"))
    if not running.get("detached"):
        raise FolderBusy(
            f"a host serves {data_dir} at {running['url']} already (process {running['pid']}); "
            "use it, stop it, or choose another folder with --data-dir"
        )
    os.kill(running["pid"], signal.SIGTERM)
    deadline = time.monotonic() + END_PATIENCE_SECONDS
    while Folder.is_held(data_dir):
        if time.monotonic() >= deadline:
            raise Unavailable(
                f"the host of {data_dir} (process {running['pid']}) does not end; stop it, then try again"
            )
        time.sleep(_PAUSE_SECONDS)
