"""JSON Lines: one object a line, read one at a time and in bounded memory.

Every non-blank line yields exactly one item. A line that is no JSON object, is not UTF-8 or is
longer than `LINE_LIMIT_BYTES` is skipped with its number; reading goes on with the next line. A
memory that repeats an earlier one in every field is a duplicate. A turn that does is not: people
say "yes" twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, BinaryIO, NoReturn

from engine.upkeep.portable.drafts import Draft, ImportDefaults, Item, Refusal, Skipped, SkipReason
from engine.upkeep.portable.records import read_record
from engine.upkeep.portable.turns import is_turn, read_turn

LINE_LIMIT_BYTES = 8 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LineForm(StrEnum):
    """How to read an object: `AUTO` takes one with a role for a turn, any other for a memory."""

    AUTO = "auto"
    RECORDS = "records"
    CONVERSATION = "conversation"


def read_lines(
    stream: BinaryIO, defaults: ImportDefaults, *, name: str, form: LineForm = LineForm.AUTO
) -> Iterator[Item]:
    """The items of one stream. `name` is what its conversation is called (a file's stem)."""
    reader = _Reader(defaults, name, form)
    offset = 0
    for number, (raw, size) in enumerate(_raw_lines(stream), start=1):
        offset += size
        line = raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw
        if raw and not line.strip():
            continue
        position = f"line {number}"
        try:
            item: Item = reader.read(line, size, position, offset)
        except Refusal as refusal:
            item = Skipped(position=position, reason=refusal.reason, detail=refusal.detail, offset=offset)
        except RecursionError:
            too_deep = "its JSON is nested too deeply"
            item = Skipped(position=position, reason=SkipReason.BAD_JSON, detail=too_deep, offset=offset)
        yield item


def _raw_lines(stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Lines with their size in bytes; an oversized line comes as empty bytes with its real size."""
    while raw := stream.readline(LINE_LIMIT_BYTES + 1):
        size = len(raw)
        while len(raw) > LINE_LIMIT_BYTES and not raw.endswith(b"\n"):
            raw = stream.readline(LINE_LIMIT_BYTES + 1)
            size += len(raw)
            if not raw:
                break
        yield (raw, size) if size <= LINE_LIMIT_BYTES + 1 else (b"", size)


class _Reader:
    """Reads decoded lines and remembers what it has read, to tell duplicates."""

    def __init__(self, defaults: ImportDefaults, name: str, form: LineForm) -> None:
        self._defaults = defaults
        self._name = name
        self._form = form
        self._seen: dict[str, tuple[str, int]] = {}

    @property
    def read_none(self) -> bool:
        return not self._seen

    def read(self, line: bytes, size: int, position: str, offset: int) -> Draft:
        if not line:
            raise Refusal(SkipReason.TOO_LONG, f"the line has {size:,} bytes, more than {LINE_LIMIT_BYTES:,}")
        members = _decoded(line, array_hint=self.read_none)
        turn = self._form is LineForm.CONVERSATION or (self._form is LineForm.AUTO and is_turn(members))
        if turn:
            return self._numbered(read_turn(members, self._defaults, self._name, position, offset))
        draft = read_record(members, self._defaults, position, offset)
        first, _ = self._seen.setdefault(draft.fingerprint, (position, 1))
        if first != position:
            raise Refusal(SkipReason.DUPLICATE, f"it says the same as {first}")
        return draft

    def _numbered(self, draft: Draft) -> Draft:
        """A repeated turn gets an identity of its own; the first keeps the plain one."""
        first, times = self._seen.get(draft.fingerprint, (draft.position, 0))
        self._seen[draft.fingerprint] = (first, times + 1)
        if times == 0:
            return draft
        if draft.memory.id is not None or draft.identity != draft.fingerprint:
            raise Refusal(SkipReason.DUPLICATE, f"it has the id and the text of {first}")
        again = f"{draft.fingerprint}:{times + 1}"
        return replace(draft, identity=again, fingerprint=again)


def _decoded(line: bytes, *, array_hint: bool) -> Mapping[str, Any]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(SkipReason.NOT_TEXT, f"it is not UTF-8 (byte {error.start + 1})") from None
    hint = "; the file looks like one JSON array: `jq -c '.[]' FILE` turns it into JSON Lines"
    is_array = array_hint and text.lstrip().startswith("[")
    try:
        members = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise Refusal(
            SkipReason.BAD_JSON, f"{error.msg} at character {error.pos + 1}{hint if is_array else ''}"
        ) from None
    except ValueError as error:
        raise Refusal(SkipReason.BAD_JSON, str(error)) from None
    if not isinstance(members, dict):
        raise Refusal(SkipReason.BAD_FIELD, f"it is JSON, but not an object{hint if is_array else ''}")
    _refuse_what_no_store_holds(text, members)
    return members


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _refuse_what_no_store_holds(text: str, members: Mapping[str, Any]) -> None:
    """Half surrogate pairs and NUL come only from escapes; the look at the whole object is rare."""
    if "\\u" not in text:
        return
    flat = json.dumps(members, ensure_ascii=False)
    try:
        flat.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal(SkipReason.NOT_TEXT, "it holds half of a surrogate pair") from None
    if "\\u0000" in flat:
        raise Refusal(SkipReason.NOT_TEXT, "it holds a NUL character")
