"""Reading records of one kind: by id, and in pages with conditions that only metadata can answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from engine.domain.access import Principal
from engine.domain.memory import Kind, Memory
from engine.domain.query import Filters, ListQuery, TimeAxis, TimeOrder
from engine.engine import Engine
from engine.errors import InvalidRequest, NotFound

PAGE = 200
MAX_LIMIT = 500


def of_kind(engine: Engine, principal: Principal, kind: Kind, memory_id: str) -> Memory:
    """A record of this kind. One of another kind is `NotFound`, like a missing one."""
    memory = engine.get(principal, memory_id)
    if memory.kind is not kind:
        raise NotFound("Memory not found")
    return memory


def newest(
    engine: Engine,
    principal: Principal,
    kind: Kind,
    *,
    filters: Filters,
    spaces: tuple[str, ...] = (),
    limit: int = 20,
    order_by: TimeAxis = TimeAxis.CREATED,
    keep: Callable[[Memory], bool] | None = None,
) -> list[Memory]:
    """Up to `limit` (0..500) records of a kind that meet the filters and `keep`, newest first."""
    if not 0 <= limit <= MAX_LIMIT:
        raise InvalidRequest(f"limit must lie between 0 and {MAX_LIMIT}", field="limit")
    query = ListQuery(
        spaces=spaces,
        filters=replace(filters, kinds=frozenset({kind})),
        limit=PAGE,
        order_by=order_by,
        order=TimeOrder.DESCENDING,
    )
    found: list[Memory] = []
    for memory in _all(engine, principal, query) if limit else ():
        if keep is None or keep(memory):
            found.append(memory)
            if len(found) == limit:
                break
    return found


def _all(engine: Engine, principal: Principal, query: ListQuery) -> Iterator[Memory]:
    while True:
        page = engine.list_memories(principal, query)
        yield from page.memories
        if page.next_offset is None:
            return
        query = replace(query, offset=page.next_offset)
