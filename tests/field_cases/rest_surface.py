"""REST as a surface: the verbs of the cases become requests of the XMemo contract.

The accounts of a case are made on the engine that the host serves, and every read is asked twice:
over HTTP, and of the engine. Both must name the same records in the same order with the same
confidences, so a door that alters an answer is seen in every case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from tests.field_cases.accounts import KEEPER
from tests.field_cases.cases import Row
from tests.field_cases.engine_surface import EngineSurface, EngineWorld
from tests.field_cases.surface import Arrangement, Reply, Shown

CONFIDENCE_DIGITS = 6
LONGEST_IN_ADDRESS = 2000
READS = frozenset({"search_memory", "recall", "recall_context", "get_memory", "list_memories"})
Request = Callable[[dict[str, Any]], tuple[str, str, dict[str, Any]]]


class RestSurface:
    """Opens worlds behind one running host."""

    def __init__(self, engine: EngineSurface, client: httpx.Client) -> None:
        self._engine = engine
        self._client = client

    def world(
        self, spaces: Sequence[str], actors: Mapping[str, Mapping[str, str]], arrangement: Arrangement
    ) -> RestWorld:
        return RestWorld(self._engine.world(spaces, actors, arrangement), self._client)


class RestWorld:
    """The spaces and actors of one case; callers hold real tokens."""

    def __init__(self, inside: EngineWorld, client: httpx.Client) -> None:
        self._inside = inside
        self._client = client

    def write(self, rows: Sequence[Row]) -> list[str]:
        return self._inside.write(rows)

    def may_read(self, actor: str | None, space: str) -> bool:
        return self._inside.may_read(actor, space)

    def count_tokens(self, text: str) -> int:
        return self._inside.count_tokens(text)

    def call(self, actor: str | None, verb: str, arguments: Mapping[str, Any]) -> Reply:
        given = dict(arguments)
        headers = given.pop("headers", {})
        method, path, rest = REQUESTS[verb](given)
        token = self._inside.accounts.secrets[KEEPER if actor is None else actor]
        answer = self._client.request(
            method,
            path,
            params=rest if method == "GET" else None,
            json=None if method == "GET" else rest,
            headers={"Authorization": f"Bearer {token}", **headers},
        )
        reply = _reply(answer, verb)
        if verb in READS and not headers:
            _compare(reply, self._inside.call(actor, verb, arguments))
        return reply


def _by_id(method: str, suffix: str = "") -> Request:
    def request(given: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
        return method, f"/v1/memories/{given.pop('memory_id')}{suffix}", given

    return request


def _question(path: str) -> Request:
    def request(given: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
        fits_an_address = len(str(given.get("query", ""))) <= LONGEST_IN_ADDRESS
        return "GET" if fits_an_address else "POST", path, {"limit": 5, **given}

    return request


REQUESTS: Mapping[str, Request] = {
    "search_memory": _question("/v1/memories/search"),
    "recall": _question("/v1/recall"),
    "recall_context": lambda given: ("POST", "/v1/recall/context", {"prefer_working": False, **given}),
    "remember": lambda given: ("POST", "/v1/remember", given),
    "list_memories": lambda given: ("GET", "/v1/memories", given),
    "update": _by_id("PATCH"),
    "forget": _by_id("POST", "/forget"),
    "restore": _by_id("POST", "/restore"),
    "get_memory": _by_id("GET"),
    "history": _by_id("GET", "/versions"),
    "explain": _by_id("GET", "/explain"),
}


def _reply(answer: httpx.Response, verb: str) -> Reply:
    body = answer.json()
    if not answer.is_success:
        return Reply("error", text=answer.text, http=answer.status_code, raw=body)
    hits = _hits(body)
    matched = bool(hits) or body.get("coverage", {}).get("matched", 0) > 0
    is_list_of_answers = verb in ("search_memory", "recall", "recall_context", "history")
    return Reply(
        status="ok" if matched or not is_list_of_answers else "no_match",
        hits=hits,
        record_id=body.get("id"),
        text=answer.text,
        rendered=body.get("context_text"),
        reported_tokens=body.get("budget", {}).get("used_tokens"),
        http=answer.status_code,
        raw=body,
    )


def _hits(body: Mapping[str, Any]) -> tuple[Shown, ...]:
    for name in ("results", "items", "memories", "versions"):
        if name in body:
            return tuple(Shown(item["id"], item["content"], item.get("score")) for item in body[name])
    return (Shown(body["id"], body["content"]),) if "content" in body else ()


def _compare(outside: Reply, inside: Reply) -> None:
    """What a caller gets over HTTP is what the engine says."""
    assert (outside.status, _sure(outside)) == (inside.status, _sure(inside)), (
        f"{outside.text} instead of {inside.text}"
    )
    assert outside.rendered == inside.rendered


def _sure(reply: Reply) -> list[tuple[str, float | None]]:
    return [
        (hit.id, None if hit.confidence is None else round(hit.confidence, CONFIDENCE_DIGITS)) for hit in reply.hits
    ]
