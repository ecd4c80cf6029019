"""From ranked passages to ranked records."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.index.grouping import TIE_WIDTH, top_records
from engine.index.points import best_by_record
from engine.index.protocol import IndexHit

PASSAGES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 40)),
    unique=True,
    max_size=TIE_WIDTH,
).flatmap(
    lambda places: st.lists(st.sampled_from((0.25, 0.5, 0.75, 1.0)), min_size=len(places), max_size=len(places)).map(
        lambda scores: [_passage(*place, score) for place, score in zip(places, scores, strict=True)]
    )
)


def _passage(record: int, ordinal: int, score: float) -> IndexHit:
    return IndexHit(f"record-{record:02d}", score, ordinal, ordinal, ordinal + 1)


class Ranking:
    """An engine over passages that breaks ties in an order of its own and remembers what it was asked."""

    def __init__(self, passages: list[IndexHit]) -> None:
        self._ranked = sorted(passages, key=lambda hit: (-hit.score, -hit.ordinal))
        self.widths: list[int] = []

    def fetch(self, width: int) -> list[IndexHit]:
        self.widths.append(width)
        return self._ranked[:width]


@given(PASSAGES, st.integers(1, 40))
def test_the_best_records_are_those_of_all_passages(passages: list[IndexHit], limit: int) -> None:
    assert top_records(Ranking(passages).fetch, limit) == best_by_record(passages)[:limit]


def test_one_question_is_enough_when_records_are_short() -> None:
    ranking = Ranking([_passage(number, 0, 1.0 - number / 100) for number in range(50)])
    assert len(top_records(ranking.fetch, 10)) == 10
    assert ranking.widths == [20]


def test_a_record_that_owns_every_passage_is_widened_past() -> None:
    ranking = Ranking([_passage(0, ordinal, 1.0) for ordinal in range(1000)] + [_passage(1, 0, 0.5)])
    assert [hit.record_id for hit in top_records(ranking.fetch, 2)] == ["record-00", "record-01"]
    assert ranking.widths == [4, 16, 64, 256, 1024]


def test_a_tie_beyond_all_bounds_does_not_fetch_everything() -> None:
    ranking = Ranking([_passage(number, 0, 1.0) for number in range(5000)])
    assert len(top_records(ranking.fetch, 5)) == 5
    assert ranking.widths == [10, TIE_WIDTH]
