"""What a door into the product must offer so that field cases can be run through it.

A `Surface` opens a `World` for a case: its spaces and its actors with their rights, made for real.
Verbs are those of the cases (`search_memory`, `recall`, `recall_context`, `remember`, `update`,
`forget`, `get_memory`, `list_memories`, `history`, `explain`); arguments arrive as a caller would
send them, so refusing an unknown one is the surface's own duty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from tests.field_cases.cases import Row


class Arrangement(StrEnum):
    """How the rights of a case come about; the answers must not depend on it.

    `TOKENS`: one user owns everything and each actor holds a narrowed token. `TEAMS`: actors are
    users of one tenant and reach spaces as readers and writers of teams. `TENANTS`: each actor has
    a tenant of its own, so that foreign means another tenant.
    """

    TOKENS = "tokens"
    TEAMS = "teams"
    TENANTS = "tenants"


@dataclass(frozen=True, slots=True)
class Shown:
    """One record as a reply shows it, with its retrieval confidence (0..1) where it has one."""

    id: str
    content: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one step, in the terms of the cases.

    `status` is `ok`, `no_match` or `error`. `record_id` is the id that a write or a read by id
    gives back. `text` holds everything that the caller can see, so that a leak can be looked for.
    `facts` is the same in plain values without clock times, to compare two worlds. `http` is the
    status of the same answer over HTTP. `raw` is the surface's own answer.
    """

    status: str
    hits: tuple[Shown, ...] = ()
    record_id: str | None = None
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    rendered: str | None = None
    reported_tokens: int | None = None
    http: int | None = None
    raw: object = None

    @property
    def ids(self) -> list[str]:
        return [shown.id for shown in self.hits]


class World(Protocol):
    """The spaces and actors of one case, behind one surface."""

    def write(self, rows: Sequence[Row]) -> list[str]:
        """Store rows on behalf of somebody who may; ids in the order of `rows`."""

    def call(self, actor: str | None, verb: str, arguments: Mapping[str, Any]) -> Reply:
        """Do `verb` as `actor`; `None` is a caller who may write to every space of the case."""

    def may_read(self, actor: str | None, space: str) -> bool: ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` by the tokenizer that packs name."""


class Surface(Protocol):
    """A door into the product."""

    def world(
        self, spaces: Sequence[str], actors: Mapping[str, Mapping[str, str]], arrangement: Arrangement
    ) -> World: ...
