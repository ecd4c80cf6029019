"""Notes of the filter and isolation cases."""

from __future__ import annotations

from engine.domain.outcome import NoMatch, NoMatchReason
from engine.errors import InvalidRequest, NotFound
from tests.field_cases.runner import Played
from tests.field_cases.stage import Stage, beyond


@beyond("B3-11")
def _the_refusal_lists_the_known_types(played: Played, stage: Stage) -> None:
    refusal = str(played.replies[0].raw)
    known = ("semantic", "episodic", "procedural", "working", "identity")
    assert all(name in refusal for name in known), refusal


@beyond("B3-15")
def _an_empty_filter_says_so(played: Played, stage: Stage) -> None:
    outcome = played.replies[0].raw
    assert isinstance(outcome, NoMatch) and outcome.reason is NoMatchReason.FILTERED_OUT


@beyond("B3-16")
def _the_unknown_argument_is_named(played: Played, stage: Stage) -> None:
    refusal = played.replies[0].raw
    assert isinstance(refusal, InvalidRequest) and refusal.field == "path_fliter"


@beyond("B3-23")
def _a_foreign_space_reads_like_a_missing_one(played: Played, stage: Stage) -> None:
    foreign, missing = (reply.raw for reply in played.replies)
    assert type(foreign) is type(missing) is NotFound
    assert str(foreign).replace("s2", "NAME") == str(missing).replace("no-such-space-41", "NAME")


@beyond("B3-29")
def _no_wildcard_reaches_a_foreign_space(played: Played, stage: Stage) -> None:
    foreign = set(played.ids["b"])
    caller = played.case.steps[0].actor
    for name in ("*", "s_", "", "s%", "S2"):
        reply = played.world.call(caller, "search_memory", {"query": "key ceremony", "space": name, "limit": 10})
        assert not foreign & set(reply.ids), name


@beyond("B1-04")
def _an_empty_space_is_told_apart_from_a_missing_one(played: Played, stage: Stage) -> None:
    outcome = played.replies[0].raw
    assert isinstance(outcome, NoMatch) and outcome.reason is NoMatchReason.EMPTY_SPACE
    missing = played.world.call(None, "search_memory", {"query": "when is the next release", "space": "s1-missing"})
    assert isinstance(missing.raw, NotFound)


@beyond("B1-24")
def _a_limit_beyond_the_maximum_is_refused(played: Played, stage: Stage) -> None:
    reply = played.world.call(None, "recall", {"query": "retro action", "limit": 101})
    assert isinstance(reply.raw, InvalidRequest) and reply.raw.field == "limit"
