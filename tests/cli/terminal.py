"""The command as a test runs it: in this process, on a data folder of its own, off a terminal."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.main import app


@dataclass(frozen=True, slots=True)
class Ran:
    """How one command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Stdout as the one JSON document that it has to be."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Runs `memvouch` commands on one data folder."""

    data_dir: Path

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Ran:
        environment = {"MEMVOUCH_DATA_DIR": str(self.data_dir), "COLUMNS": "100", "MEMVOUCH_THREADS": "1"}
        result = CliRunner(env=environment).invoke(app, arguments, input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    def stored(self, text: str, *options: str) -> str:
        """The id of a new memory."""
        identifier: str = self("remember", text, *options, "--json").document["memory"]["id"]
        return identifier
