"""Markdown to memories: one for each section that has text of its own.

A file is cut at its headings (those of the document itself, not of quotes or lists, and none inside
code fences). A section's memory begins with the chain of headings above it (`Setup › Linux`), its
path is `<folder>/<file>/<heading>/...`, and its semantic key is made of the file's place on disk
and the chain: importing the folder again after an edit brings a new version of the section, not a
second memory. Front matter (`---` ... `---` at the top) goes to the metadata.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from engine.domain.memory import PATH_LIMIT_CHARACTERS, NewMemory
from engine.upkeep.portable.drafts import (
    Draft,
    ImportDefaults,
    Item,
    Refusal,
    Skipped,
    SkipReason,
    checked_content,
    digest,
)

SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class MarkdownFiles:
    """What a folder holds: the files to read, sorted, their bytes, and how many others there are.

    `name` is the folder's own name, the first segment of its memories' paths; empty for one file.
    """

    root: Path
    name: str
    files: tuple[Path, ...]
    total_bytes: int
    others: int


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file below one chain of headings, outermost first."""

    headings: tuple[str, ...]
    body: str
    line: int


def markdown_files(root: Path) -> MarkdownFiles:
    """Every Markdown file at or below `root`, hidden folders left out; symbolic links are not followed."""
    if root.is_file():
        return MarkdownFiles(root.parent, "", (root,), root.stat().st_size, 0)
    files: list[Path] = []
    others = 0
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix.casefold() in SUFFIXES and not name.startswith("."):
                files.append(path)
            else:
                others += 1
    return MarkdownFiles(root, root.resolve().name, tuple(files), sum(path.stat().st_size for path in files), others)


def read_markdown(found: MarkdownFiles, defaults: ImportDefaults) -> Iterator[Item]:
    """The items of all files, file by file."""
    base = defaults.path or found.name
    offset = 0
    for path in found.files:
        relative = path.relative_to(found.root).as_posix()
        raw = path.read_bytes()
        offset += len(raw)
        try:
            text = _decoded(raw)
        except Refusal as refusal:
            yield Skipped(position=relative, reason=refusal.reason, detail=refusal.detail, offset=offset)
            continue
        yield from _File(path.resolve(), relative, base, defaults, offset).read(text)


def _decoded(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal(SkipReason.NOT_TEXT, f"it is not UTF-8 (byte {error.start + 1})") from None
    if not text.strip():
        raise Refusal(SkipReason.EMPTY, "there is no text in it")
    return text


@dataclass(frozen=True, slots=True)
class _File:
    """One file on its way into drafts."""

    absolute: Path
    relative: str
    base: str
    defaults: ImportDefaults
    offset: int

    def read(self, text: str) -> Iterator[Item]:
        front_matter, body = split_front_matter(text)
        found = sections(body)
        seen: dict[tuple[str, ...], int] = {}
        parents = {section.headings[: depth + 1] for section in found for depth in range(len(section.headings) - 1)}
        for section in found:
            times = seen[section.headings] = seen.get(section.headings, 0) + 1
            if not section.body.strip() and section.headings in parents:
                continue
            position = _SEPARATOR.join((self.relative, *section.headings))
            try:
                yield self._draft(section, times, front_matter, position)
            except Refusal as refusal:
                yield Skipped(position=position, reason=refusal.reason, detail=refusal.detail, offset=self.offset)
        if not found:
            yield Skipped(
                position=self.relative,
                reason=SkipReason.EMPTY,
                detail="there is no text below its front matter",
                offset=self.offset,
            )

    def _draft(self, section: Section, times: int, front_matter: str | None, position: str) -> Draft:
        if not section.body.strip():
            raise Refusal(SkipReason.EMPTY, "there is no text below its heading")
        title = _SEPARATOR.join(section.headings)
        body = section.body.strip()
        key = digest((self.absolute.as_posix(), section.headings, times))
        new = NewMemory(
            content=checked_content(f"{title}\n\n{body}" if title else body),
            path=_path(self.base, self.relative, section.headings),
            memory_type=self.defaults.memory_type,
            bucket=self.defaults.bucket or "work",
            scope=self.defaults.scope,
            semantic_key=f"markdown:{key}",
            source=self.defaults.source or "markdown",
            source_id=self.relative,
            dedupe=False,
            metadata={"front_matter": front_matter} if front_matter else {},
        )
        fingerprint = digest((asdict(new),))
        return Draft(position=position, memory=new, identity=key, fingerprint=fingerprint, offset=self.offset)


def split_front_matter(text: str) -> tuple[str | None, str]:
    """(front matter without its fences or `None`, the rest)."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return None, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return "".join(lines[1:number]).strip() or None, "".join(lines[number + 1 :])
    return None, text


def sections(text: str) -> tuple[Section, ...]:
    """The document cut at its headings, in order; text before the first has no headings.

    Together the bodies hold every line but the headings themselves.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    marks = _headings("\n".join(lines))
    opening = "\n".join(lines[: marks[0][0]] if marks else lines)
    found = [Section((), opening, 1)] if opening.strip() else []
    chain: list[tuple[int, str]] = []
    for position, (start, end, level, title) in enumerate(marks):
        chain = [above for above in chain if above[0] < level] + [(level, title)]
        until = marks[position + 1][0] if position + 1 < len(marks) else len(lines)
        found.append(Section(tuple(name for _, name in chain), "\n".join(lines[end:until]), start + 1))
    return tuple(found)


def _headings(text: str) -> list[tuple[int, int, int, str]]:
    """(first line, line after, level, title) of the document's own headings."""
    from markdown_it import MarkdownIt  # only for Markdown: it would slow down every start of the command

    tokens = MarkdownIt("commonmark").parse(text)
    marks = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map is not None:
            title = " ".join(inline.content.split()) or "untitled"
            marks.append((opening.map[0], opening.map[1], int(opening.tag[1:]), title))
    return marks


def _path(base: str, relative: str, headings: tuple[str, ...]) -> str:
    """Path of a section, cut to what a path may hold; a slash inside a heading is no separator."""
    stem = relative.rpartition(".")[0] or relative
    parts = [base.rstrip("/"), stem, *(title.replace("/", "-") for title in headings)]
    return "/".join(part for part in parts if part)[:PATH_LIMIT_CHARACTERS].rstrip("/ ")
