"""`docs/cli.md` describes the command that there is."""

from __future__ import annotations

import re

import pytest

from cli.console import ExitCode
from cli.import_run import BATCH
from engine.upkeep.portable import SkipReason
from tests.cli.test_care import ALL_COMMANDS
from tests.shared_data import ROOT

PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
FILTER_PANEL = "Filters"


@pytest.mark.parametrize("words", ALL_COMMANDS, ids=" ".join)
def test_every_command_is_described(words: tuple[str, ...]) -> None:
    assert re.search(rf"^\| .*`memvouch {' '.join(words)}\b", PAGE, re.MULTILINE)


def test_every_exit_code_is_described() -> None:
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)] == [int(code) for code in ExitCode]


def test_every_filter_option_is_described() -> None:
    section = PAGE.partition("## Filters")[2].partition("\n## ")[0]
    options = {
        option.opts[0]
        for words in (("search",), ("recall",), ("context",), ("list",))
        for option in ALL_COMMANDS[words].params
        if getattr(option, "rich_help_panel", None) == FILTER_PANEL
    }
    assert options
    assert not {option for option in options if f"`{option}" not in section}


@pytest.mark.parametrize("reason", list(SkipReason))
def test_every_reason_to_skip_is_described(reason: SkipReason) -> None:
    assert f"`{reason}`" in PAGE.partition("## Import")[2]


def test_the_batch_size_is_the_one_described() -> None:
    assert f"batches of {BATCH}" in PAGE
