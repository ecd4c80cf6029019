"""Where a request of the XMemo surface reads and writes.

`space` names a space by id or name. `team_id` names a team, or one space of a team: reads cover all
of the team's spaces that the caller may read, writes go to its first. Neither: reads cover all that
the token may read, writes go to its default space. What the caller may not see is not found.
"""

from __future__ import annotations

from collections.abc import Sequence

from api.deps import Host
from engine.domain.access import Principal
from engine.errors import InvalidRequest


async def readable(
    host: Host, caller: Principal, space: str | None, team_id: str | None, others: Sequence[str] = ()
) -> tuple[str, ...]:
    """The spaces to read, as ids or names; empty means all that the caller may read."""
    named = (*([space] if space else []), *others)
    return named if team_id is None else tuple(await _of_team(host, caller, named, team_id))


async def writable(host: Host, caller: Principal, space: str | None, team_id: str | None) -> str | None:
    """The space to write to; `None` is the token's default."""
    if team_id is None:
        return space
    return (await _of_team(host, caller, () if space is None else (space,), team_id))[0]


async def _of_team(host: Host, caller: Principal, spaces: tuple[str, ...], team_id: str) -> list[str]:
    found = [each.space for each in await host.call(host.administration.team_spaces, caller, team_id)]
    named = [each.id for each in found if not spaces or not {each.id, each.name}.isdisjoint(spaces)]
    if not named:
        raise InvalidRequest("space and team_id do not go together", field="space")
    return named
