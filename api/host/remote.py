"""An engine that lives in the folder's host: the same verbs, called over the owner's socket.

If the host dies, a call that was under way is sent again (see `connection`), and that is safe: reads
change nothing, and every write carries what makes the second one harmless (an idempotency key, ids
chosen here, or a verb whose second run finds its work done).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from api.host import wire
from api.host.connection import HostConnection, is_repeat
from engine.domain.access import Principal, ReadableSpace, Space
from engine.domain.calibration import CalibrationReport, Keep, LabelledQuestion
from engine.domain.memory import ForgetMode, Memory, MemoryPatch, MemoryVersion, NewMemory, StateUpdate, Written
from engine.domain.outcome import ContextPack, Explanation, Outcome, Page
from engine.domain.query import ContextQuery, ListQuery, Query
from engine.errors import Conflict, MemvouchError, NotFound
from engine.upkeep.doctor import Report
from engine.upkeep.stats import SpaceStats


class RemoteEngine:
    """The verbs of `Engine` that local clients use. Close it, or use it as a context manager."""

    def __init__(self, data_dir: Path) -> None:
        """Finds or starts the host. Raises `Unavailable` if none comes up, `FolderBusy` if none can."""
        # No limit for an answer: a reindex takes what it takes, and a host that died closes its connections.
        self._connection = HostConnection(data_dir, timeout_seconds=None)
        self._connection.open()

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def local_owner(self) -> Principal:
        owner: Principal = self._call("local_owner")
        return owner

    # Spaces

    def create_space(
        self,
        principal: Principal,
        name: str,
        *,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        team_id: str | None = None,
    ) -> Space:
        fields = {"description": description, "metadata": metadata, "team_id": team_id}
        before = {each.space.id for each in self.spaces(principal)}

        def made_by_the_first_try(error: Conflict | NotFound) -> Space:
            for each in self.spaces(principal):
                if each.space.name == name.strip() and each.space.id not in before:
                    return each.space
            raise error

        space: Space = self._call("create_space", principal, name, on_repeat=made_by_the_first_try, **fields)
        return space

    def spaces(self, principal: Principal) -> list[ReadableSpace]:
        found: list[ReadableSpace] = self._call("spaces", principal)
        return found

    def space(self, principal: Principal, ref: str) -> ReadableSpace:
        found: ReadableSpace = self._call("space", principal, ref)
        return found

    def delete_space(self, principal: Principal, ref: str) -> Space:
        space = self.space(principal, ref).space
        gone: Space = self._call("delete_space", principal, space.id, on_repeat=lambda error: space)
        return gone

    # Writing

    def remember(self, principal: Principal, new: NewMemory, *, idempotency_key: str | None = None) -> Written:
        written: Written = self._call("remember", principal, new, idempotency_key=idempotency_key or _key())
        return written

    def remember_many(
        self, principal: Principal, news: Sequence[NewMemory], *, idempotency_key: str | None = None
    ) -> list[Written]:
        # A key costs a write even where nothing changes; most drafts are harmless without.
        if idempotency_key is None and any(new.state_key is not None for new in news):
            idempotency_key = _key()
        drafts = [_with_id(new) for new in news]
        written: list[Written] = self._call("remember_many", principal, drafts, idempotency_key=idempotency_key)
        return written

    def update(
        self, principal: Principal, memory_id: str, patch: MemoryPatch, *, idempotency_key: str | None = None
    ) -> Memory:
        memory: Memory = self._call("update", principal, memory_id, patch, idempotency_key=idempotency_key or _key())
        return memory

    def forget(
        self,
        principal: Principal,
        memory_id: str,
        mode: ForgetMode = ForgetMode.SOFT,
        *,
        reason: str | None = None,
        replacement: str | None = None,
    ) -> Memory | None:
        gone: Memory | None = self._call(
            "forget",
            principal,
            memory_id,
            mode,
            reason=reason,
            replacement=replacement,
            on_repeat=lambda error: None,
        )
        return gone

    def restore(self, principal: Principal, memory_id: str) -> Memory:
        memory: Memory = self._call("restore", principal, memory_id)
        return memory

    def update_state(self, principal: Principal, update: StateUpdate, *, idempotency_key: str | None = None) -> Written:
        written: Written = self._call("update_state", principal, update, idempotency_key=idempotency_key or _key())
        return written

    # Reading

    def search(self, principal: Principal, query: Query) -> Outcome:
        outcome: Outcome = self._call("search", principal, query)
        return outcome

    def recall_context(self, principal: Principal, query: ContextQuery) -> ContextPack:
        pack: ContextPack = self._call("recall_context", principal, query)
        return pack

    def get(self, principal: Principal, memory_id: str) -> Memory:
        memory: Memory = self._call("get", principal, memory_id)
        return memory

    def versions(self, principal: Principal, memory_id: str) -> list[MemoryVersion]:
        found: list[MemoryVersion] = self._call("versions", principal, memory_id)
        return found

    def list_memories(self, principal: Principal, query: ListQuery) -> Page:
        page: Page = self._call("list_memories", principal, query)
        return page

    def explain(self, principal: Principal, memory_id: str, query_text: str | None = None) -> Explanation:
        explanation: Explanation = self._call("explain", principal, memory_id, query_text)
        return explanation

    # Upkeep

    def stats(self, principal: Principal, spaces: Sequence[str] = ()) -> list[SpaceStats]:
        found: list[SpaceStats] = self._call("stats", principal, list(spaces))
        return found

    def doctor(self, *, repair: bool = False) -> Report:
        report: Report = self._call("doctor", repair=repair)
        return report

    def reindex(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Progress is not reported over the socket; reads go on meanwhile."""
        written: int = self._call("reindex")
        return written

    def calibrate(
        self,
        principal: Principal,
        questions: Sequence[LabelledQuestion],
        *,
        keep: Keep = Keep.IF_BETTER,
        progress: Callable[[int, int], None] | None = None,
    ) -> CalibrationReport:
        """Progress is not reported over the socket."""
        report: CalibrationReport = self._call("calibrate", principal, questions, keep=keep)
        return report

    def reset_calibration(self, principal: Principal) -> bool:
        existed: bool = self._call("reset_calibration", principal)
        return existed

    def _call(
        self,
        name: str,
        principal: Principal | None = None,
        *args: Any,
        on_repeat: Callable[[Conflict | NotFound], Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """One verb. `on_repeat` answers for a first try that had worked when its host was lost."""
        verb = wire.verb(name)
        body = {
            "principal": wire.PRINCIPAL.dump_python(principal, mode="json") if principal else None,
            "arguments": verb.bind(args, kwargs),
        }
        response = self._connection.post(f"/host/{name}", body)
        if response.status_code == 200:
            return verb.result.validate_json(_inner(response))
        error = _error(response)
        if on_repeat is not None and is_repeat(response) and isinstance(error, Conflict | NotFound):
            return on_repeat(error)
        raise error


def _inner(response: httpx.Response) -> bytes:
    """The JSON of `result`: the answer is `{"result":...}` as the route writes it."""
    return response.content[len(b'{"result":') : -1]


def _error(response: httpx.Response) -> MemvouchError:
    try:
        document = response.json()
    except ValueError:
        document = {"detail": f"HTTP {response.status_code}"}
    return wire.error_of(document)


def _key() -> str:
    return uuid.uuid4().hex


def _with_id(new: NewMemory) -> NewMemory:
    """A draft whose second arrival is seen as the same; drafts with an id or key of their own keep that."""
    if new.id is not None or new.dedupe or new.semantic_key is not None or new.state_key is not None:
        return new
    return replace(new, id=str(uuid.uuid4()))
