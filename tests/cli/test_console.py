"""Streams, exit codes and what an error says."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import cli.main
from cli.console import EXIT_CODE_MEANINGS, ExitCode, GuardedGroup, State, classify, state_of
from cli.options import JsonOption
from engine import errors

EXPECTED = {
    errors.InvalidRequest: ExitCode.USAGE,
    errors.InvalidPattern: ExitCode.USAGE,
    errors.InvalidIdentifier: ExitCode.USAGE,
    errors.ContentTooLarge: ExitCode.USAGE,
    errors.Conflict: ExitCode.USAGE,
    errors.NotFound: ExitCode.NOT_FOUND,
    errors.Unauthenticated: ExitCode.ACCESS,
    errors.Forbidden: ExitCode.ACCESS,
    errors.StoreUnavailable: ExitCode.UNAVAILABLE,
    errors.IndexUnavailable: ExitCode.UNAVAILABLE,
    errors.EmbedderUnavailable: ExitCode.UNAVAILABLE,
    errors.PairScorerUnavailable: ExitCode.UNAVAILABLE,
    errors.FolderBusy: ExitCode.SETUP,
    errors.EmbedderMismatch: ExitCode.SETUP,
    errors.CorruptData: ExitCode.SETUP,
}


def leaves(family: type[errors.MemvouchError]) -> Iterator[type[errors.MemvouchError]]:
    children = family.__subclasses__()
    for child in children:
        yield from leaves(child)
    if not children:
        yield family


def failing_with(error: Exception) -> typer.Typer:
    app = typer.Typer(cls=GuardedGroup)

    @app.callback()
    def root(context: typer.Context, debug: bool = False) -> None:
        context.obj = State(debug=debug)

    @app.command()
    def fail(context: typer.Context, json: JsonOption = False) -> None:
        assert state_of(context).json is json
        raise error

    return app


def run(error: Exception, *arguments: str) -> Any:
    return CliRunner(env={"COLUMNS": "200"}).invoke(failing_with(error), arguments)


def test_the_table_of_this_test_names_every_leaf_of_the_error_tree() -> None:
    assert set(leaves(errors.MemvouchError)) <= set(EXPECTED)


@pytest.mark.parametrize("family", EXPECTED, ids=lambda family: family.__name__)
def test_every_error_has_its_exit_code(family: type[errors.MemvouchError]) -> None:
    assert classify(family("x"))[0] is EXPECTED[family]


def test_every_exit_code_has_a_meaning() -> None:
    assert set(EXIT_CODE_MEANINGS) == set(ExitCode)


def test_an_error_is_one_sentence_on_stderr_and_no_traceback() -> None:
    ran = run(errors.FolderBusy("the folder is in use"), "fail")
    assert ran.exit_code == ExitCode.SETUP
    assert ran.stdout == ""
    assert ran.stderr == "Error: the folder is in use\n"


def test_an_error_names_the_way_out() -> None:
    assert "memvouch reindex" in run(errors.EmbedderMismatch("another embedder"), "fail").stderr


def test_an_error_under_json_is_one_document_on_stdout() -> None:
    ran = run(errors.InvalidRequest("query is blank", field="query"), "fail", "--json")
    assert ran.exit_code == ExitCode.USAGE
    assert ran.stderr == ""
    error = json.loads(ran.stdout)["error"]
    assert (error["kind"], error["message"], error["field"], error["exit_code"]) == (
        "invalid",
        "query is blank",
        "query",
        2,
    )


def test_debug_shows_the_traceback() -> None:
    ran = run(errors.NotFound("no such memory"), "--debug", "fail")
    assert "Traceback" in ran.stderr
    assert ran.exit_code == ExitCode.NOT_FOUND


def test_a_file_that_cannot_be_used_is_named() -> None:
    ran = run(PermissionError(13, "Permission denied", "/secret"), "fail")
    assert ran.exit_code == ExitCode.SETUP
    assert "/secret: Permission denied" in ran.stderr


def test_stopping_with_ctrl_c_has_its_own_exit_code() -> None:
    assert run(KeyboardInterrupt(), "fail").exit_code == ExitCode.INTERRUPTED  # type: ignore[arg-type]


@pytest.mark.parametrize("debug", [False, True])
def test_a_defect_ends_in_one_sentence_unless_debug_is_given(
    debug: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli.main, "app", failing_with(LookupError("lost")))
    monkeypatch.setattr(sys, "argv", ["memvouch", *(["--debug"] if debug else []), "fail"])
    with pytest.raises(LookupError if debug else SystemExit) as ended:
        cli.main.main()
    if not debug:
        assert isinstance(ended.value, SystemExit) and ended.value.code == ExitCode.INTERNAL
        assert "Error: LookupError: lost" in capsys.readouterr().err
