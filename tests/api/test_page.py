"""`docs/rest.md` describes the routes that there are."""

from __future__ import annotations

import re

import pytest

from tests.services.server import RunningHost
from tests.shared_data import ROOT

PAGE = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def paths(running_host: RunningHost) -> set[str]:
    schema = running_host.client().get("/openapi.json").json()
    return {path for path in schema["paths"] if path.startswith(("/v1/", "/oauth/", "/.well-known/"))}


def test_every_route_is_described(paths: set[str]) -> None:
    assert [path for path in sorted(paths) if f"{path}`" not in PAGE] == []


def test_no_route_is_described_that_is_gone(paths: set[str]) -> None:
    described = set(re.findall(r"`(?:[A-Z]+ )?(/(?:v1|oauth|\.well-known)/[^`]+)`", PAGE))
    assert described <= paths
