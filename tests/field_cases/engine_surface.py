"""The engine itself as a surface: verbs of the cases become calls of `Engine`.

Arguments are checked as every door must check them: an unknown one is refused by name, and the
word null, an empty string and an empty list mean that it was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from engine.domain.access import Principal
from engine.domain.memory import ForgetMode, Memory, MemoryPatch, MemoryType, NewMemory, WriteStatus
from engine.domain.outcome import ContextPack, Hit, Matches, NoMatch
from engine.domain.query import ContextQuery, Filters, ListQuery, Mode, Query
from engine.embedding.wordpiece import count_tokens
from engine.engine import Engine
from engine.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    MemvouchError,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from tests.field_cases.accounts import Accounts, open_accounts
from tests.field_cases.cases import Row, resolved
from tests.field_cases.surface import Arrangement, Reply, Shown

BATCH = 512
HTTP_STATUS: tuple[tuple[type[MemvouchError], int], ...] = (
    (InvalidRequest, 422),
    (Unauthenticated, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (Conflict, 409),
    (Unavailable, 503),
)
"""What an HTTP door answers for each branch of the error tree."""

UNSET: tuple[object, ...] = (None, "", "null", [])
QUESTION = {"query", "limit", "space", "spaces", "path_filter", "memory_type", "prefer_working", "explain"} | {
    "bucket",
    "scope",
    "team_id",
    "source",
    "agent_id",
    "min_confidence",
}
KNOWN: dict[str, set[str]] = {
    "search_memory": QUESTION,
    "recall": QUESTION,
    "recall_context": (QUESTION - {"min_confidence"}) | {"max_items", "max_tokens"},
    "remember": {
        *("content", "path", "space", "memory_type", "bucket", "scope", "semantic_key", "importance", "expires_at"),
        *("dedupe", "idempotency_key", "source"),
    },
    "update": {"memory_id", "content", "path", "memory_type", "expires_at", "importance", "idempotency_key"},
    "forget": {"memory_id", "mode", "reason"},
    "restore": {"memory_id"},
    "get_memory": {"memory_id"},
    "history": {"memory_id"},
    "list_memories": {"space", "spaces", "path_filter", "memory_type", "limit"},
    "explain": {"memory_id", "query"},
}


class EngineSurface:
    """Opens worlds on one engine; worlds share nothing, since each has tenants of its own."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def world(
        self, spaces: Sequence[str], actors: Mapping[str, Mapping[str, str]], arrangement: Arrangement
    ) -> EngineWorld:
        return EngineWorld(self.engine, open_accounts(self.engine, spaces, actors, arrangement))


class EngineWorld:
    """The spaces and actors of one case, as principals of one engine."""

    def __init__(self, engine: Engine, accounts: Accounts) -> None:
        self.engine = engine
        self.accounts = accounts
        self._verbs: dict[str, Callable[[Principal, dict[str, Any]], Reply]] = {
            "search_memory": self._search,
            "recall": self._recall,
            "recall_context": self._recall_context,
            "remember": self._remember,
            "update": self._update,
            "forget": self._forget,
            "restore": self._restore,
            "get_memory": self._get,
            "history": self._history,
            "list_memories": self._list,
            "explain": self._explain,
        }

    def write(self, rows: Sequence[Row]) -> list[str]:
        ids: list[str] = [""] * len(rows)
        for space in dict.fromkeys(row.space for row in rows):
            places = [place for place, row in enumerate(rows) if row.space == space]
            keeper = self.accounts.keeper_of(space)
            for start in range(0, len(places), BATCH):
                batch = places[start : start + BATCH]
                written = self.engine.remember_many(keeper, [_draft(rows[place]) for place in batch])
                for place, one in zip(batch, written, strict=True):
                    ids[place] = one.memory.id
        return ids

    def call(self, actor: str | None, verb: str, arguments: Mapping[str, Any]) -> Reply:
        try:
            if unknown := sorted(set(arguments) - KNOWN[verb]):
                raise InvalidRequest(f"{verb} has no argument {unknown[0]}", field=unknown[0])
            given = {name: value for name, value in arguments.items() if value not in UNSET or name == "query"}
            return self._verbs[verb](self.accounts.principal(actor), given)
        except MemvouchError as error:
            return _refused(error)

    def may_read(self, actor: str | None, space: str) -> bool:
        return self.accounts.may_read(actor, space)

    def count_tokens(self, text: str) -> int:
        return count_tokens(text)

    def _search(self, principal: Principal, given: dict[str, Any]) -> Reply:
        return _outcome(self.engine.search(principal, _query(given, Mode.STRICT)))

    def _recall(self, principal: Principal, given: dict[str, Any]) -> Reply:
        return _outcome(self.engine.search(principal, _query(given, Mode.FORGIVING)))

    def _recall_context(self, principal: Principal, given: dict[str, Any]) -> Reply:
        bounds = {name: int(given.pop(name)) for name in ("max_items", "max_tokens") if name in given}
        return _pack(self.engine.recall_context(principal, ContextQuery(query=_query(given, Mode.FORGIVING), **bounds)))

    def _remember(self, principal: Principal, given: dict[str, Any]) -> Reply:
        key = given.pop("idempotency_key", None)
        written = self.engine.remember(principal, _new_memory(given), idempotency_key=key)
        return _record(written.memory, status=written.status)

    def _update(self, principal: Principal, given: dict[str, Any]) -> Reply:
        memory_id, key = given.pop("memory_id"), given.pop("idempotency_key", None)
        patch = MemoryPatch(**_typed(given))
        return _record(self.engine.update(principal, memory_id, patch, idempotency_key=key))

    def _forget(self, principal: Principal, given: dict[str, Any]) -> Reply:
        mode = ForgetMode(given.get("mode", ForgetMode.SOFT))
        self.engine.forget(principal, given["memory_id"], mode, reason=given.get("reason"))
        return Reply("ok", record_id=given["memory_id"], http=200)

    def _restore(self, principal: Principal, given: dict[str, Any]) -> Reply:
        return _record(self.engine.restore(principal, given["memory_id"]))

    def _get(self, principal: Principal, given: dict[str, Any]) -> Reply:
        return _record(self.engine.get(principal, given["memory_id"]))

    def _history(self, principal: Principal, given: dict[str, Any]) -> Reply:
        versions = self.engine.versions(principal, given["memory_id"])
        hits = tuple(Shown(version.memory_id, version.content) for version in versions)
        return Reply("ok" if hits else "no_match", hits, text=repr(versions), http=200, raw=versions)

    def _list(self, principal: Principal, given: dict[str, Any]) -> Reply:
        query = ListQuery(spaces=_spaces(given), filters=_filters(given), limit=int(given.get("limit", 100)))
        page = self.engine.list_memories(principal, query)
        hits = tuple(Shown(memory.id, memory.content) for memory in page.memories)
        return Reply("ok", hits, text=repr(page), facts={"total": page.total}, http=200, raw=page)

    def _explain(self, principal: Principal, given: dict[str, Any]) -> Reply:
        explained = self.engine.explain(principal, given["memory_id"], given.get("query"))
        return Reply("ok", record_id=given["memory_id"], text=repr(explained), http=200, raw=explained)


def _query(given: Mapping[str, Any], mode: Mode) -> Query:
    if "query" not in given:
        raise InvalidRequest("query is missing", field="query")
    return Query(
        text=given["query"],
        mode=mode,
        limit=int(given.get("limit", 5)),
        spaces=_spaces(given),
        filters=_filters(given),
        prefer_working=bool(given.get("prefer_working", False)),
        explain=bool(given.get("explain", False)),
        min_confidence=given.get("min_confidence"),
    )


def _spaces(given: Mapping[str, Any]) -> tuple[str, ...]:
    return (given["space"],) if "space" in given else tuple(given.get("spaces", ()))


def _filters(given: Mapping[str, Any]) -> Filters:
    names = {field.name for field in fields(Filters)}
    return Filters(**{name: value for name, value in given.items() if name in names})


def _draft(row: Row) -> NewMemory:
    """The row as a memory; tags are no field of ours and are kept in the metadata."""
    given = {key: value for key, value in resolved(dict(row.fields), {}).items() if key != "tags"}
    return _new_memory({**given, "space": row.space, "metadata": {"tags": row.fields.get("tags", [])}})


def _new_memory(given: Mapping[str, Any]) -> NewMemory:
    return NewMemory(**_typed(given))


def _typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values as the engine's types."""
    typed = dict(given)
    if "memory_type" in typed:
        try:
            typed["memory_type"] = MemoryType(typed["memory_type"])
        except ValueError:
            raise InvalidRequest(f"unknown memory_type {typed['memory_type']!r}", field="memory_type") from None
    if "expires_at" in typed:
        typed["expires_at"] = datetime.fromisoformat(typed["expires_at"])
    return typed


def _outcome(outcome: Matches | NoMatch) -> Reply:
    """A search's answer; everything that a caller could be shown is in `text`."""
    hits = outcome.hits if isinstance(outcome, Matches) else ()
    facts: dict[str, Any] = {
        "threshold": outcome.threshold,
        "considered": outcome.considered,
        "notes": outcome.notes,
        "degraded": outcome.degraded,
        "hits": [_hit_facts(hit) for hit in hits],
        "trace": [(each.memory_id, _rounded(each.confidence), each.verdict, each.reasons) for each in outcome.trace],
    }
    if isinstance(outcome, NoMatch):
        facts |= {
            "reason": outcome.reason.value,
            "best": _rounded(outcome.best_confidence),
            "missing": outcome.missing_identifiers,
        }
    status = "ok" if hits else "no_match"
    return Reply(status, _shown(hits), text=repr(outcome), facts=facts, http=200, raw=outcome)


def _pack(pack: ContextPack) -> Reply:
    """A pack's answer: that rows matched and none fitted is an answer, not a no-match.

    Token counts are no facts to compare: a block holds the record's id, and ids differ in length.
    """
    facts = {
        "matched": pack.matched,
        "left_out": [(each.memory_id, each.why) for each in pack.left_out],
        "items": [(item.hit.memory.id, item.truncated) for item in pack.items],
    }
    return Reply(
        status="ok" if pack.items or pack.matched else "no_match",
        hits=_shown([item.hit for item in pack.items]),
        text=repr(pack),
        facts=facts,
        rendered=pack.text,
        reported_tokens=pack.tokens,
        http=200,
        raw=pack,
    )


def _record(memory: Memory, status: WriteStatus | None = None) -> Reply:
    facts = {"status": status.value if status else None, "version": memory.version}
    shown = (Shown(memory.id, memory.content),)
    return Reply("ok", shown, memory.id, text=repr(memory), facts=facts, http=200, raw=memory)


def _refused(error: MemvouchError) -> Reply:
    http = next(status for kind, status in HTTP_STATUS if isinstance(error, kind))
    facts = {"error": type(error).__name__, "message": str(error)}
    return Reply("error", text=f"{type(error).__name__}: {error}", facts=facts, http=http, raw=error)


def _shown(hits: Sequence[Hit]) -> tuple[Shown, ...]:
    return tuple(Shown(hit.memory.id, hit.memory.content, hit.confidence) for hit in hits)


def _hit_facts(hit: Hit) -> tuple[Any, ...]:
    return hit.memory.id, _rounded(hit.confidence), hit.label, hit.reasons, _plain(hit.signals)


def _rounded(value: float) -> float:
    return round(value, 6)


def _plain(value: Any) -> Any:
    """A value with numbers rounded and sets in order, so that its text can be compared."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
