"""Export pages by size, through a real engine."""

from __future__ import annotations

import json
from pathlib import Path

from engine.companion import transfer
from engine.domain.query import Filters
from tests.engines import open_engine, store

WANTED = 2500


def test_a_page_ends_before_it_grows_large_and_the_next_goes_on_there(tmp_path: Path) -> None:
    with open_engine(tmp_path / "data") as engine:
        me = engine.local_owner()
        written = [store(engine, f"Note {n} " + '"quoted" ' * 20).id for n in range(6)]
        found: list[str] = []
        cursor: int | None = 0
        while cursor is not None:
            page = transfer.export_page(engine, me, filters=Filters(), cursor=cursor, max_bytes=WANTED)
            assert len(json.dumps(page.jsonl)) <= WANTED and page.total == 6
            found += [json.loads(line)["id"] for line in page.jsonl.splitlines()]
            assert page.next_cursor is None or page.next_cursor > cursor
            cursor = page.next_cursor
        assert found == written


def test_a_record_larger_than_a_page_is_a_page(tmp_path: Path) -> None:
    with open_engine(tmp_path / "data") as engine:
        for n in range(2):
            store(engine, f"Note {n}")
        page = transfer.export_page(engine, engine.local_owner(), filters=Filters(), max_bytes=1)
        assert (page.count, page.next_cursor) == (1, 1)
