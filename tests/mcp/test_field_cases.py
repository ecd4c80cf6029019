"""Field cases through the tools of MCP, as an agent would meet them."""

from __future__ import annotations

import jsonschema
import pytest

from mcp_profiles.dispatch import ToolResult
from mcp_profiles.tool import OUTPUT_SCHEMA
from tests.field_cases.cases import Case, load, parameters
from tests.field_cases.runner import play
from tests.mcp.field_surface import McpSurface, can_be_played
from tests.mcp.surfaces import Desk
from tests.shared_data import field_cases_file

FILE = field_cases_file()
MOST_ROWS = 100
"""Cases with more rows are about scale, which the tools add nothing to; the engine's own run plays them."""
CASES = [
    case
    for case in (load(FILE) if FILE.is_file() else ())
    if case.tier == "must" and len(case.rows) <= MOST_ROWS and can_be_played(case)
]
ELSEWHERE = {"B7-20", "B7-22", "B7-24", "B7-25"}
"""Cases of the area that are only a note: `test_listing`, `test_arguments`, `test_stdio` follow them."""


@pytest.mark.parametrize("case", parameters(CASES))
def test_a_field_case_holds_through_the_tools(case: Case, desk: Desk) -> None:
    played = play(case, McpSurface(desk.engine))
    for answer in played.replies:
        result = answer.raw
        if isinstance(result, ToolResult) and not result.is_error:
            jsonschema.validate(result.wire()["structuredContent"], OUTPUT_SCHEMA)


def test_every_case_of_the_area_is_played_or_followed_elsewhere() -> None:
    if not FILE.is_file():
        pytest.skip(f"no field cases at {FILE}")
    of_the_area = {case.id for case in load(FILE) if case.area == "mcp"}
    assert of_the_area - {case.id for case in CASES} <= ELSEWHERE
