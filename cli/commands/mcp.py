"""`memvouch mcp`: a profile over stdin and stdout, for agents that start their servers themselves."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.console import state_of

if TYPE_CHECKING:
    from mcp_profiles.profile import Profile
    from mcp_profiles.stdio import ToolCalls

ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        "-P",
        envvar="MEMVOUCH_MCP_PROFILE",
        help="Which tools there are: a built-in profile, or one of your own in the folder's profiles/.",
    ),
]


def mcp(
    context: typer.Context,
    profile: ProfileOption = "generic",
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", envvar="MEMVOUCH_DATA_DIR", file_okay=False, help="Folder of the memories."),
    ] = None,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Open the folder in this process; no host is asked or started.")
    ] = False,
) -> None:
    """Serve a profile over stdin and stdout (MCP). Started by agents, not by people.

    It answers at once and pipes the calls to the folder's host, starting one if none lives; so any
    number of agents can use one folder. `memvouch install` writes the configuration for yours.

    [bold]Examples[/bold]
      memvouch mcp --profile claude
      memvouch mcp --profile generic --data-dir ./memory
    """
    # Only light modules up to the first answer: the client waits for it.
    from mcp_profiles.profile import named
    from mcp_profiles.stdio import Later, StdioServer, protocol_output

    state = state_of(context)
    folder = data_dir or state.data_dir or _default_folder()
    declaration = named(profile, folder)
    output = protocol_output()

    def calls() -> ToolCalls:
        if in_process or state.in_process or not hasattr(socket, "AF_UNIX"):
            return _in_process(folder, declaration, debug=state.debug)
        from api.host.tool_calls import HostCalls

        return HostCalls(folder, declaration.name)

    StdioServer(declaration, Later(calls), output).serve(sys.stdin.buffer)


def _in_process(folder: Path, declaration: Profile, *, debug: bool) -> ToolCalls:
    from api import logs
    from api.mcp_in_process import EngineCalls
    from engine.settings import Settings

    logs.configure(debug=debug)
    return EngineCalls(Settings(data_dir=folder), declaration)


def _default_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("memvouch")
