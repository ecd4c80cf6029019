from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.source import ContentType
from engine.errors import InvalidRequest
from engine.writing.ingest.documents import PART_TOKENS, parts


def count_words(text: str) -> int:
    return len(text.split())


def read(content: str, content_type: ContentType) -> list[str]:
    return parts(content, content_type, count_words)


def test_markdown_is_cut_at_headings_and_keeps_the_way_to_each() -> None:
    text = "intro\n# Guide\n## Setup\nInstall it.\n## Use\nRun it.\n# End\n"
    assert read(text, ContentType.MARKDOWN) == ["intro", "Guide > Setup\nInstall it.", "Guide > Use\nRun it."]


def test_a_heading_in_a_code_block_is_code() -> None:
    text = "# Shell\n```\n# not a heading\nls\n```"
    assert read(text, ContentType.MARKDOWN) == ["Shell\n```\n# not a heading\nls\n```"]


def test_a_long_section_is_cut_and_each_part_keeps_its_heading() -> None:
    found = read("# Long\n" + "One sentence of six words here. " * 120, ContentType.MARKDOWN)
    assert len(found) > 2 and all(part.startswith("Long\n") for part in found)
    assert all(count_words(part) <= PART_TOKENS for part in found)


def test_html_gives_what_a_reader_sees() -> None:
    page = "<head><title>x</title></head><h1>Menu</h1><p>Soup &amp; bread</p><script>no()</script><ul><li>A<li>B</ul>"
    assert read(page, ContentType.HTML) == ["Menu\nSoup & bread\nA\nB"]


def test_json_gives_one_line_for_each_value_and_one_part_for_each_object() -> None:
    text = json.dumps([{"name": "Ann", "pets": ["cat", "dog"]}, {"name": "Bo", "age": 4, "none": None}])
    assert read(text, ContentType.JSON) == ["name: Ann\npets: cat\npets: dog", "name: Bo\nage: 4"]


@pytest.mark.parametrize("text", ["{", "[" * 100 + "]" * 100])
def test_json_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        read(text, ContentType.JSON)


@given(st.text(max_size=400), st.sampled_from([ContentType.TEXT, ContentType.HTML, ContentType.MARKDOWN]))
def test_any_text_gives_parts_that_say_something(text: str, content_type: ContentType) -> None:
    assert all(part.strip() for part in read(text, content_type))


@given(st.lists(st.sampled_from(["alpha", "beta.", "gamma"]), max_size=600))
def test_no_word_of_a_plain_text_is_lost(words: list[str]) -> None:
    assert " ".join(read(" ".join(words), ContentType.TEXT)).split() == words
