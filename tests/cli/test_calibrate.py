"""`memvouch calibrate`: what it reads, what it says, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.console import ExitCode
from cli.documents import plain
from engine.domain.calibration import LEAST_ANSWERABLE, LEAST_UNANSWERABLE, LabelledQuestion
from engine.retrieval.calibration.calibrator import OWN_CALIBRATION
from engine.store.ids import new_id
from tests.cli.terminal import Terminal
from tests.field_cases.facts import facts
from tests.retrieval.test_own_calibration import misleading

KNOWN = facts(60, LEAST_ANSWERABLE, seed=5)


def lines(path: Path, *rows: object) -> str:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n\n", "utf-8")
    return str(path)


@pytest.fixture
def labelled(terminal: Terminal, tmp_path: Path) -> str:
    """Facts in the folder, and just enough questions about them."""
    facts_file = lines(tmp_path / "facts.jsonl", *({"content": each} for each in KNOWN.statements))
    assert terminal("import", facts_file).code == 0
    listed = terminal("list", "--limit", "100", "--json").document["memories"]
    ids = {each["content"]: each["id"] for each in listed}
    answered = ({"query": text, "relevant": [ids[KNOWN.statements[number]]]} for text, number in KNOWN.answered)
    unanswered = ({"query": text, "relevant": []} for text in KNOWN.unanswered[:LEAST_UNANSWERABLE])
    return lines(tmp_path / "labelled.jsonl", *answered, *unanswered)


def test_a_dry_run_reports_and_a_run_keeps_what_a_reset_takes_back(terminal: Terminal, labelled: str) -> None:
    own = terminal.data_dir / OWN_CALIBRATION
    dry = terminal("calibrate", labelled, "--dry-run", "--json")
    assert (dry.code, dry.document["better"], dry.document["written"]) == (0, True, False)
    assert not own.exists()

    ran = terminal("calibrate", labelled)
    assert ran.code == 0
    assert "Your own calibration is in use." in ran.out
    for said in ("AUROC", "calibration error", "strict: hit@5", "lenient: false matches (aim 15%)"):
        assert said in ran.out
    assert f"strict: {LEAST_UNANSWERABLE} unanswerable questions cannot show 1%" in ran.out
    assert own.exists()
    assert "your own" in terminal("doctor", "--json").document["calibration"]

    assert terminal("calibrate", "--reset", "--json").document == {"reset": True}
    assert not own.exists()
    assert "in use already" in terminal("calibrate", "--reset").out


def test_labels_come_from_stdin_too(terminal: Terminal, labelled: str) -> None:
    text = Path(labelled).read_text("utf-8")
    assert terminal("calibrate", "-", "--dry-run", "--json", stdin=text).document["answerable"] == LEAST_ANSWERABLE


def test_a_fit_that_is_no_better_ends_with_1_and_changes_nothing(terminal: Terminal, labelled: str) -> None:
    rows = [json.loads(line) for line in Path(labelled).read_text("utf-8").splitlines() if line]
    questions = misleading([LabelledQuestion(row["query"], tuple(row["relevant"])) for row in rows])
    told = lines(Path(labelled), *map(plain, questions))
    ran = terminal("calibrate", told)
    assert ran.code == ExitCode.NO_MATCH
    assert "The fit is no better; nothing has changed." in ran.out and "--force" in ran.out
    assert not (terminal.data_dir / OWN_CALIBRATION).exists()
    assert terminal("calibrate", told, "--force", "--json").document["written"] is True


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("not json", "line 2: "),
        ({"query": "x"}, "line 2: relevant: "),
        ({"query": "x", "relevant": "id"}, "line 2: relevant: "),
        ({"query": 3, "relevant": []}, "line 2: query: "),
    ],
)
def test_a_line_that_is_no_labelled_question_is_named(
    terminal: Terminal, tmp_path: Path, row: object, said: str
) -> None:
    path = lines(tmp_path / "labelled.jsonl", {"query": "fine", "relevant": []}, row)
    ran = terminal("calibrate", path, "--json")
    assert ran.code == ExitCode.USAGE
    assert said in ran.document["error"]["message"]
    assert ran.document["error"]["field"] == "labelled"


def test_too_few_labels_say_how_many_are_needed(terminal: Terminal, tmp_path: Path) -> None:
    path = lines(tmp_path / "labelled.jsonl", {"query": "fine", "relevant": []})
    ran = terminal("calibrate", path)
    assert ran.code == ExitCode.USAGE
    assert f"at least {LEAST_ANSWERABLE} and {LEAST_UNANSWERABLE}" in ran.err


def test_unknown_ids_are_listed(terminal: Terminal, labelled: str) -> None:
    missing = new_id()
    with Path(labelled).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"query": "who knows?", "relevant": [missing]}) + "\n")
    ran = terminal("calibrate", labelled)
    assert ran.code == ExitCode.USAGE
    assert missing in ran.err


@pytest.mark.parametrize(
    "arguments", [(), ("--dry-run",), ("FILE", "--dry-run", "--force"), ("FILE", "--reset"), ("--reset", "--force")]
)
def test_options_that_do_not_go_together_are_refused(
    terminal: Terminal, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = lines(tmp_path / "labelled.jsonl", {"query": "fine", "relevant": []})
    given = [path if each == "FILE" else each for each in arguments]
    assert terminal("calibrate", *given).code == ExitCode.USAGE
