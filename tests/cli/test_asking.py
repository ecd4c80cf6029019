"""`search`, `recall` and `context` on a real engine."""

from __future__ import annotations

import pytest

from tests.cli.terminal import Terminal

MEMORIES = {
    "team/release": "The release train leaves on Tuesdays at 14:00.",
    "team/oncall": "Ilse is on call on Mondays, Tomasz on Thursdays.",
    "errors": "E1042-XQ7 means that the seat map timed out.",
    "home/garden": "The cherry tree was planted in 1998.",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    terminal = Terminal(tmp_path_factory.mktemp("asking"))
    for path, text in MEMORIES.items():
        assert terminal("remember", text, "--path", path).code == 0
    return terminal


def test_search_finds_what_is_stored(filled: Terminal) -> None:
    ran = filled("search", "when does the release train leave?", "--json")
    assert ran.code == 0
    assert ran.document["hits"][0]["memory"]["content"] == MEMORIES["team/release"]


def test_search_says_no_match_with_exit_code_1(filled: Terminal) -> None:
    ran = filled("search", "what does E1043-XQ7 mean?")
    assert ran.code == 1
    assert ran.out.startswith("No match. No stored memory holds E1043-XQ7.")
    assert "memvouch recall" in ran.out


def test_recall_gives_the_best_effort_for_the_same_question(filled: Terminal) -> None:
    ran = filled("recall", "what does E1043-XQ7 mean?", "--limit", "2", "--json")
    assert ran.code == 0
    assert len(ran.document["hits"]) == 2
    assert {hit["label"] for hit in ran.document["hits"]} <= {"strong", "likely", "weak"}


def test_a_path_filter_narrows_and_what_it_leaves_out_is_no_match(filled: Terminal) -> None:
    assert filled("search", "when does the release train leave?", "--path", "team").code == 0
    ran = filled("search", "when does the release train leave?", "--path", "nowhere", "--json")
    assert ran.code == 1
    assert ran.document["no_match"]["reason"] == "filtered_out"


def test_a_time_filter_narrows(filled: Terminal) -> None:
    question = "when does the release train leave?"
    assert filled("search", question, "--since", "1h").code == 0
    assert filled("search", question, "--until", "1h", "--json").document["no_match"]["reason"] == "filtered_out"


def test_a_minimal_confidence_replaces_the_threshold(filled: Terminal) -> None:
    ran = filled("search", "when does the release train leave?", "--min-confidence", "1.0", "--json")
    assert ran.code == 1
    assert ran.document["threshold"] == 1.0


def test_explain_shows_rejected_records_too(filled: Terminal) -> None:
    ran = filled("search", "who answered the phone in Lisbon?", "--explain", "--json")
    assert ran.code == 1
    assert {each["verdict"] for each in ran.document["trace"]} == {"below_threshold"}
    assert all(each["reasons"] for each in ran.document["trace"])
    assert "Considered" in filled("search", "who answered the phone in Lisbon?", "--explain").out


def test_without_explain_no_rejected_text_is_shown(filled: Terminal) -> None:
    ran = filled("search", "who answered the phone in Lisbon?", "--json")
    assert ran.code == 1
    assert not [text for text in MEMORIES.values() if text in ran.out]


def test_a_star_lists_under_the_filters(filled: Terminal) -> None:
    document = filled("search", "*", "--path", "team", "--json").document
    assert {hit["memory"]["path"] for hit in document["hits"]} == {"team/release", "team/oncall"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "  "), "blank"),
        (("search", "x", "--path", "a\\"), "backslash"),
        (("search", "x", "--space", "nowhere"), "space"),
        (("search", "x", "--since", "someday"), "someday"),
        (("search", "x", "--limit", "101"), "limit"),
    ],
)
def test_a_question_that_cannot_be_served_is_refused_with_a_sentence(
    filled: Terminal, arguments: tuple[str, ...], said: str
) -> None:
    ran = filled(*arguments)
    assert ran.code in (2, 3)
    assert ran.out == ""
    assert said in ran.err


def test_context_prints_a_pack_within_its_budget(filled: Terminal) -> None:
    ran = filled("context", "release train", "--max-tokens", "60", "--json")
    assert ran.code == 0
    assert ran.document["tokens"] <= 60
    assert MEMORIES["team/release"] in ran.document["text"]


def test_context_keeps_its_remarks_off_stdout(filled: Terminal) -> None:
    ran = filled("context", "release train", "--max-items", "1")
    assert MEMORIES["team/release"] in ran.out
    assert "tokens" in ran.err and "tokens" not in ran.out


def test_context_without_room_is_no_match_and_says_what_was_left_out(filled: Terminal) -> None:
    ran = filled("context", "release train", "--max-tokens", "0")
    assert ran.code == 1
    assert ran.out == ""
    assert "left out" in ran.err


def test_an_empty_folder_is_a_plain_no_match(terminal: Terminal) -> None:
    ran = terminal("search", "anything at all", "--json")
    assert ran.code == 1
    assert ran.document["no_match"]["reason"] == "empty_space"
