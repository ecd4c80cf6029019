"""`memvouch serve`: the host, until it is told to stop."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from cli.console import state_of
from cli.options import JsonOption
from cli.session import settings_of

_LISTEN, _GUARD = "Listening", "Guarding"

HostOption = Annotated[str, typer.Option(help="Address to listen on.", rich_help_panel=_LISTEN)]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.", rich_help_panel=_LISTEN)]
FolderOption = Annotated[
    Path | None, typer.Option("--data-dir", envvar="MEMVOUCH_DATA_DIR", file_okay=False, help="Folder to serve.")
]
PublicUrlOption = Annotated[
    str | None,
    typer.Option(
        envvar="MEMVOUCH_PUBLIC_URL", help="Origin that clients see, behind a proxy.", rich_help_panel=_LISTEN
    ),
]
NoAuthOption = Annotated[
    bool, typer.Option("--no-auth", help="Everybody here is the owner. Loopback only.", rich_help_panel=_GUARD)
]
AllowedHostOption = Annotated[
    list[str] | None,
    typer.Option(
        envvar="MEMVOUCH_ALLOWED_HOSTS", help="Another name in the Host header. Repeatable.", rich_help_panel=_GUARD
    ),
]
AllowedOriginOption = Annotated[
    list[str] | None,
    typer.Option(
        envvar="MEMVOUCH_ALLOWED_ORIGINS", help="Web origin that may call. Repeatable.", rich_help_panel=_GUARD
    ),
]
RateLimitOption = Annotated[
    int,
    typer.Option(
        min=0,
        envvar="MEMVOUCH_RATE_LIMIT",
        help="Requests a minute for each token; 0: no limit.",
        rich_help_panel=_GUARD,
    ),
]
MaxBodyOption = Annotated[
    int,
    typer.Option(min=1024, envvar="MEMVOUCH_MAX_BODY", help="Largest request body in bytes.", rich_help_panel=_GUARD),
]
TimeoutOption = Annotated[
    float,
    typer.Option(min=0.01, envvar="MEMVOUCH_REQUEST_TIMEOUT", help="Seconds until a 503.", rich_help_panel=_GUARD),
]
QueueTimeoutOption = Annotated[
    float,
    typer.Option(
        min=0.01,
        envvar="MEMVOUCH_QUEUE_TIMEOUT",
        help="Seconds to wait for a free thread until a 503.",
        rich_help_panel=_GUARD,
    ),
]
IdleExitOption = Annotated[
    float,
    typer.Option(
        min=0,
        envvar="MEMVOUCH_IDLE_EXIT",
        help="End after so many seconds without a request; 0: never.",
        rich_help_panel=_LISTEN,
    ),
]
DebugLogsOption = Annotated[bool, typer.Option("--debug-logs", help="Log at DEBUG.")]


def serve(
    context: typer.Context,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8787,
    data_dir: FolderOption = None,
    public_url: PublicUrlOption = None,
    no_auth: NoAuthOption = False,
    allowed_host: AllowedHostOption = None,
    allowed_origin: AllowedOriginOption = None,
    rate_limit: RateLimitOption = 0,
    max_body: MaxBodyOption = 4 * 1024 * 1024,
    timeout: TimeoutOption = 60.0,
    queue_timeout: QueueTimeoutOption = 10.0,
    idle_exit: IdleExitOption = 0.0,
    debug_logs: DebugLogsOption = False,
    json: JsonOption = False,
) -> None:
    """Serve this folder over HTTP to agents and backends.

    The first run writes an owner token to `owner.token` in the folder; `memvouch token create`
    makes others. Ctrl-C ends it; no acknowledged write is lost. A host that commands or tools had
    started on demand makes way for it.

    [bold]Examples[/bold]
      memvouch serve
      memvouch serve --port 9000 --data-dir ./memory
      memvouch serve --host 0.0.0.0 --allowed-host memory.example.com
    """
    from api import logs, serving
    from api.host.handover import folder_taken_over
    from api.options import ServerOptions
    from engine.engine import Engine

    state = state_of(context)
    state.data_dir = data_dir or state.data_dir
    options = ServerOptions(
        host=host,
        port=port,
        require_auth=not no_auth,
        public_url=public_url,
        allowed_hosts=tuple(allowed_host or ()),
        allowed_origins=tuple(allowed_origin or ()),
        max_body_bytes=max_body,
        rate_limit_per_minute=rate_limit,
        request_timeout_seconds=timeout,
        queue_seconds=queue_timeout,
        idle_exit_seconds=idle_exit,
    )
    options.check()
    settings = settings_of(state)
    logs.configure(debug=debug_logs or state.debug)

    def say(listening: serving.Listening) -> None:
        document = {"url": listening.url, "pid": listening.pid, "data_dir": str(settings.data_dir)}
        state.emit(lambda: document, lambda console: state.say(f"Serving {settings.data_dir} on {listening.url}"))

    with nullcontext() if idle_exit else folder_taken_over(settings.data_dir):
        engine = Engine.open(settings)
    with engine:
        serving.serve(engine, options, say)
