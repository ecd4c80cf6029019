"""Every field case of the areas that need only the engine, as a test with a readable name.

A `must` case fails its test. A `hard` case never fails: a miss is reported as an expected failure,
and the rate of all hard cases stands in the summary of the run.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.field_cases import notes_access, notes_budget, notes_rebuild, notes_strict, notes_text, notes_write
from tests.field_cases.accounts import can_be_arranged
from tests.field_cases.cases import Case, load, parameters
from tests.field_cases.engine_surface import EngineSurface
from tests.field_cases.hard_cases import HardCases
from tests.field_cases.runner import play, play_without_foreign_rows
from tests.field_cases.stage import BEYOND, PROCEDURES, Stage
from tests.field_cases.surface import Arrangement
from tests.shared_data import field_cases_file

NOTES = (notes_access, notes_budget, notes_rebuild, notes_strict, notes_text, notes_write)
AREAS = ("strict", "filters", "text", "isolation", "write", "budget")
CASE_SECONDS = 900


def cases() -> tuple[Case, ...]:
    """The cases of these areas; none if the default file is missing, an error if a named one is."""
    file = field_cases_file()
    if not file.is_file() and "MEMVOUCH_FIELD_CASES" in os.environ:
        raise FileNotFoundError(f"MEMVOUCH_FIELD_CASES names {file}, which is no file")
    return tuple(case for case in load(file) if case.area in AREAS) if file.is_file() else ()


ALL = cases()
WITH_ACTORS = [case for case in ALL if case.actors and not case.is_procedure]


@pytest.fixture
def stage(engine_surface: EngineSurface, tmp_path: Path) -> Stage:
    return Stage(engine_surface, tmp_path)


@pytest.mark.timeout(CASE_SECONDS)
@pytest.mark.parametrize("case", parameters(ALL))
def test_a_field_case_holds(case: Case, stage: Stage, hard_cases: HardCases) -> None:
    skip_what_needs_another_door(case)
    if case.tier == "must":
        act(case, stage)
        return
    try:
        act(case, stage)
    except AssertionError as miss:
        hard_cases.missed(case.id)
        pytest.xfail(str(miss).splitlines()[0])
    hard_cases.held(case.id)


@pytest.mark.parametrize("arrangement", [Arrangement.TEAMS, Arrangement.TENANTS])
@pytest.mark.parametrize("case", parameters(WITH_ACTORS))
def test_a_case_holds_however_its_rights_came_about(
    case: Case, arrangement: Arrangement, engine_surface: EngineSurface
) -> None:
    skip_what_needs_another_door(case)
    if not can_be_arranged(case.actors, arrangement):
        pytest.skip("two actors share a space, so they cannot be of two tenants")
    play(case, engine_surface, arrangement)


@pytest.mark.parametrize("arrangement", list(Arrangement))
@pytest.mark.parametrize("case", parameters(WITH_ACTORS))
def test_rows_that_the_caller_may_not_read_leave_no_mark_on_its_answer(
    case: Case, arrangement: Arrangement, engine_surface: EngineSurface
) -> None:
    skip_what_needs_another_door(case)
    caller = case.steps[0].actor
    if caller and all(row.space in case.actors[caller] for row in case.rows):
        pytest.skip("the caller may read every row of the case")
    if not can_be_arranged(case.actors, arrangement):
        pytest.skip("two actors share a space, so they cannot be of two tenants")
    play_without_foreign_rows(case, engine_surface, arrangement)


def act(case: Case, stage: Stage) -> None:
    """Play a case, then what its note asks for beyond it; a case that is only a note has a procedure."""
    if case.is_procedure:
        if case.id not in PROCEDURES:
            pytest.skip(f"a procedure that is not scripted for the engine: {case.steps[0].expect.note}")
        PROCEDURES[case.id](case, stage)
        return
    played = play(case, stage.surface)
    if case.id in BEYOND:
        BEYOND[case.id](played, stage)


def skip_what_needs_another_door(case: Case) -> None:
    """Skip a case whose steps go through the command line or MCP, or whose REST call is of another kind."""
    for step in case.steps:
        if step.verb in {"cli", "mcp"} and not case.is_procedure:
            pytest.skip(f"needs {step.verb}, which has a runner of its own")
