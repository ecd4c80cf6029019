"""Serving: the listening sockets, the files that let local clients find them, and the end.

A host listens on a TCP port and, for clients of the same user, on a Unix socket in the data folder
(mode 0600: whoever can open it owns the folder, so it needs no token). `host.json` in the folder
names both while the host runs. A folder whose path is too long for a socket gets one in a private
temporary folder. The engine's folder lock is held by now, so files of a former host are leftovers.

At the end the host stops accepting, answers what it has begun, waits for running engine calls and
only then lets go of the engine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType

import uvicorn

from api.app import create_app
from api.health import VERSION
from api.host.idle import Idle
from api.host.start import HOST_FILE
from api.options import ServerOptions
from engine.engine import Engine
from engine.errors import SetupError
from engine.upkeep.first_run import owner_token

SOCKET_FILE = "host.sock"
_SOCKET_PATH_LIMIT = 100
_BACKLOG = 1024
_KEEP_ALIVE_SECONDS = 75


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a running host can be reached; this is what `host.json` holds. `socket` may be missing.

    `detached`: started on demand, to end when idle or when a person starts a host.
    """

    pid: int
    url: str
    socket: str | None
    version: str = VERSION
    detached: bool = False


def serve(engine: Engine, options: ServerOptions, started: Callable[[Listening], None]) -> None:
    """Serve an open engine until SIGINT or SIGTERM. `started` is called once clients can connect.

    Raises `SetupError` when the port is taken or the options would expose the engine.
    """
    options.check()
    data_dir = engine.settings.data_dir
    owner_token(engine.database, data_dir)
    app = Idle(create_app(engine, options))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            lifespan="on",
            ws="none",
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=int(options.shutdown_timeout_seconds),
        )
    )
    with ExitStack() as stack:
        stack.enter_context(_signals_end(server))
        port = stack.enter_context(_tcp_socket(options))
        sockets = [port]
        path = None
        if options.socket and hasattr(socket, "AF_UNIX"):
            path = stack.enter_context(_socket_path(data_dir))
            sockets.append(stack.enter_context(_unix_socket(path)))
        listening = Listening(
            os.getpid(), _url(options, port), str(path) if path else None, detached=options.idle_exit_seconds > 0
        )
        stack.enter_context(_host_file(data_dir / HOST_FILE, listening))
        started(listening)
        if options.idle_exit_seconds:
            app.watch(options.idle_exit_seconds, partial(setattr, server, "should_exit", True))
        server.run(sockets)


@contextmanager
def _tcp_socket(options: ServerOptions) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((options.host.strip("[]"), options.port))
        except OSError as error:
            raise SetupError(
                f"Cannot listen on {options.host}:{options.port}: {error.strerror}. Choose another --port or --host."
            ) from error
        listener.listen(_BACKLOG)
        yield listener


@contextmanager
def _socket_path(data_dir: Path) -> Iterator[Path]:
    path = data_dir.resolve() / SOCKET_FILE
    if len(os.fsencode(path)) <= _SOCKET_PATH_LIMIT:
        yield path
        return
    folder = Path(tempfile.mkdtemp(prefix="memvouch-", dir="/tmp"))
    try:
        yield folder / SOCKET_FILE
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _unix_socket(path: Path) -> Iterator[socket.socket]:
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        # The mode must hold from the first moment on: a chmod after the bind would come too late.
        former = os.umask(0o177)
        try:
            listener.bind(str(path))
        except OSError as error:
            raise SetupError(f"Cannot make the socket {path}: {error.strerror}.") from error
        finally:
            os.umask(former)
        listener.listen(_BACKLOG)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def _host_file(path: Path, listening: Listening) -> Iterator[None]:
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        json.dump(asdict(listening), file)
    draft.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _signals_end(server: uvicorn.Server) -> Iterator[None]:
    """A signal ends the server, also one that comes before it listens to signals itself.

    It sends each signal again when it has ended; that second one must not cut the clean-up short.
    """

    def end(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    former = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _url(options: ServerOptions, listener: socket.socket) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{listener.getsockname()[1]}"
