"""One opened engine for one command.

Commands know only `Verbs`: the part of the engine's surface that the terminal uses. Whatever has
these verbs can stand behind them, an engine in this process or a client of a running host.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from cli.console import State
from engine.domain.access import Principal, ReadableSpace, Space
from engine.domain.calibration import CalibrationReport, Keep, LabelledQuestion
from engine.domain.memory import (
    ForgetMode,
    Memory,
    MemoryPatch,
    MemoryVersion,
    NewMemory,
    StateUpdate,
    Written,
)
from engine.domain.outcome import ContextPack, Explanation, Outcome, Page
from engine.domain.query import ContextQuery, ListQuery, Query
from engine.errors import SetupError

if TYPE_CHECKING:
    from engine.settings import Settings
    from engine.upkeep.doctor import Report
    from engine.upkeep.stats import SpaceStats


class Verbs(Protocol):
    """What a command may ask for; see `engine.engine.Engine` for each verb's meaning."""

    def create_space(
        self,
        principal: Principal,
        name: str,
        *,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        team_id: str | None = None,
    ) -> Space: ...

    def spaces(self, principal: Principal) -> list[ReadableSpace]: ...

    def space(self, principal: Principal, ref: str) -> ReadableSpace: ...

    def delete_space(self, principal: Principal, ref: str) -> Space: ...

    def remember(self, principal: Principal, new: NewMemory, *, idempotency_key: str | None = None) -> Written: ...

    def remember_many(self, principal: Principal, news: Sequence[NewMemory]) -> list[Written]: ...

    def update(
        self, principal: Principal, memory_id: str, patch: MemoryPatch, *, idempotency_key: str | None = None
    ) -> Memory: ...

    def forget(
        self,
        principal: Principal,
        memory_id: str,
        mode: ForgetMode = ForgetMode.SOFT,
        *,
        reason: str | None = None,
        replacement: str | None = None,
    ) -> Memory | None: ...

    def restore(self, principal: Principal, memory_id: str) -> Memory: ...

    def update_state(
        self, principal: Principal, update: StateUpdate, *, idempotency_key: str | None = None
    ) -> Written: ...

    def search(self, principal: Principal, query: Query) -> Outcome: ...

    def recall_context(self, principal: Principal, query: ContextQuery) -> ContextPack: ...

    def get(self, principal: Principal, memory_id: str) -> Memory: ...

    def versions(self, principal: Principal, memory_id: str) -> list[MemoryVersion]: ...

    def list_memories(self, principal: Principal, query: ListQuery) -> Page: ...

    def explain(self, principal: Principal, memory_id: str, query_text: str | None = None) -> Explanation: ...

    def stats(self, principal: Principal, spaces: Sequence[str] = ()) -> Sequence[SpaceStats]: ...

    def doctor(self, *, repair: bool = False) -> Report: ...

    def reindex(self, progress: Callable[[int, int], None] | None = None) -> int: ...

    def calibrate(
        self,
        principal: Principal,
        questions: Sequence[LabelledQuestion],
        *,
        keep: Keep = Keep.IF_BETTER,
        progress: Callable[[int, int], None] | None = None,
    ) -> CalibrationReport: ...

    def reset_calibration(self, principal: Principal) -> bool: ...


def settings_of(state: State) -> Settings:
    """Settings from the environment, the folder from `--data-dir` if given.

    Raises `SetupError` for a variable that does not parse.
    """
    from pydantic import ValidationError

    from engine.settings import Settings

    try:
        return Settings() if state.data_dir is None else Settings(data_dir=state.data_dir)
    except ValidationError as error:
        first = error.errors()[0]
        name = "MEMVOUCH_" + "_".join(map(str, first["loc"])).upper()
        raise SetupError(f"{name} cannot be used: {first['msg']}") from None


@contextmanager
def session(state: State, *, for_reindex: bool = False) -> Iterator[tuple[Verbs, Principal]]:
    """The verbs of the data folder and its local owner.

    The folder's host answers if one lives, and one is started if none does; with `--in-process`, on a
    system without Unix sockets, and for a reindex of a folder without a host, the engine runs in this
    process. Raises what `Engine.open` raises, and `Unavailable` if no host comes up.
    """
    from api.host.start import living_socket

    settings = settings_of(state)
    alone = for_reindex and living_socket(settings.data_dir) is None
    if alone or state.in_process or not hasattr(socket, "AF_UNIX"):
        from engine.engine import Engine

        with Engine.open(settings, for_reindex=for_reindex) as engine:
            yield engine, engine.local_owner()
        return
    from api.host.remote import RemoteEngine

    with RemoteEngine(settings.data_dir) as remote:
        yield remote, remote.local_owner()


def space_names(verbs: Verbs, principal: Principal) -> dict[str, str]:
    """Names of the caller's spaces by id."""
    return {each.space.id: each.space.name for each in verbs.spaces(principal)}
