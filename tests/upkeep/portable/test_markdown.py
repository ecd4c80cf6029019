"""Markdown: sections become memories and nothing of a file is lost."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engine.domain.memory import CONTENT_LIMIT_BYTES, PATH_LIMIT_CHARACTERS
from engine.upkeep.portable import Draft, ImportDefaults, Item, Skipped, SkipReason, markdown_files, read_markdown
from engine.upkeep.portable.markdown import sections, split_front_matter

GUIDE = """\
Opening words.

# Setup

## Linux
Use apt.

```
# not a heading
```

## Mac
Use brew.

Notes
-----
Last words.
"""


def read(root: Path, defaults: ImportDefaults | None = None) -> list[Item]:
    return list(read_markdown(markdown_files(root), defaults or ImportDefaults()))


def drafts(items: list[Item]) -> list[Draft]:
    return [item for item in items if isinstance(item, Draft)]


def test_each_section_with_text_becomes_a_memory_under_its_headings(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "guide.md").write_text(GUIDE, encoding="utf-8")
    found = drafts(read(folder))
    assert [draft.memory.path for draft in found] == [
        "notes/sub/guide",
        "notes/sub/guide/Setup/Linux",
        "notes/sub/guide/Setup/Mac",
        "notes/sub/guide/Setup/Notes",
    ]
    assert found[1].memory.content == "Setup › Linux\n\nUse apt.\n\n```\n# not a heading\n```"
    assert found[3].memory.content == "Setup › Notes\n\nLast words."


def test_one_file_takes_its_name_as_the_path(tmp_path: Path) -> None:
    (tmp_path / "todo.md").write_text("# Buy\nbread", encoding="utf-8")
    assert [draft.memory.path for draft in drafts(read(tmp_path / "todo.md"))] == ["todo/Buy"]


def test_a_given_path_stands_in_for_the_folder_name(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    (draft,) = drafts(read(tmp_path, ImportDefaults(path="wiki/team")))
    assert draft.memory.path == "wiki/team/a"


def test_a_slash_in_a_heading_does_not_deepen_the_path(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Input/Output\ntext", encoding="utf-8")
    (draft,) = drafts(read(tmp_path / "a.md"))
    assert draft.memory.path == "a/Input-Output"


def test_an_edited_section_keeps_its_key_and_changes_its_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A\none\n# B\nsame", encoding="utf-8")
    before = drafts(read(tmp_path))
    file.write_text("# A\ntwo\n# B\nsame", encoding="utf-8")
    after = drafts(read(tmp_path))
    assert [d.memory.semantic_key for d in before] == [d.memory.semantic_key for d in after]
    assert before[0].fingerprint != after[0].fingerprint
    assert before[1].fingerprint == after[1].fingerprint


def test_equal_headings_and_equal_folders_elsewhere_have_keys_of_their_own(tmp_path: Path) -> None:
    for project in ("one", "two"):
        (tmp_path / project / "docs").mkdir(parents=True)
        (tmp_path / project / "docs" / "a.md").write_text("# A\nfirst\n# A\nsecond", encoding="utf-8")
    found = [draft for project in ("one", "two") for draft in drafts(read(tmp_path / project / "docs"))]
    assert len({draft.memory.semantic_key for draft in found}) == 4


def test_front_matter_goes_to_the_metadata(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntags: [x]\n---\n# A\ntext", encoding="utf-8")
    (draft,) = drafts(read(tmp_path))
    assert draft.memory.metadata == {"front_matter": "tags: [x]"}
    assert draft.memory.content == "A\n\ntext"


def test_files_that_hold_nothing_to_store_are_named(tmp_path: Path) -> None:
    (tmp_path / "a_empty.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "b_binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "c_front.md").write_text("---\na: b\n---\n", encoding="utf-8")
    (tmp_path / "d_heading.md").write_text("# Lonely\n", encoding="utf-8")
    (tmp_path / "e_long.md").write_text("# Long\n" + "a" * CONTENT_LIMIT_BYTES, encoding="utf-8")
    items = read(tmp_path)
    assert [(item.position, item.reason) for item in items if isinstance(item, Skipped)] == [
        ("a_empty.md", SkipReason.EMPTY),
        ("b_binary.md", SkipReason.NOT_TEXT),
        ("c_front.md", SkipReason.EMPTY),
        ("d_heading.md › Lonely", SkipReason.EMPTY),
        ("e_long.md › Long", SkipReason.TOO_LONG),
    ]
    assert len(items) == 5


def test_hidden_folders_are_left_out_and_other_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "photo.png").write_bytes(b"x")
    (tmp_path / "B.MD").write_text("text", encoding="utf-8")
    found = markdown_files(tmp_path)
    assert ([path.name for path in found.files], found.others, found.total_bytes) == (["B.MD"], 1, 4)


def test_a_very_long_heading_gives_a_path_that_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"# {'long ' * 600}\ntext", encoding="utf-8")
    (draft,) = drafts(read(tmp_path))
    assert len(draft.memory.path) <= PATH_LIMIT_CHARACTERS


def test_front_matter_needs_both_fences() -> None:
    assert split_front_matter("---\na: b\n") == (None, "---\na: b\n")
    assert split_front_matter("a: b\n---\n") == (None, "a: b\n---\n")


_blocks = st.sampled_from(
    ["# A", "## B", "### C", "text", "", "- item", "> # quoted", "```", "# in a fence?", "Setext\n===", "---", "| a |"]
)


@given(st.lists(_blocks | st.text("ab #->`\té", max_size=12), max_size=14))
def test_the_sections_and_their_headings_hold_every_letter_in_order(blocks: list[str]) -> None:
    text = "\n".join(blocks)
    parts = [f"{section.headings[-1] if section.headings else ''}\n{section.body}" for section in sections(text)]
    assert letters("".join(parts).replace("untitled", "")) == letters(text)


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())
