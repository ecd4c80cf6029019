"""Requests that schemathesis makes up from the schema of the surface: no fault of ours, nothing undocumented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from tests.services.server import RunningHost, serve

EXAMPLES_PER_ROUTE = 10
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """A host of its own: made-up requests delete and revoke."""
    with serve(tmp_path_factory.mktemp("crosmos-fuzzed")) as host:
        yield host


def test_made_up_requests_get_documented_answers(fuzzed: RunningHost) -> None:
    schema: Any = schemathesis.openapi.from_dict(fuzzed.client().get("/api/v1/openapi.json").json())
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
        token = host.owner_token
        case.call_and_validate(
            base_url=host.url, headers={"Authorization": f"Bearer {token}", "X-API-Key": token}, checks=CHECKS
        )

    send()
