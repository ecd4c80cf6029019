"""Notes of the text cases."""

from __future__ import annotations

import pytest

from engine.domain.memory import NewMemory
from engine.domain.outcome import Matches
from engine.domain.query import ContextQuery, Query
from engine.errors import InvalidRequest
from tests.field_cases.cases import Case
from tests.field_cases.runner import Played
from tests.field_cases.stage import Stage, beyond, procedure

READS = ("search_memory", "recall", "recall_context")
LONE_SURROGATE = "half of a pair: \ud83d"
NUL = "a text with a \0 in it"
PAIR = "The fire extinguisher \U0001f9ef hangs beside the lift."


@beyond("B4-13")
def _a_windowed_query_says_so(played: Played, stage: Stage) -> None:
    reply = played.replies[0]
    if isinstance(reply.raw, Matches):
        assert any("window" in note or "cut" in note for note in reply.raw.notes)
    else:
        assert any(character.isdigit() for character in reply.text), "the refusal names no limit"


@beyond("B4-14")
def _no_read_takes_a_blank_query(played: Played, stage: Stage) -> None:
    for verb in READS:
        for arguments in ({"query": ""}, {"query": " \t\n  "}, {"query": "\u3000\u00a0"}, {}):
            reply = played.world.call(None, verb, arguments)
            assert isinstance(reply.raw, InvalidRequest) and reply.raw.field == "query", (verb, arguments)


@beyond("B4-17")
def _content_stays_as_it_came(played: Played, stage: Stage) -> None:
    for row in played.case.rows:
        shown = played.world.call(None, "get_memory", {"memory_id": played.ids[row.ref][0]})
        assert shown.hits[0].content == row.content


@procedure("B4-20")
def _broken_unicode_is_refused_before_anything_is_written(case: Case, stage: Stage) -> None:
    with stage.open() as surface:
        engine, owner = surface.engine, surface.engine.local_owner()
        for broken in (LONE_SURROGATE, NUL):
            with pytest.raises(InvalidRequest) as refused:
                engine.remember(owner, NewMemory(content=broken))
            assert refused.value.field == "content"
            for ask in (engine.search, lambda who, query: engine.recall_context(who, ContextQuery(query=query))):
                with pytest.raises(InvalidRequest) as refused:
                    ask(owner, Query(text=broken))
                assert refused.value.field == "query"
        assert engine.doctor().records == 0
        written = engine.remember(owner, NewMemory(content=PAIR))
        assert engine.get(owner, written.memory.id).content == PAIR
