"""An import: drafts in, batched writes out, every item accounted for.

1. A draft's space is the one the import was told, else the one it names (made if missing), else the
   caller's own.
2. Its *entry* is a UUIDv5 of that space and of everything that was read. A journal in the data
   folder holds the entries of acknowledged writes; what stands there is not written again, even if
   it was forgotten meanwhile.
3. A draft without id and key of its own gets a UUIDv5 id, so that a batch whose acknowledgement was
   lost in a crash is recognised by the engine.
4. Batches go through `remember_many`. A batch that is refused is halved until the drafts at fault
   stand alone; those are reported, the rest is stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import TextIO, assert_never
from uuid import UUID, uuid5

from cli.session import Verbs
from engine.domain.access import Principal
from engine.domain.memory import MemoryPatch, NewMemory, Status, WriteStatus, Written
from engine.errors import AccessError, Conflict, InvalidRequest, MemvouchError, NotFound
from engine.upkeep.portable import Draft, Item, Skipped

BATCH = 128
BATCH_CHARACTERS = 131_072
"""A batch ends with this much text, however few its drafts: it is one request and one embedding run."""
_ENTRY_LENGTH = 36
_AT_FAULT = (InvalidRequest, Conflict, NotFound, AccessError)


@dataclass(frozen=True, slots=True)
class Left:
    """One thing of a source that was not stored, and why."""

    source: str
    position: str
    reason: str
    detail: str


@dataclass(slots=True)
class Tally:
    """What has become of everything so far."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    known: int = 0
    skipped: list[Left] = field(default_factory=list)
    notes: list[Left] = field(default_factory=list)
    new_spaces: list[str] = field(default_factory=list)

    @property
    def stored(self) -> int:
        """Memories that are in the store because of this or an earlier run."""
        return self.created + self.updated + self.unchanged + self.known

    @property
    def seen(self) -> int:
        return self.stored + len(self.skipped)

    @property
    def failed(self) -> bool:
        """Whether there was something and none of it is stored."""
        return bool(self.skipped) and not self.stored


class Journal:
    """Entries of one source that the engine has acknowledged, one a line, appended batch by batch.

    A line cut short by a crash is no entry; the engine recognises what it stood for.
    """

    def __init__(self, entries: set[str], file: TextIO) -> None:
        """Use `open_journal`."""
        self._entries = entries
        self._file = file

    def __contains__(self, entry: str) -> bool:
        return entry in self._entries

    def add(self, entries: Iterable[str]) -> None:
        fresh = [entry for entry in entries if entry not in self._entries]
        self._entries.update(fresh)
        self._file.write("".join(f"{entry}\n" for entry in fresh))
        self._file.flush()


@contextmanager
def open_journal(data_dir: Path, source: str, name: str, *, again: bool = False) -> Iterator[Journal]:
    """The journal of a source, known by its full name; `name` makes the file easy to recognise.

    `again` forgets what stands in it.
    """
    folder = data_dir / "imports"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    mark = blake2b(source.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)[:60]}-{mark}.journal"
    with path.open("w+" if again else "a+", encoding="ascii", errors="replace") as file:
        file.seek(0)
        lines = file.read().splitlines()
        yield Journal({line for line in lines if len(line) == _ENTRY_LENGTH}, file)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A draft on its way into a batch."""

    draft: Draft
    new: NewMemory
    entry: str


class Importer:
    """Writes the drafts of any number of sources and keeps the tally."""

    def __init__(self, verbs: Verbs, principal: Principal, *, space: str | None, now: datetime) -> None:
        """`space` sends everything there. Raises `NotFound` if the caller has no such space."""
        self.tally = Tally()
        self._verbs = verbs
        self._principal = principal
        self._now = now
        self._forced = verbs.space(principal, space).space.id if space else None
        self._spaces: dict[str | None, str] = {}

    def run(self, source: str, items: Iterable[Item], journal: Journal, progress: Callable[[int], None]) -> None:
        """Store what `items` hold. `progress` is told the offset up to which all is accounted for.

        Raises `Unavailable` and `SetupError`; the tally and the journal then stand where it stopped.
        """
        batch: list[_Ready] = []
        offset = reported = characters = 0
        for item in items:
            offset = item.offset
            if (ready := self._ready(source, item, journal)) is not None:
                batch.append(ready)
                characters += len(ready.new.content)
            is_full = len(batch) == BATCH or characters >= BATCH_CHARACTERS
            if is_full or (not batch and self.tally.seen - reported >= BATCH):
                self._store(source, batch, journal)
                batch, reported, characters = [], self.tally.seen, 0
                progress(offset)
        self._store(source, batch, journal)
        progress(offset)

    def _ready(self, source: str, item: Item, journal: Journal) -> _Ready | None:
        if isinstance(item, Skipped):
            self.tally.skipped.append(Left(source, item.position, item.reason.value, item.detail))
            return None
        if (lapsed := left_for_expiry(source, item, self._now)) is not None:
            self.tally.skipped.append(lapsed)
            return None
        new = item.memory
        try:
            space_id = self._space_id(new.space)
        except _AT_FAULT as error:
            self._refuse(source, item, error)
            return None
        entry = str(uuid5(UUID(space_id), item.fingerprint))
        if entry in journal:
            self.tally.known += 1
            return None
        self.tally.notes.extend(Left(source, item.position, "kept", note) for note in item.notes)
        own_id = new.id or (None if new.semantic_key or new.state_key else str(uuid5(UUID(space_id), item.identity)))
        return _Ready(item, replace(new, id=own_id, space=space_id), entry)

    def _space_id(self, name: str | None) -> str:
        """Id of the space that a draft goes to; one that it names and nobody has is made."""
        if self._forced is not None:
            return self._forced
        if name not in self._spaces:
            self._spaces[name] = self._default_space_id() if name is None else self._named_space_id(name)
        return self._spaces[name]

    def _default_space_id(self) -> str:
        if self._principal.default_space_id is not None:
            return self._principal.default_space_id
        writable = [each.space.id for each in self._verbs.spaces(self._principal) if each.can_write]
        if not writable:
            raise NotFound("there is no space to write to")
        return writable[0]

    def _named_space_id(self, name: str) -> str:
        try:
            return self._verbs.space(self._principal, name).space.id
        except NotFound:
            if _is_uuid(name):
                raise
        space = self._verbs.create_space(self._principal, name)
        self.tally.new_spaces.append(name)
        return space.id

    def _store(self, source: str, batch: Sequence[_Ready], journal: Journal) -> None:
        done = self._write(source, batch) if batch else []
        for ready, written in done:
            match written.status:
                case WriteStatus.CREATED:
                    self.tally.created += 1
                case WriteStatus.UPDATED:
                    self.tally.updated += 1
                case WriteStatus.UNCHANGED:
                    self.tally.unchanged += 1
                case _:
                    assert_never(written.status)
            if ready.draft.archived and written.memory.status is not Status.ARCHIVED:
                self._verbs.update(self._principal, written.memory.id, MemoryPatch(status=Status.ARCHIVED))
        journal.add(ready.entry for ready, _ in done)

    def _write(self, source: str, batch: Sequence[_Ready]) -> list[tuple[_Ready, Written]]:
        try:
            written = self._verbs.remember_many(self._principal, [ready.new for ready in batch])
            return list(zip(batch, written, strict=True))
        except _AT_FAULT as error:
            if len(batch) == 1:
                return self._write_alone(source, batch[0], error)
        middle = len(batch) // 2
        return self._write(source, batch[:middle]) + self._write(source, batch[middle:])

    def _write_alone(self, source: str, ready: _Ready, error: MemvouchError) -> list[tuple[_Ready, Written]]:
        """A draft that was refused: an id that is taken in another space is exchanged, all else is reported."""
        own_id = ready.draft.memory.id
        if isinstance(error, Conflict) and own_id is not None and ready.new.space is not None:
            other = replace(ready.new, id=str(uuid5(UUID(ready.new.space), own_id)))
            try:
                return [(ready, self._verbs.remember(self._principal, other))]
            except _AT_FAULT as second:
                error = second
        self._refuse(source, ready.draft, error)
        return []

    def _refuse(self, source: str, draft: Draft, error: MemvouchError) -> None:
        self.tally.skipped.append(Left(source, draft.position, "refused", str(error)))


def left_for_expiry(source: str, draft: Draft, now: datetime) -> Left | None:
    """Why a draft is left out whose time is over already; `None` if it is not."""
    if draft.memory.expires_at is None or draft.memory.expires_at > now:
        return None
    return Left(source, draft.position, "expired", "its time was over before the import")


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
