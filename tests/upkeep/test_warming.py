"""The model loads beside the opening of a folder, and nothing is left of that afterwards."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from engine.embedding.fake import FakeEmbedder
from engine.errors import FolderBusy
from tests.engines import open_engine


class SlowToWarm(FakeEmbedder):
    """An embedder whose model takes longer to load than a taken folder is waited for."""

    def warm_up(self) -> None:
        time.sleep(1.5)


def warming() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "memvouch-warm-up"]


def test_a_folder_that_cannot_be_opened_leaves_no_model_half_loaded(tmp_path: Path) -> None:
    with open_engine(tmp_path):
        with pytest.raises(FolderBusy):
            open_engine(tmp_path, SlowToWarm())
        assert warming() == []


def test_an_engine_that_is_closed_at_once_leaves_no_model_half_loaded(tmp_path: Path) -> None:
    open_engine(tmp_path, SlowToWarm()).close()
    assert warming() == []
