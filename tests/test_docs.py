"""The documents say what there is: every setting, command and link, and nothing that is gone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from engine.settings import Settings
from tests.shared_data import ROOT

PREFIX = "MEMVOUCH_"
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "engine").rglob("*.md")])
SETTING_VARIABLES = {PREFIX + name.upper() for name in Settings.model_fields}


def variables_in(text: str) -> set[str]:
    return set(re.findall(rf"\b{PREFIX}[A-Z][A-Z_]*[A-Z]\b", text))


def variables_in_sources() -> set[str]:
    """Variables that the code, its tests or the CI script read by name."""
    folders = ("engine", "api", "mcp_profiles", "cli", "benchmarks", "tests")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in [*sources, ROOT / ".ci" / "run"]]
    return set().union(*map(variables_in, texts))


def settings_page() -> str:
    return (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def without_figures(text: str) -> str:
    return " ".join(re.sub(r"\d+(?:\.\d+)?", "#", text).split())


@pytest.mark.parametrize("variable", sorted(SETTING_VARIABLES))
def test_every_setting_is_described(variable: str) -> None:
    rows = [line for line in settings_page().splitlines() if line.startswith(f"| `{variable}` |")]
    assert len(rows) == 1, "docs/settings.md needs exactly one table row for it"
    assert len(rows[0].split("|")[3].strip()) > 20, "the row says too little"


@pytest.mark.parametrize("variable", sorted(variables_in_sources()))
def test_every_variable_that_the_code_reads_is_described(variable: str) -> None:
    assert variable in variables_in(settings_page())


def test_no_variable_is_described_twice() -> None:
    described = re.findall(rf"^\| `({PREFIX}\w+)` \|", settings_page(), re.MULTILINE)
    assert [name for name, rows in Counter(described).items() if rows > 1] == []


def test_no_variable_is_described_that_nothing_reads() -> None:
    assert variables_in(settings_page()) <= SETTING_VARIABLES | variables_in_sources()


def test_a_described_default_is_the_default() -> None:
    page = settings_page()
    for name, field in Settings.model_fields.items():
        if field.default_factory is None and field.default is not None:
            row = next(line for line in page.splitlines() if line.startswith(f"| `{PREFIX}{name.upper()}` |"))
            assert f"`{field.default}`" in row.split("|")[2], f"{name}: the default is {field.default!r}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target and not target.startswith("mailto:")]
    assert not [target for target in local if not (document.parent / target).exists()]


def test_the_python_example_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMVOUCH_DATA_DIR", str(tmp_path))
    found = re.search(r"```python\n(.*?)```", readme(), re.DOTALL)
    assert found
    run = subprocess.run([sys.executable, "-c", found[1]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout.endswith("The release train leaves on Tuesdays.\n"), run.stderr


def test_the_demo_prints_what_the_readme_shows() -> None:
    """Figures may move with the model and the machine; words may not."""
    found = re.search(r"A part of what it prints.*?```\n(.*?)```", readme(), re.DOTALL)
    assert found
    command = [sys.executable, "-c", "from cli.main import main; main()", "demo"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"}
    )
    printed = without_figures(run.stdout)
    assert not [line for line in found[1].splitlines() if without_figures(line) not in printed]


@pytest.mark.parametrize("mark", ["demo", "tests"])
def test_the_readme_names_the_commands_that_ci_runs(mark: str) -> None:
    found = re.search(rf"^<!-- ci:{mark} -->\n```sh\n(.+?)\n```$", readme(), re.MULTILINE | re.DOTALL)
    assert found and "\n" not in found[1], "one marked block with one command"


def test_the_ci_script_is_valid_bash() -> None:
    checked = subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
