"""Domain values for a person's eyes.

Stored text is printed as text, never as markup, and without control characters: a memory must not
be able to move the cursor or recolour the screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import assert_never

from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.domain.memory import Memory, MemoryVersion
from engine.domain.outcome import (
    Considered,
    ContextPack,
    Hit,
    Label,
    Matches,
    Nearest,
    NoMatch,
    NoMatchReason,
    Outcome,
    Verdict,
)

EXCERPT_CHARACTERS = 400
_LISTED_CHARACTERS = 120
_NAMED = 4
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LABEL_STYLES = {Label.STRONG: "bold green", Label.LIKELY: "green", Label.WEAK: "yellow"}
_VERDICT_WORDS = {
    Verdict.RETURNED: "returned",
    Verdict.BELOW_THRESHOLD: "below the threshold",
    Verdict.IDENTIFIER_ABSENT: "lacks the identifier",
    Verdict.BEYOND_LIMIT: "beyond the limit",
    Verdict.DUPLICATE: "a duplicate",
}
SpaceNames = Mapping[str, str]
"""Names of the caller's spaces by id; places are shown with their space when there are several."""


def visible(text: str) -> str:
    """The text with control and direction-changing characters made visible."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def when(moment: datetime | None) -> str:
    """A time in the user's zone, to the minute; `-` for none."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment else "-"


def place(memory: Memory, names: SpaceNames) -> str:
    """Where a memory lies."""
    path = visible(memory.path)
    return f"{visible(names.get(memory.space_id, memory.space_id))}: {path}" if len(names) > 1 else path


def excerpt(hit: Hit, *, full: bool) -> str:
    """The content, or the passage that matched with `…` where something is left out."""
    content = hit.memory.content
    if full or len(content) <= EXCERPT_CHARACTERS:
        return content
    start, end = hit.passage.start, min(hit.passage.end, hit.passage.start + EXCERPT_CHARACTERS)
    return f"{'…' if start else ''}{content[start:end].strip()}{'…' if end < len(content) else ''}"


def show_outcome(
    console: Console,
    outcome: Outcome,
    question: str,
    names: SpaceNames,
    *,
    strict: bool,
    full: bool = False,
    ids: bool = True,
) -> None:
    """Hits in order, or why there are none and what to do next; then the trace if there is one."""
    for degraded in outcome.degraded:
        console.print(Text(f"The {degraded.leg} leg failed: {visible(degraded.reason)}", style="red"))
    for note in outcome.notes:
        console.print(Text(visible(note), style="dim"))
    match outcome:
        case Matches():
            for rank, hit in enumerate(outcome.hits, start=1):
                show_hit(console, rank, hit, names, full=full, ids=ids)
            if not strict and all(hit.label is Label.WEAK for hit in outcome.hits):
                console.print(Text("All of these are weak: nearest in meaning, probably no answer.", style="yellow"))
        case NoMatch():
            show_no_match(console, outcome, question, strict=strict)
        case _:
            assert_never(outcome)
    if outcome.trace:
        show_trace(console, outcome.trace, outcome.threshold)


def show_hit(console: Console, rank: int, hit: Hit, names: SpaceNames, *, full: bool = False, ids: bool = True) -> None:
    """One answer: how sure, where, what, why."""
    memory = hit.memory
    head = Text(f"{rank}. ")
    head.append(f"{hit.confidence:.2f} {hit.label}", style=_LABEL_STYLES[hit.label])
    head.append(f"  {place(memory, names)}", style="bold")
    if memory.event_time:
        head.append(f"  {when(memory.event_time)}", style="dim")
    console.print(head)
    text = Text(visible(excerpt(hit, full=full)))
    text.highlight_words([visible(each) for each in hit.signals.matched_terms], "bold", case_sensitive=False)
    print_indented(console, text)
    start, end = hit.passage.start, hit.passage.end
    if not full and len(memory.content) > EXCERPT_CHARACTERS:
        place_of_it = f"matched at characters {start}-{end} of {len(memory.content)}"
        print_indented(console, Text(place_of_it, style="dim"))
    if hit.reasons:
        print_indented(console, Text(visible(" · ".join(hit.reasons)), style="dim"))
    if ids:
        print_indented(console, Text(memory.id, style="dim"))


def show_no_match(console: Console, outcome: NoMatch, question: str, *, strict: bool) -> None:
    """The plain answer that nothing stored answers, why, and the next step."""
    console.print(
        Text("No match.", style="bold yellow").append(f" {_why(outcome, question)}", style="not bold default")
    )
    rows = [("reason", outcome.reason.value)]
    if strict and outcome.considered:
        rows.append(("best found", f"{outcome.best_confidence:.2f} of {outcome.considered} considered"))
        rows.append(("threshold", f"{outcome.threshold:.2f}"))
    if outcome.nearest is not None:
        rows.append(("nearest", _nearness(outcome.nearest, question)))
    steps = _next_steps(outcome, question, strict=strict)
    rows += [("" if number else "next", step) for number, step in enumerate(steps)]
    print_facts(console, rows, margin=3)


def print_facts(console: Console, rows: Sequence[tuple[str, str]], *, margin: int = 0) -> None:
    """Names and values, one pair a line, the values in one column."""
    width = margin + max(len(name) for name, _ in rows) + 2
    for name, value in rows:
        print_indented(console, Text(visible(value)), first=Text(f"{' ' * margin}{name}".ljust(width), style="dim"))


def print_indented(console: Console, text: Text, first: Text | None = None) -> None:
    """The text with a margin; `first` is printed in the first line's margin and sets its width."""
    head = first or Text("   ")
    for line in text.wrap(console, max(console.width - head.cell_len, 20)):
        line.rstrip()
        console.print(Text.assemble(head, line))
        head = Text(" " * head.cell_len)


def _why(outcome: NoMatch, question: str) -> str:
    match outcome.reason:
        case NoMatchReason.EMPTY_SPACE:
            return "Nothing is stored there yet."
        case NoMatchReason.FILTERED_OUT:
            return "Memories are stored, but none passes the filters."
        case NoMatchReason.IDENTIFIER_ABSENT:
            missing = ", ".join(_as_asked(each, question) for each in outcome.missing_identifiers)
            return f"No stored memory holds {missing or 'the identifier of the question'}."
        case NoMatchReason.BELOW_THRESHOLD:
            return "What is stored near it does not answer it with enough confidence."
        case _:
            assert_never(outcome.reason)


def _nearness(nearest: Nearest, question: str) -> str:
    """Where the nearest record lies and what of the question it speaks of, in one sentence."""
    speaks = ", ".join(repr(each) for each in nearest.matched[:_NAMED])
    lacks = ", ".join(repr(_as_asked(each, question)) for each in nearest.missing[:_NAMED])
    told = [f"speaks of {speaks}" if speaks else "", f"nothing about {lacks}" if lacks else "no sure answer"]
    return f"{nearest.path} ({nearest.confidence:.2f}): {'; '.join(filter(None, told))}"


def _as_asked(identifier: str, question: str) -> str:
    """A folded identifier in the spelling of the question."""
    found = re.search(re.escape(identifier), question, re.IGNORECASE)
    return visible(found[0] if found else identifier)


def _next_steps(outcome: NoMatch, question: str, *, strict: bool) -> list[str]:
    match outcome.reason:
        case NoMatchReason.EMPTY_SPACE:
            return ["memvouch remember TEXT stores one memory, memvouch import FILE many"]
        case NoMatchReason.FILTERED_OUT:
            return ["leave out a filter, or see what there is with memvouch list"]
        case NoMatchReason.IDENTIFIER_ABSENT | NoMatchReason.BELOW_THRESHOLD:
            if not strict:
                return ["memvouch list shows what is stored"]
            quoted = '"' + visible(question).replace("\\", "\\\\").replace('"', '\\"') + '"'
            return [
                f"memvouch recall {quoted} shows the nearest memories, labelled with how sure they are",
                "--explain tells why each candidate was rejected, --min-confidence sets another threshold",
            ]
        case _:
            assert_never(outcome.reason)


def show_trace(console: Console, trace: Sequence[Considered], threshold: float) -> None:
    """Every record that was considered, best first, with the reasons of its verdict."""
    console.print()
    console.print(Text(f"Considered (threshold {threshold:.2f})", style="bold"))
    table = Table(box=None, pad_edge=False, header_style="dim")
    paired = any(each.signals.pair is not None for each in trace)
    signals = ("cosine", "bm25", "coverage", *(("pair",) if paired else ()))
    for heading in ("confidence", "verdict", "path", *signals, "reasons"):
        table.add_column(heading, no_wrap=heading != "reasons", overflow="ellipsis" if heading == "path" else "fold")
    for each in trace:
        table.add_row(
            f"{each.confidence:.2f}",
            Text(_VERDICT_WORDS[each.verdict], style="green" if each.verdict is Verdict.RETURNED else "dim"),
            Text(visible(each.path)),
            _two_places(each.signals.dense),
            f"{each.signals.lexical:.1f}",
            f"{each.signals.coverage:.2f}",
            *([_two_places(each.signals.pair)] if paired else []),
            Text(visible(" · ".join(each.reasons))),
        )
    console.print(table)


def _two_places(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def show_pack_notes(console: Console, pack: ContextPack) -> None:
    """What a person wants to know beside a pack's text."""
    console.print(
        f"{len(pack.items)} of {pack.matched} memories, {pack.tokens} of {pack.max_tokens} tokens ({pack.tokenizer})"
    )
    counts: dict[str, int] = {}
    for each in pack.left_out:
        counts[each.why.value] = counts.get(each.why.value, 0) + 1
    if counts:
        console.print("left out or cut: " + ", ".join(f"{count} {why}" for why, count in counts.items()))
    for degraded in pack.degraded:
        console.print(f"the {degraded.leg} leg failed: {visible(degraded.reason)}", markup=False)


def show_memory(console: Console, memory: Memory, names: SpaceNames) -> None:
    """All that is known of one memory: its text, then its fields."""
    console.print(Text(visible(memory.content)))
    console.print()
    print_facts(console, _facts(memory, names))


def _facts(memory: Memory, names: SpaceNames) -> list[tuple[str, str]]:
    rows = [
        ("id", memory.id),
        ("space", names.get(memory.space_id, memory.space_id)),
        ("path", memory.path),
        ("type", memory.memory_type.value),
        ("kind", memory.kind.value),
        ("status", memory.status.value),
        ("bucket", memory.bucket),
        ("version", str(memory.version)),
        ("created", when(memory.created_at)),
        ("updated", when(memory.updated_at)),
    ]
    optional: list[tuple[str, object]] = [
        ("scope", memory.scope),
        ("team", memory.team_id),
        ("event time", when(memory.event_time) if memory.event_time else None),
        ("expires", when(memory.expires_at) if memory.expires_at else None),
        ("due", when(memory.due_at) if memory.due_at else None),
        ("importance", memory.importance),
        ("belief", memory.confidence),
        ("semantic key", memory.semantic_key),
        ("state key", memory.state_key),
        ("source", memory.source),
        ("source id", memory.source_id),
        ("agent", memory.agent_id),
        *(("metadata", f"{key} = {value}") for key, value in memory.metadata.items()),
        *(("provenance", f"{key} = {value}") for key, value in memory.provenance.items()),
    ]
    return rows + [(name, str(value)) for name, value in optional if value is not None]


def show_versions(console: Console, versions: Sequence[MemoryVersion]) -> None:
    """Former states, newest first."""
    for each in versions:
        console.print(
            Text(f"version {each.version}, until {when(each.recorded_at)}, {visible(each.path)}", style="dim")
        )
        print_indented(console, Text(visible(each.content)))


def show_memories(console: Console, memories: Sequence[Memory], names: SpaceNames) -> None:
    """A list: what identifies each memory on one line, the beginning of its text on the next."""
    for memory in memories:
        head = Text(memory.id, style="dim")
        head.append(f"  {when(memory.created_at)}  {memory.memory_type}  ")
        head.append(place(memory, names), style="bold not dim")
        console.print(head)
        beginning = " ".join(visible(memory.content[:EXCERPT_CHARACTERS]).split())
        room = min(console.width, _LISTED_CHARACTERS) - 3
        console.print(Text(f"   {beginning if len(beginning) <= room else beginning[: room - 1] + '…'}"))
