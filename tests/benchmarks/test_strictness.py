"""Figures of strictness: honest splits, evenly weighed sets, and documents that no hand fills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.evidence_tables import Table
from benchmarks.figures import Judged
from benchmarks.strictness.identifiers import Tally
from benchmarks.strictness.sheet import Sheet, written
from engine.retrieval.evidence.features import FEATURES
from tests.shared_data import ROOT

DOCUMENT = ROOT / "docs" / "strictness.md"
PLACE = "before\n<!-- strictness:sets -->\nold\n<!-- /strictness:sets -->\nafter\n"


def asked(name: str, answerable: Sequence[bool], *, cosine: float = 0.5) -> Table:
    """A table of questions with one pooled record each, which is right if the question is answerable."""
    count = len(answerable)
    features = np.zeros((count, 1, len(FEATURES)), np.float32)
    features[:, :, FEATURES.index("cosine")] = cosine
    gold = np.array(answerable)[:, None]
    tier = np.where(answerable, "", "B")
    return Table(name, features, gold, np.ones((count, 1), np.bool_), np.array(answerable), tier)


def sure(table: Table, confidences: Sequence[float]) -> Judged:
    return table, np.array(confidences, np.float64)[:, None]


def test_a_table_goes_to_its_place_and_the_rest_of_the_document_stays() -> None:
    sheet = Sheet("sets", ("set", "n", "FMR"), [("locomo", 12, 0.0625), ("scifact", None, None)])
    document = written(PLACE, [sheet])
    assert document.startswith("before\n<!-- strictness:sets -->\n| set | n | FMR |\n")
    assert "| locomo | 12 | 0.062 |\n| scifact | - | - |\n<!-- /strictness:sets -->\nafter\n" in document
    assert "old" not in document
    assert written(document, [sheet]) == document


@pytest.mark.parametrize("document", ["", PLACE + PLACE, "<!-- /strictness:sets --><!-- strictness:sets -->"])
def test_a_table_without_one_place_of_its_own_is_refused(document: str) -> None:
    with pytest.raises(ValueError, match="strictness:sets"):
        written(document, [Sheet("sets", ("set",), [])])


def test_a_stored_identifier_counts_as_found_only_among_the_first_five() -> None:
    tally = Tally()
    tally.count(frozenset({"a"}), ["x", "a"])
    tally.count(frozenset({"a"}), ["1", "2", "3", "4", "5", "a"])
    tally.count(frozenset(), [])
    tally.count(frozenset(), ["x"])
    assert tally.row("codes") == ["codes", 2, 0.5, 2, 0.5]


def test_the_document_has_a_place_and_a_command_for_every_part() -> None:
    pytest.importorskip("sklearn", reason="the extra `fit` is not installed")
    pytest.importorskip("matplotlib", reason="the extra `fit` is not installed")
    from benchmarks.strictness.__main__ import PARTS

    text = DOCUMENT.read_text("utf-8")
    written(text, [Sheet(name, (), []) for name in PARTS if name != "pictures"])
    assert not [name for name in PARTS if f"python -m benchmarks.strictness --only {name}" not in text]


def test_a_set_is_judged_by_a_gate_that_saw_neither_it_nor_its_texts() -> None:
    pytest.importorskip("sklearn", reason="the extra `fit` is not installed")
    from benchmarks.strictness.gates import Fits, Gate

    seen: list[list[str]] = []

    def fit(tables: Sequence[Table]) -> Gate:
        seen.append([table.name for table in tables])
        return lambda table: np.zeros(table.present.shape)

    allowed = [asked(name, [True, False]) for name in ("squad2_dev", "xquad", "nl2bash")]
    fits = Fits(fit, [asked("train", [True, False])], allowed)
    fits.unseen("squad2_dev")
    fits.unseen("nl2bash")
    fits.unseen("xquad")
    fits.training_alone()
    assert seen == [["train", "nl2bash"], ["train", "squad2_dev", "xquad"], ["train"]]


def test_the_halves_are_disjoint() -> None:
    pytest.importorskip("sklearn", reason="the extra `fit` is not installed")
    from benchmarks.strictness.gates import Fits, Gate, even

    whole = asked("nl2bash", [True, True, True, False, False])
    sizes: list[int] = []

    def fit(tables: Sequence[Table]) -> Gate:
        sizes.extend(len(table.answerable) for table in tables)
        return lambda table: np.zeros(table.present.shape)

    Fits(fit, [], [whole]).halves()
    assert sizes == [3]
    assert even(whole).tolist() == [True, False, True, False, True]


def test_a_bare_gate_gives_nothing_where_there_is_no_record() -> None:
    pytest.importorskip("sklearn", reason="the extra `fit` is not installed")
    from benchmarks.strictness.gates import mean_of

    table = asked("nl2bash", [True, False], cosine=0.75)
    table.present[1] = False
    found: NDArray[np.float64] = mean_of("cosine", "coverage")(table)
    assert found.tolist() == [[0.375], [0.0]]


def test_every_set_weighs_the_same_in_a_picture() -> None:
    pytest.importorskip("matplotlib", reason="the extra `fit` is not installed")
    from benchmarks.strictness.pictures import bins, risk_by_coverage

    small = sure(asked("small", [True]), [0.95])
    large = sure(asked("large", [False] * 4), [0.91, 0.92, 0.93, 0.15])
    mean, right, mass = bins([small, large])
    assert mass[[1, 9]] == pytest.approx([0.125, 0.875])
    assert right[9] == pytest.approx(0.5 / 0.875)
    assert mean[1] == pytest.approx(0.15)
    coverage, risk = risk_by_coverage([small, large])
    assert coverage == pytest.approx([0.5, 0.625, 0.75, 0.875, 1.0])
    assert risk == pytest.approx([0.0, 0.2, 1 / 3, 0.375 / 0.875, 0.5])


def test_pictures_of_the_same_figures_are_the_same_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `fit` is not installed")
    from benchmarks.strictness.pictures import draw

    every = [sure(asked("one", [True, False] * 6), np.linspace(0.9, 0.1, 12).tolist())]
    first, second = (draw(tmp_path / name, every, {"cosine": every}, {"default": 0.5}) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert all(b"<date" not in path.read_bytes() for path in first)
