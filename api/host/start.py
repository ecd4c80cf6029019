"""Finding the host of a data folder, and starting one when none lives.

A host is started detached: it belongs to no terminal, logs to `host.log` in the folder and ends by
itself when nobody has asked anything for a while. Of several clients that find none at the
same moment one starts it, the others wait; the folder's lock would let only one live anyway.

A host is started only while nobody holds the folder. Whoever holds it may be a host that comes up or
ends, so it gets a little time; one that goes on holding it without a socket is no host, and the
caller is told so.

This module is imported by every stdio server and command before anything else happens, so it
imports nothing heavy.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import FolderBusy, Unavailable
from engine.upkeep.folder import Folder

HOST_FILE = "host.json"
LOG_FILE = "host.log"
TURN_FILE = "host.starting"
IDLE_EXIT_SECONDS = 600
START_PATIENCE_SECONDS = 60.0
HOLDER_PATIENCE_SECONDS = 10.0
"""How long somebody may hold the folder without a socket before it counts as no host."""
_PAUSE_SECONDS = 0.05
_LOG_LIMIT_BYTES = 10 * 1024 * 1024


def living_socket(data_dir: Path) -> Path | None:
    """The socket of a host that accepts connections now, or `None`."""
    try:
        path = json.loads((data_dir / HOST_FILE).read_text(encoding="utf-8"))["socket"]
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None
    if path is None:
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except OSError:
            return None
    return Path(path)


def ensure_host(data_dir: Path, *, idle_exit_seconds: int = IDLE_EXIT_SECONDS) -> Path:
    """The socket of the folder's host; starts one if none lives.

    Raises:
        FolderBusy: a process that is no host has the folder open.
        Unavailable: none came up; with the end of what it logged.
    """
    if found := living_socket(data_dir):
        return found
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    deadline = time.monotonic() + START_PATIENCE_SECONDS
    turn = FileLock(data_dir / TURN_FILE, mode=0o600)
    while time.monotonic() < deadline:
        try:
            # One client starts, the others wait: many starting hosts would only slow the one that lives.
            with turn.acquire(timeout=0):
                return _started(data_dir, idle_exit_seconds, deadline)
        except Timeout:
            time.sleep(_PAUSE_SECONDS)
        if found := living_socket(data_dir):
            return found
    raise Unavailable(f"no host came up for {data_dir} within {START_PATIENCE_SECONDS:g} seconds")


@dataclass(frozen=True, slots=True)
class _Start:
    """A host that was started, and where in the log its own words begin."""

    process: subprocess.Popen[bytes]
    log: Path
    log_start: int

    def words(self) -> str:
        """What it logged, in one line, the last of it."""
        with self.log.open("rb") as file:
            file.seek(self.log_start)
            text = file.read().decode("utf-8", "replace")
        return " ".join(text[-2000:].split())[-500:] or "(nothing)"

    def met_a_holder(self) -> bool:
        """Whether it failed because another process holds the folder."""
        return "has the data folder" in self.words()


def _started(data_dir: Path, idle_exit_seconds: int, deadline: float) -> Path:
    while True:
        if found := _host_unless_free(data_dir):
            return found
        start = _start(data_dir, idle_exit_seconds)
        while start.process.poll() is None and time.monotonic() < deadline:
            if found := living_socket(data_dir):
                return found
            time.sleep(_PAUSE_SECONDS)
        # Somebody may have taken the folder between our look at it and the start: then look again.
        if time.monotonic() >= deadline or not start.met_a_holder():
            raise Unavailable(f"no host came up for {data_dir}; the end of {LOG_FILE} says: {start.words()}")


def _host_unless_free(data_dir: Path) -> Path | None:
    """The socket of a host, or `None` once nobody holds the folder. Raises `FolderBusy`."""
    patience = time.monotonic() + HOLDER_PATIENCE_SECONDS
    while True:
        if found := living_socket(data_dir):
            return found
        if not Folder.is_held(data_dir):
            return None
        if time.monotonic() >= patience:
            raise FolderBusy(
                f"another process has the data folder {data_dir} open and is no host: a program with an engine of its "
                "own, or a run with --in-process; wait for it, end it, or choose another folder with --data-dir"
            )
        time.sleep(_PAUSE_SECONDS)


def _start(data_dir: Path, idle_exit_seconds: int) -> _Start:
    log = data_dir / LOG_FILE
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.old"))
    descriptor = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        log_start = os.fstat(descriptor).st_size
        process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            _command(data_dir, idle_exit_seconds),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
            cwd=data_dir,
        )
    finally:
        os.close(descriptor)
    # The host outlives us or not; if not, somebody has to take note of its end.
    threading.Thread(target=process.wait, name="memvouch-host-reaper", daemon=True).start()
    return _Start(process, log, log_start)


def _command(data_dir: Path, idle_exit_seconds: int) -> Sequence[str]:
    folder = str(data_dir.resolve())
    return (
        sys.executable, "-m", "cli.main", "serve", "--data-dir", folder,
        "--port", "0", "--idle-exit", str(idle_exit_seconds),
    )  # fmt: skip
