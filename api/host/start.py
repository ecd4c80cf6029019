"""Finding the host of a data folder, and starting one when none lives.

A host is started detached: it belongs to no terminal, logs to `host.log` in the folder and ends by
itself when nobody has asked anything for a while. Of several clients that find none at the
same moment one starts it, the others wait; the folder's lock would let only one live anyway.

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
from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import Unavailable

HOST_FILE = "host.json"
LOG_FILE = "host.log"
TURN_FILE = "host.starting"
IDLE_EXIT_SECONDS = 600
START_PATIENCE_SECONDS = 60.0
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

    Raises `Unavailable` with the end of the host's log if none comes up.
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
                return living_socket(data_dir) or _started(data_dir, idle_exit_seconds, deadline)
        except Timeout:
            time.sleep(_PAUSE_SECONDS)
        if found := living_socket(data_dir):
            return found
    raise _none_came_up(data_dir)


def _started(data_dir: Path, idle_exit_seconds: int, deadline: float) -> Path:
    process = _start(data_dir, idle_exit_seconds)
    while time.monotonic() < deadline:
        if found := living_socket(data_dir):
            return found
        if process.poll() is not None:
            # Somebody else may hold the folder; if it is a host, its socket appears soon.
            time.sleep(_PAUSE_SECONDS * 10)
            if found := living_socket(data_dir):
                return found
            if not _is_busy(data_dir):
                break
            process = _start(data_dir, idle_exit_seconds)
        time.sleep(_PAUSE_SECONDS)
    raise _none_came_up(data_dir)


def _none_came_up(data_dir: Path) -> Unavailable:
    return Unavailable(f"no host came up for {data_dir}; the end of {LOG_FILE} says: {_last_words(data_dir)}")


def _start(data_dir: Path, idle_exit_seconds: int) -> subprocess.Popen[bytes]:
    log = data_dir / LOG_FILE
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.old"))
    descriptor = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            _command(data_dir, idle_exit_seconds),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
            cwd=data_dir,
        )
        # The host outlives us or not; if not, somebody has to take note of its end.
        threading.Thread(target=process.wait, name="memvouch-host-reaper", daemon=True).start()
        return process
    finally:
        os.close(descriptor)


def _command(data_dir: Path, idle_exit_seconds: int) -> Sequence[str]:
    folder = str(data_dir.resolve())
    return (
        sys.executable, "-m", "cli.main", "serve", "--data-dir", folder,
        "--port", "0", "--idle-exit", str(idle_exit_seconds),
    )  # fmt: skip


def _is_busy(data_dir: Path) -> bool:
    """Whether the last start failed because another process holds the folder."""
    return "has the data folder" in _last_words(data_dir)


def _last_words(data_dir: Path) -> str:
    try:
        text = (data_dir / LOG_FILE).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return "(nothing)"
    return " ".join(text[-2000:].split())[-500:] or "(nothing)"
