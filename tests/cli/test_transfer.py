"""`import` and `export` on a real engine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cli.import_run import BATCH_CHARACTERS, Importer, open_journal
from engine.domain.memory import CONTENT_LIMIT_BYTES, NewMemory
from engine.upkeep.portable import Draft
from tests.cli.terminal import Terminal
from tests.engines import open_engine
from tests.shared_data import ROOT

ENGINE_OWNED = ("space_id", "updated_at", "version", "access_count", "last_accessed_at", "created_at")


def written(path: Path, *objects: Any) -> str:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in objects]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def contents(terminal: Terminal, *options: str) -> list[str]:
    page = terminal("list", "--limit", "1000", "--oldest-first", "--json", *options).document
    return [memory["content"] for memory in page["memories"]]


def test_a_conversation_is_imported_and_found(terminal: Terminal, tmp_path: Path) -> None:
    source = written(
        tmp_path / "chat.jsonl",
        {"role": "user", "name": "Mira", "content": "The release train leaves on Tuesdays.", "time": "2024-05-01"},
        {"role": "assistant", "content": "Noted."},
    )
    ran = terminal("import", source, "--json")
    assert ran.code == 0 and ran.document["created"] == 2
    hit = terminal("search", "when does the release train leave?", "--json").document["hits"][0]["memory"]
    assert (hit["path"], hit["memory_type"]) == ("conversations/chat", "episodic")
    assert hit["metadata"]["speaker"] == "Mira"


def test_every_line_that_is_left_out_is_told_with_its_reason(terminal: Terminal, tmp_path: Path) -> None:
    source = written(
        tmp_path / "mixed.jsonl",
        {"text": "The gate code is 4417."},
        "broken",
        {"text": " "},
        {"text": "a" * (CONTENT_LIMIT_BYTES + 1)},
        {"text": "The gate code is 4417."},
        {"text": "gone", "expires_at": "2020-01-01"},
        {"text": "x", "space": "00000000-0000-7000-8000-000000000000"},
        {"text": "y", "semantic_key": "k" * 5000},
        {"text": "z", "path": "a\x07b"},
        {"text": "The last line."},
    )
    ran = terminal("import", source, "--json")
    assert ran.code == 0
    left = {each["position"]: each["reason"] for each in ran.document["skipped"]}
    assert left == {
        "line 2": "bad_json",
        "line 3": "empty",
        "line 4": "too_long",
        "line 5": "duplicate",
        "line 6": "expired",
        "line 7": "refused",
        "line 8": "refused",
        "line 9": "refused",
    }
    assert contents(terminal) == ["The gate code is 4417.", "The last line."]
    assert "line 2" in terminal("import", source).err


def test_an_import_of_which_nothing_can_be_stored_fails(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal("import", written(tmp_path / "bad.jsonl", "broken", "also broken")).code == 2
    assert terminal("import", written(tmp_path / "empty.jsonl")).code == 0
    missing = terminal("import", str(tmp_path / "missing.jsonl"))
    # The message stands in a box whose lines break where a long path makes them.
    assert missing.code == 2 and "does not exist" in " ".join(missing.err.replace("│", " ").split())


def test_importing_again_stores_nothing_twice_with_and_without_the_journal(terminal: Terminal, tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", {"text": "one"}, {"text": "two"}, {"role": "user", "content": "yes"})
    assert terminal("import", source, "--json").document["created"] == 3
    again = terminal("import", source, "--json").document
    assert (again["created"], again["already_imported"]) == (0, 3)
    for journal in (terminal.data_dir / "imports").iterdir():
        journal.unlink()
    without = terminal("import", source, "--json").document
    assert (without["created"], without["unchanged"]) == (0, 3)
    assert len(contents(terminal)) == 3


def test_what_was_forgotten_is_not_brought_back_by_importing_again(terminal: Terminal, tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", {"text": "The gate code is 4417."})
    terminal("import", source)
    (memory,) = terminal("list", "--json").document["memories"]
    assert terminal("forget", memory["id"], "--mode", "hard", "--yes").code == 0
    assert terminal("import", source, "--json").document["already_imported"] == 1
    assert contents(terminal) == []
    assert terminal("import", source, "--again", "--json").document["created"] == 1


def test_lines_that_are_new_since_the_last_import_are_added(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    terminal("import", written(path, {"text": "one"}))
    ran = terminal("import", written(path, {"text": "zero"}, {"text": "one"}, {"text": "two"}), "--json").document
    assert (ran["created"], ran["already_imported"]) == (2, 1)


def test_a_record_whose_id_is_known_becomes_its_next_version(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    terminal("import", written(path, {"id": "note-7", "text": "before"}))
    assert terminal("import", written(path, {"id": "note-7", "text": "after"}), "--json").document["updated"] == 1
    assert contents(terminal) == ["after"]


def test_spaces_that_a_file_names_are_made_and_a_named_target_takes_all(terminal: Terminal, tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", {"text": "one", "space": "alpha"}, {"text": "two"})
    assert terminal("import", source, "--json").document["new_spaces"] == ["alpha"]
    assert contents(terminal, "--space", "alpha") == ["one"]
    terminal("spaces", "create", "beta")
    assert terminal("import", source, "--space", "beta", "--json").document["created"] == 2
    assert sorted(contents(terminal, "--space", "beta")) == ["one", "two"]
    assert terminal("import", source, "--space", "gamma").code == 3


def test_a_folder_of_markdown_is_imported_by_section_and_an_edit_is_a_new_version(
    terminal: Terminal, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "setup.md").write_text("# Linux\nUse apt.\n\n# Mac\nUse brew.\n", encoding="utf-8")
    (notes / "logo.png").write_bytes(b"x")
    first = terminal("import", str(notes), "--json").document
    assert (first["created"], first["other_files"]) == (2, 1)
    (notes / "setup.md").write_text("# Linux\nUse pacman.\n\n# Mac\nUse brew.\n", encoding="utf-8")
    second = terminal("import", str(notes), "--json").document
    assert (second["created"], second["updated"], second["already_imported"]) == (0, 1, 1)
    assert sorted(contents(terminal, "--path", "notes/setup")) == ["Linux\n\nUse pacman.", "Mac\n\nUse brew."]


def test_stdin_is_imported_under_the_given_defaults(terminal: Terminal) -> None:
    lines = '{"role": "user", "content": "hello there"}\n'
    arguments = ("--path", "chats/today", "--bucket", "b", "--source", "s", "--type", "semantic", "--json")
    assert terminal("import", "-", *arguments, stdin=lines).document["created"] == 1
    (memory,) = terminal("list", "--json").document["memories"]
    assert (memory["path"], memory["bucket"], memory["source"], memory["memory_type"]) == (
        "chats/today",
        "b",
        "s",
        "semantic",
    )


def test_a_dry_run_stores_nothing(terminal: Terminal, tmp_path: Path) -> None:
    ran = terminal("import", written(tmp_path / "a.jsonl", {"text": "one"}, "broken"), "--dry-run")
    assert "would store 1, skip 1" in ran.out
    assert terminal("list").code == 1


def test_an_export_comes_back_whole_in_another_folder(terminal: Terminal, tmp_path: Path) -> None:
    terminal("spaces", "create", "work")
    terminal.stored("Ilse prefers tea.", "--path", "people", "--key", "tea", "--meta", "a=1", "--ttl", "2h")
    archived = terminal.stored("The printer is on floor 3.", "--space", "work", "--importance", "0.5")
    terminal("update", archived, "--status", "archived")
    terminal("state", "on it", "--ttl", "1h")
    terminal("forget", terminal.stored("The gate code is 4417."))
    backup = tmp_path / "backup.jsonl"
    summary = terminal("export", str(backup), "--json").document
    assert (summary["exported"], summary["spaces"]) == (3, {"default": 2, "work": 1})

    other = Terminal(tmp_path / "other")
    assert other("import", str(backup), "--json").document["created"] == 3
    assert comparable(other("export").out) == comparable(backup.read_text(encoding="utf-8"))
    assert "4417" not in backup.read_text(encoding="utf-8")
    assert len(other("export", "-", "--active-only").out.splitlines()) == 2


def test_an_export_can_be_imported_into_another_space_of_the_same_folder(terminal: Terminal, tmp_path: Path) -> None:
    terminal.stored("Ilse prefers tea.")
    backup = str(tmp_path / "backup.jsonl")
    terminal("export", backup)
    terminal("spaces", "create", "copy")
    assert terminal("import", backup, "--space", "copy", "--json").document["created"] == 1
    assert contents(terminal, "--space", "copy") == ["Ilse prefers tea."]


def test_an_export_that_fails_leaves_the_old_file_alone(terminal: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "backup.jsonl"
    target.write_text("old", encoding="utf-8")
    assert terminal("export", str(target), "--space", "nowhere").code == 3
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.glob("*.part")) == []
    assert terminal("export", "--json").code == 2


def comparable(lines: str) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in lines.splitlines()]
    kept = [{name: value for name, value in each.items() if name not in ENGINE_OWNED} for each in records]
    return sorted(kept, key=lambda each: str(each["id"]))


@pytest.mark.timeout(180)
def test_long_texts_are_stored_in_small_batches(tmp_path: Path) -> None:
    text = "ferry " * (BATCH_CHARACTERS // 10)
    drafts = [
        Draft(
            position=f"line {number}",
            memory=NewMemory(content=f"{number} {text}"),
            identity=f"berth {number}",
            fingerprint=f"berth {number}",
            offset=number,
        )
        for number in range(4)
    ]
    reached: list[int] = []
    with open_engine(tmp_path / "data") as engine, open_journal(tmp_path, "source", "source") as journal:
        importer = Importer(engine, engine.local_owner(), space=None, now=datetime.now(UTC))
        importer.run("source", drafts, journal, reached.append)
    assert importer.tally.created == 4
    assert reached[0] == 1


def test_an_import_that_was_killed_goes_on_and_stores_nothing_twice(terminal: Terminal, tmp_path: Path) -> None:
    words = ["harbour", "ferry", "ticket", "timetable", "bicycle", "migration", "island", "support", "budget", "screen"]
    turns = [
        {"role": "user", "content": f"Turn {number}: {' '.join(words[number % 7 : number % 7 + 3])}."}
        for number in range(900)
    ]
    source = written(tmp_path / "long.jsonl", *turns)
    command = [sys.executable, "-m", "cli.main", "--data-dir", str(terminal.data_dir), "import", source]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        acknowledged = wait_for_journal(terminal.data_dir / "imports", running)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert 0 < acknowledged < 900
    ran = terminal("import", source, "--json").document
    assert ran["already_imported"] >= acknowledged
    assert ran["created"] + ran["unchanged"] + ran["already_imported"] == 900
    assert sorted(contents(terminal)) == sorted(turn["content"] for turn in turns)
    assert terminal("doctor").code == 0


def wait_for_journal(folder: Path, running: subprocess.Popen[bytes]) -> int:
    """Entries in the journal once there are any; the import has then written at least one batch."""
    until = time.monotonic() + 120
    while time.monotonic() < until and running.poll() is None:
        for journal in folder.glob("*.journal") if folder.exists() else ():
            if entries := len(journal.read_text(encoding="ascii").splitlines()):
                return entries
        time.sleep(0.02)
    raise AssertionError("the import ended or stood still before it could be killed")
