"""The OpenAPI schema, and requests that schemathesis makes up from it: nothing undocumented, no fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.permissions import OPEN, PUBLIC
from tests.services.server import RunningHost, serve

EXAMPLES_PER_ROUTE = 20
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """A host of its own: made-up requests delete and revoke."""
    with serve(tmp_path_factory.mktemp("fuzzed")) as host:
        yield host


def test_made_up_requests_get_documented_answers(fuzzed: RunningHost) -> None:
    schema: Any = schemathesis.openapi.from_dict(fuzzed.client().get("/openapi.json").json())
    faults: list[str] = []
    for found in schema.get_all_operations():
        operation = found.ok()
        try:
            probe(operation, fuzzed)
        except (AssertionError, FailureGroup, Failure) as error:
            faults.append(f"{operation.label}: {error}")
    assert not faults, "\n\n".join(faults)


def probe(operation: Any, host: RunningHost) -> None:
    """Send made-up requests for one route and check every answer."""
    gives_up_its_token = operation.path.endswith("/revoke-self")

    @hypothesis.given(case=operation.as_strategy())
    @hypothesis.settings(
        max_examples=EXAMPLES_PER_ROUTE,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    def send(case: Any) -> None:
        token = host.issue() if gives_up_its_token else host.owner_token
        case.call_and_validate(
            base_url=host.url, headers={"Authorization": f"Bearer {token}", "X-API-Key": token}, checks=CHECKS
        )

    send()


def test_every_route_has_a_summary_an_example_and_its_errors(fuzzed: RunningHost) -> None:
    paths = fuzzed.client().get("/openapi.json").json()["paths"]
    for path, verbs in paths.items():
        for method, route in verbs.items():
            if f"{method.upper()} {path}" in PUBLIC or path.startswith(OPEN):
                continue
            assert route["summary"], (method, path)
            assert "example" in str(route["responses"]["200"]), (method, path)
            assert {"401", "403", "422", "503"} <= set(route["responses"]), (method, path)
            assert route["security"] == [{"bearer": []}, {"api_key": []}], (method, path)
