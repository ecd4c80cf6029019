"""Expired records: hidden at once, removed for good by the sweep."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from engine.store import memories, terms
from tests.engines import open_engine, store


def test_the_sweep_removes_row_statistics_and_points(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        past = datetime.now(UTC) - timedelta(seconds=1)
        gone = store(engine, "Temporary phrase.", expires_at=past)
        kept = store(engine, "Lasting phrase.")
        assert engine.sweep_expired() == 1
        assert engine.sweep_expired() == 0
        with engine.database.reading() as connection:
            assert memories.get(connection, gone.id) is None
            assert terms.totals(connection, kept.space_id).records == 1
        assert engine.doctor().equal
