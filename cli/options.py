"""Options that several commands share, and how their texts become values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

import typer

from cli.console import state_of
from engine.domain.memory import MAX_TTL_SECONDS, Status
from engine.domain.query import MATCH_ALL, Filters, TimeAxis, TimeWindow

_FILTERS = "Filters"
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class ReadStatus(StrEnum):
    """Which records a read shows."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    ANY = "any"


class TimeChoice(StrEnum):
    """Which time of a record `--since` and `--until` look at."""

    CREATED = "created"
    UPDATED = "updated"
    EVENT = "event"


_AXES = {TimeChoice.CREATED: TimeAxis.CREATED, TimeChoice.UPDATED: TimeAxis.UPDATED, TimeChoice.EVENT: TimeAxis.EVENT}
_STATUSES = {
    ReadStatus.ACTIVE: frozenset({Status.ACTIVE}),
    ReadStatus.ARCHIVED: frozenset({Status.ARCHIVED}),
    ReadStatus.ANY: frozenset({Status.ACTIVE, Status.ARCHIVED}),
}


def _remember_json(context: typer.Context, value: bool) -> bool:
    state_of(context).json = value
    return value


def duration(text: str) -> timedelta:
    """`90s`, `30m`, `2h`, `7d`, `2w`. Raises `typer.BadParameter`."""
    found = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip().casefold())
    if not found:
        raise typer.BadParameter(f"{text!r} is no duration; write 90s, 30m, 2h, 7d or 2w")
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]])


def moment(text: str) -> datetime:
    """An ISO date or time (local where it names no zone), or a duration meaning that long ago.

    Raises `typer.BadParameter`.
    """
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        pass
    try:
        return datetime.now().astimezone() - duration(text)
    except (typer.BadParameter, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is no time; write 2024-05-01, 2024-05-01T09:30 or 7d (seven days ago)"
        ) from None


def time_to_live(text: str) -> int:
    """Seconds of a duration that working state may have. Raises `typer.BadParameter`."""
    seconds = int(duration(text).total_seconds())
    if not 0 < seconds <= MAX_TTL_SECONDS:
        raise typer.BadParameter(f"a time to live has 1 s to {MAX_TTL_SECONDS // _SECONDS['d']} d")
    return seconds


def pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    """`key=value` texts as a mapping. Raises `typer.BadParameter` naming `option`."""
    found = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise typer.BadParameter(f"{text!r} is not of the form key=value", param_hint=option)
        found[key.strip()] = value
    return found


JsonOption = Annotated[
    bool, typer.Option("--json", help="One JSON document on stdout.", callback=_remember_json, is_eager=True)
]
QueryArgument = Annotated[str, typer.Argument(help="The question, in plain words.", metavar="QUESTION")]
IdArgument = Annotated[str, typer.Argument(help="Id of the memory, as search and list print it.", metavar="ID")]
LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="At most this many hits.")]
SpacesOption = Annotated[
    list[str] | None,
    typer.Option("--space", "-s", help="Only this space, by name or id. Repeatable.", rich_help_panel=_FILTERS),
]
PathFilterOption = Annotated[
    str,
    typer.Option(
        "--path",
        "-p",
        help="Path and all below it, or an ILIKE pattern: % any run, _ one character, \\ escapes.",
        rich_help_panel=_FILTERS,
    ),
]
TypeFilterOption = Annotated[
    str,
    typer.Option(
        "--type",
        "-t",
        help="semantic, episodic, procedural, working, identity, or an ILIKE pattern.",
        rich_help_panel=_FILTERS,
    ),
]
BucketFilterOption = Annotated[str | None, typer.Option("--bucket", help="This bucket.", rich_help_panel=_FILTERS)]
ScopeFilterOption = Annotated[str | None, typer.Option("--scope", help="This scope.", rich_help_panel=_FILTERS)]
SourceFilterOption = Annotated[str | None, typer.Option("--source", help="This source.", rich_help_panel=_FILTERS)]
AgentFilterOption = Annotated[
    str | None, typer.Option("--agent", help="Written by this agent.", rich_help_panel=_FILTERS)
]
StatusFilterOption = Annotated[
    ReadStatus, typer.Option("--status", help="Which records to look at.", rich_help_panel=_FILTERS)
]
SinceOption = Annotated[
    datetime | None,
    typer.Option(
        "--since",
        parser=moment,
        metavar="TIME",
        help="From this time on: 2024-05-01, 2024-05-01T09:30, or 7d ago as 7d.",
        rich_help_panel=_FILTERS,
    ),
]
UntilOption = Annotated[
    datetime | None,
    typer.Option("--until", parser=moment, metavar="TIME", help="Before this time.", rich_help_panel=_FILTERS),
]
TimeChoiceOption = Annotated[
    TimeChoice, typer.Option("--time", help="The time that --since and --until mean.", rich_help_panel=_FILTERS)
]
WorkingOption = Annotated[
    bool, typer.Option("--prefer-working", help="Put live working state that answers the question first.")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Show every record that was considered, and why it was kept or rejected.")
]
FullOption = Annotated[bool, typer.Option("--full", help="Print whole contents instead of the passage that matched.")]

SpaceOption = Annotated[
    str | None, typer.Option("--space", "-s", help="Space to write to, by name or id. Default: your own.")
]
MetadataOption = Annotated[
    list[str] | None, typer.Option("--meta", "-m", metavar="KEY=VALUE", help="Metadata. Repeatable.")
]
ExpiresOption = Annotated[
    datetime | None,
    typer.Option("--expires", parser=moment, metavar="TIME", help="Gone from all reads at this time."),
]
ShareOption = Annotated[float | None, typer.Option(min=0.0, max=1.0)]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def filters(
    *,
    path: str = MATCH_ALL,
    memory_type: str = MATCH_ALL,
    bucket: str | None = None,
    scope: str | None = None,
    status: ReadStatus = ReadStatus.ACTIVE,
    source: str | None = None,
    agent: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    time: TimeChoice = TimeChoice.CREATED,
) -> Filters:
    """The conditions that the filter options name."""
    return Filters(
        path_filter=path,
        memory_type=memory_type,
        bucket=bucket,
        scope=scope,
        statuses=_STATUSES[status],
        source=source,
        agent_id=agent,
        window=TimeWindow(since, until, _AXES[time]),
    )
