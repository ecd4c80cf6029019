from __future__ import annotations

import pytest

from engine.domain.source import Message
from engine.writing.ingest.mentions import MENTIONS_LIMIT, mentions


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met Oscar Lindqvist in Lisbon.", {"Oscar Lindqvist", "Lisbon"}),
        ("Yesterday we left. Then it rained.", set()),
        ("NASA called. I said yes to Mara.", {"NASA", "Mara"}),
        ("On Monday in March I saw The Hague", {"Hague"}),
    ],
)
def test_names_are_found_and_sentence_beginnings_are_not(text: str, names: set[str]) -> None:
    assert {mention.name for mention in mentions(text)} == names


def test_links_and_identifiers_are_found_with_their_type() -> None:
    found = {
        mention.name: mention.entity_type for mention in mentions("see https://a.example/x, src/app.py and TS1002.")
    }
    assert found == {"https://a.example/x": "link", "src/app.py": "technology", "TS1002": "technology"}


def test_a_speaker_is_a_person_and_a_mere_role_is_not() -> None:
    turns = [Message("Caroline", "hi", 0), Message("assistant", "hi", 1)]
    assert [(m.name, m.entity_type) for m in mentions("hi", turns)] == [("Caroline", "person")]


def test_the_same_name_in_another_case_is_one_thing() -> None:
    assert len({mention.key for mention in mentions("I saw Mara and MARA")}) == 1


def test_a_text_of_names_gives_at_most_the_limit() -> None:
    text = "with " + ", ".join(f"N{'a' * (number + 1)}" for number in range(MENTIONS_LIMIT * 2))
    assert len(mentions(text)) == MENTIONS_LIMIT
