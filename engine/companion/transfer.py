"""Records out and in as pages of JSON Lines, the form of `engine/upkeep/portable`.

An export page ends early when it would grow large; `next_cursor` is where the next one begins. An
import page reads `limit` lines from line `cursor` on. A line that brings no UUID gets one that
follows from its space and its content, so the same page sent twice stores nothing twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from uuid import UUID, uuid5

from engine.domain.access import Principal
from engine.domain.memory import Kind, MemoryPatch, NewMemory, Status, WriteStatus, Written
from engine.domain.query import Filters, ListQuery, TimeAxis, TimeOrder
from engine.engine import Engine
from engine.errors import Conflict, InvalidRequest, MemvouchError
from engine.store import access, idempotency
from engine.upkeep.portable import Draft, ImportDefaults, LineForm, Skipped, export_line, read_lines

PAGE_BYTES = 1_500_000
"""Clients stop reading an answer at 2 MiB; this is the size of a page as JSON text, but for one large record."""
MAX_LINES = 5000
DEFAULT_BUCKET = "private"
_CHUNK = 200
_BATCH = 100
_AT_FAULT = (InvalidRequest, Conflict)
_LIVE = frozenset({Status.ACTIVE, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class ExportPage:
    """`jsonl` holds `count` of `total` records, each with its newline. `next_cursor` is `None` at the end."""

    jsonl: str
    count: int
    total: int
    next_cursor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """A page to import. `bucket` and `scope` overrule the lines' own; everything goes to one space."""

    jsonl: str
    cursor: int = 0
    limit: int = 500
    space: str | None = None
    bucket: str | None = None
    scope: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that was left out; `line` counts from 1 in the whole text."""

    line: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of the lines of one page. A dry run counts what it would write as `ready`."""

    lines: int
    ready: int
    created: int
    updated: int
    unchanged: int
    refused: tuple[Refused, ...]
    next_cursor: int | None


def export_page(
    engine: Engine,
    principal: Principal,
    *,
    filters: Filters,
    spaces: Sequence[str] = (),
    cursor: int = 0,
    limit: int = 500,
    max_bytes: int = PAGE_BYTES,
) -> ExportPage:
    """Records of all kinds, oldest first. Records removed while pages are turned shift those behind them."""
    names = {each.space.id: each.space.name for each in engine.spaces(principal)}
    query = ListQuery(
        spaces=tuple(spaces),
        filters=replace(filters, kinds=frozenset(Kind), statuses=_LIVE),
        order_by=TimeAxis.CREATED,
        order=TimeOrder.ASCENDING,
    )
    lines: list[str] = []
    size = total = 0
    while len(lines) < limit:
        chunk = min(_CHUNK, limit - len(lines))
        page = engine.list_memories(principal, replace(query, offset=cursor + len(lines), limit=chunk))
        total = page.total
        for memory in page.memories:
            line = export_line(memory, names[memory.space_id])
            size += len(json.dumps(line))
            if lines and size > max_bytes:
                return ExportPage("".join(lines), len(lines), total, cursor + len(lines))
            lines.append(line)
        if page.next_offset is None:
            return ExportPage("".join(lines), len(lines), total, None)
    return ExportPage("".join(lines), len(lines), total, cursor + len(lines))


def import_page(
    engine: Engine, principal: Principal, request: ImportRequest, *, idempotency_key: str | None = None
) -> ImportReport:
    """Store one page. The same key with the same page gives the first report again.

    Raises `InvalidRequest` without a key unless it is a dry run; `Conflict` for a key of another page.
    """
    if request.dry_run:
        return _Import(engine, principal, request).run()
    if not idempotency_key or not idempotency_key.strip():
        raise InvalidRequest("an import needs an idempotency_key, unless it is a dry run", field="idempotency_key")
    actor, operation = principal.token_id or principal.user_id, f"import:{request.cursor}"
    fingerprint = hashlib.sha256(
        json.dumps([request.jsonl, request.limit, request.space, request.bucket, request.scope]).encode()
    ).hexdigest()
    with engine.database.reading() as connection:
        kept = idempotency.remembered(connection, actor, operation, idempotency_key, fingerprint)
    if kept is not None:
        return ImportReport(**{**kept, "refused": tuple(Refused(**each) for each in kept["refused"])})
    report = _Import(engine, principal, request).run()
    with engine.database.writing() as connection:
        if idempotency.remembered(connection, actor, operation, idempotency_key, fingerprint) is None:
            idempotency.store(
                connection, actor, operation, idempotency_key, fingerprint, asdict(report), datetime.now(UTC)
            )
    return report


class _Import:
    """One page on its way in."""

    def __init__(self, engine: Engine, principal: Principal, request: ImportRequest) -> None:
        self._engine = engine
        self._principal = principal
        self._request = request
        self._counts = dict.fromkeys(WriteStatus, 0)
        self._refused: list[Refused] = []

    def run(self) -> ImportReport:
        lines = self._request.jsonl.split("\n")
        end = self._request.cursor + min(self._request.limit, MAX_LINES)
        page, rest = lines[self._request.cursor : end], lines[end:]
        space_id = self._space_id()
        drafts = self._drafts(page, space_id)
        if not self._request.dry_run:
            for start in range(0, len(drafts), _BATCH):
                self._store(drafts[start : start + _BATCH], space_id)
        return ImportReport(
            lines=sum(1 for line in page if line.strip()),
            ready=len(drafts),
            created=self._counts[WriteStatus.CREATED],
            updated=self._counts[WriteStatus.UPDATED],
            unchanged=self._counts[WriteStatus.UNCHANGED],
            refused=tuple(sorted(self._refused, key=lambda each: each.line)),
            next_cursor=end if any(line.strip() for line in rest) else None,
        )

    def _space_id(self) -> str:
        with self._engine.database.reading() as connection:
            if self._request.space is None:
                return access.default_space(connection, self._principal, write=True).space.id
            return access.resolve(connection, self._principal, [self._request.space], write=True)[0].space.id

    def _drafts(self, page: Sequence[str], space_id: str) -> list[tuple[Draft, NewMemory]]:
        stream = BytesIO("\n".join(page).encode("utf-8", "surrogatepass"))
        defaults = ImportDefaults(bucket=DEFAULT_BUCKET)
        drafts = []
        for item in read_lines(stream, defaults, name="import", form=LineForm.RECORDS):
            if isinstance(item, Skipped):
                self._refuse(item.position, item.reason.value, item.detail)
            elif item.memory.expires_at is not None and item.memory.expires_at <= datetime.now(UTC):
                self._refuse(item.position, "expired", "its time was over before the import")
            else:
                drafts.append((item, self._placed(item, space_id)))
        return drafts

    def _placed(self, draft: Draft, space_id: str) -> NewMemory:
        new = draft.memory
        keyed = new.semantic_key is not None or new.state_key is not None
        return replace(
            new,
            id=new.id or (None if keyed else str(uuid5(UUID(space_id), draft.identity))),
            space=space_id,
            bucket=self._request.bucket or new.bucket,
            scope=self._request.scope or new.scope,
        )

    def _store(self, batch: Sequence[tuple[Draft, NewMemory]], space_id: str) -> None:
        """All at once; if one is at fault, halves, until it stands alone."""
        try:
            written = self._engine.remember_many(self._principal, [new for _, new in batch])
        except _AT_FAULT as error:
            if len(batch) == 1:
                self._store_alone(*batch[0], space_id, error)
                return
            middle = len(batch) // 2
            self._store(batch[:middle], space_id)
            self._store(batch[middle:], space_id)
            return
        for (draft, _), each in zip(batch, written, strict=True):
            self._count(draft, each)

    def _store_alone(self, draft: Draft, new: NewMemory, space_id: str, error: MemvouchError) -> None:
        """An id that is taken in another space is exchanged; everything else is refused."""
        if isinstance(error, Conflict) and new.id is not None:
            try:
                exchanged = replace(new, id=str(uuid5(UUID(space_id), new.id)))
                self._count(draft, self._engine.remember(self._principal, exchanged))
                return
            except _AT_FAULT as second:
                error = second
        self._refuse(draft.position, "refused", str(error))

    def _count(self, draft: Draft, written: Written) -> None:
        self._counts[written.status] += 1
        if draft.archived and written.memory.status is not Status.ARCHIVED:
            self._engine.update(self._principal, written.memory.id, MemoryPatch(status=Status.ARCHIVED))

    def _refuse(self, position: str, reason: str, detail: str) -> None:
        number = int(position.rpartition(" ")[2]) + self._request.cursor
        self._refused.append(Refused(number, reason, detail))
