"""Folding: texts that read alike are one text, and paths that name one place have one key."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.folding import clean, fold, path_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "CAFE\u0301"),
        ("straße", "STRASSE"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("zero\u200bwidth", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\ufeffmark", "mark"),
        ("한글", unicodedata.normalize("NFD", "한글")),
        ("☎\ufe0f", "☎"),
    ],
)
def test_texts_that_read_alike_fold_to_one_form(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_folding_keeps_accents_apart_from_plain_letters() -> None:
    assert fold("café") != fold("cafe")


def test_cleaning_keeps_case_and_drops_only_what_is_invisible() -> None:
    assert clean("Cafe\u0301\u200b Ltd") == "Café Ltd"


def test_a_text_of_invisible_characters_is_empty_once_cleaned() -> None:
    assert clean("\u200b\u200d\ufeff\u2060") == ""


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_folding_does_not_depend_on_composition(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_takes_the_short_way_to_the_same_result(text: str) -> None:
    assert fold(text) == fold(text + "é")[:-1]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("projects/API", "projects/api"),
        ("/projects//api/", "projects/api"),
        ("projects / api", "projects/api"),
        (" projects/api ", "projects/api"),
        ("[ROOT]/projects/api", "projects/api"),
        ("[root] / projects", "projects"),
        ("[ROOT]", ""),
        ("/", ""),
        ("", ""),
        ("a b/c d", "a b/c d"),
        ("notes/Cafe\u0301", "notes/café"),
        ("C:\\work\\x", "c:\\work\\x"),
    ],
)
def test_a_path_has_the_key_of_the_place_it_names(path: str, key: str) -> None:
    assert path_key(path) == key


@given(st.text(alphabet="ab/ []ROT\u200bé\\%"))
def test_a_key_is_its_own_key(path: str) -> None:
    assert path_key(path_key(path)) == path_key(path)


@given(st.lists(st.text(alphabet="abé._-", min_size=1), min_size=1))
def test_slashes_and_spaces_around_them_do_not_change_the_key(names: list[str]) -> None:
    assert path_key("/" + " // ".join(names) + " /") == path_key("/".join(names))
