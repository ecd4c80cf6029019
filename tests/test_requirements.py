"""Every promise has a test that exists, and every test file serves a promise."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.field_cases.cases import Case, load
from tests.promises.requirement import Requirement
from tests.requirements import REQUIREMENTS
from tests.shared_data import field_cases_file

TESTS = Path(__file__).resolve().parent
CASE = "case:"


@cache
def files() -> dict[str, frozenset[str]]:
    """The names of the tests of every test file, read without importing it."""
    return {path.relative_to(TESTS).as_posix(): _tests_in(path) for path in sorted(TESTS.rglob("test_*.py"))}


def _tests_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(function.name for function in functions if function.name.startswith("test_"))


@cache
def field_cases() -> dict[str, Case]:
    file = field_cases_file()
    return {case.id: case for case in load(file)} if file.is_file() else {}


def exists(reference: str) -> bool:
    """Whether a reference of a promise names a test that there is; field cases need their file to be told."""
    if reference.startswith(CASE):
        return not field_cases() or reference.removeprefix(CASE) in field_cases()
    if reference.endswith("/"):
        return any(file.startswith(reference) for file in files())
    file, _, name = reference.partition("::")
    names = files().get(file, frozenset())
    return name in names if name else bool(names)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.id)
def test_a_promise_is_held_by_tests_that_exist(requirement: Requirement) -> None:
    assert requirement.tests, "no test"
    assert not [reference for reference in requirement.tests if not exists(reference)]


@pytest.mark.parametrize("file", sorted(files()))
def test_a_test_file_serves_a_promise(file: str) -> None:
    served = {reference.partition("::")[0] for requirement in REQUIREMENTS for reference in requirement.tests}
    assert file in served or f"{Path(file).parent.as_posix()}/" in served, (
        "name it in tests/promises, under the promise that it holds"
    )


def test_promises_have_distinct_ids_and_say_something() -> None:
    assert [name for name, count in Counter(each.id for each in REQUIREMENTS).items() if count > 1] == []
    assert all(each.sentence.endswith(".") and each.source for each in REQUIREMENTS)


@pytest.mark.parametrize("reference", ["text/test_folding.py::test_no_such_name", "text/test_missing.py"])
def test_a_reference_to_a_test_that_is_not_there_is_noticed(reference: str) -> None:
    assert not exists(reference)
