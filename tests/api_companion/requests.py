"""Short forms of the requests that the companion tests send."""

from __future__ import annotations

from typing import Any

import httpx


def post(client: httpx.Client, path: str, /, **body: Any) -> dict[str, Any]:
    """The JSON answer of a successful POST."""
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def get(client: httpx.Client, path: str, /, **params: Any) -> dict[str, Any]:
    """The JSON answer of a successful GET."""
    answer = client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
