"""A question read from the address in one step means what the framework would have read from it."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

import pytest
from fastapi import Depends, FastAPI, Query
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from api import errors
from api.xmemo.address import FromAddress, parameters
from api.xmemo.models import SearchParams

FIELDS = [*SearchParams.model_fields, *SearchParams.ALIASES, "pth", "Query"]
VALUES = ["", "0", "3", "-1", "0.5", "nan", "true", "strict", "%", "a b", "2026-01-31T09:00:00Z", "activity_log"]


@pytest.fixture(scope="module")
def both() -> TestClient:
    app = FastAPI()
    errors.install(app)

    @app.get("/framework")
    async def by_framework(params: Annotated[SearchParams, Query()]) -> Any:
        return params.model_dump(mode="json")

    @app.get("/ours", openapi_extra=parameters(SearchParams))
    async def by_us(params: Annotated[SearchParams, Depends(FromAddress(SearchParams))]) -> Any:
        return params.model_dump(mode="json")

    return TestClient(app)


@given(sent=st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(VALUES)), max_size=6))
def test_any_address_gives_the_same_question_or_the_same_faults(both: TestClient, sent: list[tuple[str, str]]) -> None:
    address = urlencode([("query", "q"), *sent])
    theirs, ours = both.get(f"/framework?{address}"), both.get(f"/ours?{address}")
    assert (ours.status_code, ours.json()) == (theirs.status_code, theirs.json())


def test_a_missing_question_and_several_spaces_are_read_alike(both: TestClient) -> None:
    for address, status in (("", 422), ("limit=3", 422), ("query=x&spaces=a&spaces=b", 200), ("q=x&q=y", 422)):
        theirs, ours = both.get(f"/framework?{address}"), both.get(f"/ours?{address}")
        assert ours.status_code == theirs.status_code == status
        assert ours.json() == theirs.json()


def test_the_schema_tells_of_the_same_fields(both: TestClient) -> None:
    paths = both.get("/openapi.json").json()["paths"]
    told = [
        {
            each["name"]: (each["in"], each["required"], each.get("description"))
            for each in paths[path]["get"]["parameters"]
        }
        for path in ("/ours", "/framework")
    ]
    assert told[0] == told[1] and len(told[0]) == len(SearchParams.model_fields)
    assert "$ref" not in str(paths["/ours"]["get"]["parameters"])
