"""Notes of the budget cases: what a pack says about itself."""

from __future__ import annotations

from engine.domain.outcome import ContextPack
from tests.field_cases.runner import Played
from tests.field_cases.stage import Stage, beyond


@beyond("B3-31")
def _foreign_rows_do_not_count_as_cut(played: Played, stage: Stage) -> None:
    pack = _pack(played)
    assert (len(pack.items), pack.matched, pack.left_out) == (1, 1, ())


@beyond("B7-01")
def _short_rows_are_whole_and_the_long_one_is_accounted_for(played: Played, stage: Stage) -> None:
    pack = _pack(played)
    contents = {row.ref: row.content for row in played.case.rows}
    assert all(contents[ref] in pack.text for ref in ("x1", "x2", "x3"))
    assert played.ids["big"][0] in {each.memory_id for each in pack.left_out}


@beyond("B7-02")
def _a_pack_without_room_holds_no_text(played: Played, stage: Stage) -> None:
    pack = played.replies[0].raw
    if isinstance(pack, ContextPack):
        assert (pack.items, pack.text, pack.tokens) == ((), "", 0)


@beyond("B7-03")
def _what_did_not_fit_is_said(played: Played, stage: Stage) -> None:
    pack = _pack(played)
    assert pack.matched == 2
    assert {each.memory_id for each in pack.left_out} == {*played.ids["a"], *played.ids["b"]}
    for item in pack.items:
        assert item.truncated and item.text in pack.text


@beyond("B7-05")
def _copies_are_told_as_near_duplicates(played: Played, stage: Stage) -> None:
    pack = _pack(played)
    packed = [item.hit.memory.id for item in pack.items]
    assert len(set(packed) & set(played.ids["dup"])) == 1


@beyond("B7-06")
def _every_match_is_in_or_left_out(played: Played, stage: Stage) -> None:
    pack = _pack(played)
    packed = {item.hit.memory.id for item in pack.items if not item.truncated}
    left_out = {each.memory_id for each in pack.left_out}
    assert left_out
    assert len(packed | left_out) == pack.matched


@beyond("B7-07")
def _a_pack_keeps_the_order_of_recall(played: Played, stage: Stage) -> None:
    pack, step = _pack(played), played.case.steps[0]
    recalled = played.world.call(
        None, "recall", {"query": step.arguments["query"], "limit": step.arguments["max_items"]}
    )
    assert [item.hit.memory.id for item in pack.items] == recalled.ids
    places = [pack.text.index(item.text) for item in pack.items]
    assert places == sorted(places)


def _pack(played: Played) -> ContextPack:
    pack = played.replies[0].raw
    assert isinstance(pack, ContextPack)
    return pack
