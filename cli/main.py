"""The `memvouch` command: assembles the groups and says how every run ends."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.commands import (
    asking,
    browsing,
    calibrate,
    care,
    demo,
    hook,
    install,
    mcp,
    profile,
    serve,
    spaces,
    team,
    token,
    transfer,
    writing,
)
from cli.console import EXIT_CODE_MEANINGS, ExitCode, GuardedGroup, State, report

_EPILOG = "\n".join(
    (
        "Every command takes --json: one JSON document on stdout, messages and progress on stderr.",
        "",
        "[bold]Exit codes[/bold]",
        *(f"{int(code):>4}  {meaning}" for code, meaning in EXIT_CODE_MEANINGS.items()),
    )
)

app = typer.Typer(
    cls=GuardedGroup,
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"memvouch {version('memvouch')}")
        raise typer.Exit


@app.callback()
def memvouch(
    context: typer.Context,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            "--data-dir",
            envvar="MEMVOUCH_DATA_DIR",
            file_okay=False,
            help="Folder of the store and the index. Default: your platform's data folder.",
        ),
    ] = None,
    in_process: Annotated[
        bool,
        typer.Option(
            "--in-process",
            envvar="MEMVOUCH_IN_PROCESS",
            help="Open the folder in this process instead of asking its host (or starting one).",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Memory for AI agents that says [bold]no match[/bold] when nothing stored answers.

    Two ways of asking: search is strict and vouches for what it returns; recall gives its best
    effort and says how sure it is.

    [bold]First steps[/bold]
      memvouch demo
      memvouch remember "Ilse is on call on Mondays." --path team/oncall
      memvouch search "who is on call on Mondays?"
      memvouch recall "who helps at night?"
      memvouch import chat.jsonl
    """
    context.obj = State(data_dir=data_dir, in_process=in_process, debug=debug)


_ASK, _WRITE, _LOOK, _SERVE, _CARE = "Ask", "Write", "Look", "Serve others", "Set up and care"

app.command("demo", rich_help_panel=_CARE)(demo.demo)
app.command("init", rich_help_panel=_CARE)(care.init)
app.command("search", rich_help_panel=_ASK)(asking.search)
app.command("recall", rich_help_panel=_ASK)(asking.recall)
app.command("context", rich_help_panel=_ASK)(asking.pack_context)
app.command("remember", rich_help_panel=_WRITE)(writing.remember)
app.command("update", rich_help_panel=_WRITE)(writing.update)
app.command("forget", rich_help_panel=_WRITE)(writing.forget)
app.command("restore", rich_help_panel=_WRITE)(writing.restore)
app.command("state", rich_help_panel=_WRITE)(writing.working_state)
app.command("import", rich_help_panel=_WRITE)(transfer.import_memories)
app.command("export", rich_help_panel=_LOOK)(transfer.export_memories)
app.command("show", rich_help_panel=_LOOK)(browsing.show)
app.command("list", rich_help_panel=_LOOK)(browsing.list_memories)
app.command("stats", rich_help_panel=_LOOK)(browsing.stats)
app.add_typer(spaces.app, name="spaces", rich_help_panel=_LOOK)
app.command("serve", rich_help_panel=_SERVE)(serve.serve)
app.command("mcp", rich_help_panel=_SERVE)(mcp.mcp)
app.command("install", rich_help_panel=_SERVE)(install.install)
app.add_typer(profile.app, name="profile", rich_help_panel=_SERVE)
app.add_typer(hook.app, name="hook", rich_help_panel=_SERVE)
app.add_typer(token.app, name="token", rich_help_panel=_SERVE)
app.add_typer(team.app, name="team", rich_help_panel=_SERVE)
app.command("doctor", rich_help_panel=_CARE)(care.doctor)
app.command("reindex", rich_help_panel=_CARE)(care.reindex)
app.command("calibrate", rich_help_panel=_CARE)(calibrate.calibrate)


def main() -> None:
    """Entry point of the console script. A defect ends in one sentence too, unless `--debug` is given."""
    try:
        app()
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        report(State(json="--json" in sys.argv), error, ExitCode.INTERNAL, "internal")
        sys.exit(ExitCode.INTERNAL)


if __name__ == "__main__":
    main()
