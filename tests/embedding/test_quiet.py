"""Nothing calls home: embedding leaves no telemetry session behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.embedding.quiet import SWITCH, keep_quiet

EMBED = "from engine.embedding.bundled import BundledEmbedder; BundledEmbedder().embed_query('a quiet word')"


def test_embedding_a_text_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != SWITCH} | {"TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", EMBED], env=environment, check=True, timeout=120)
    assert list(tmp_path.iterdir()) == []


def test_a_users_own_choice_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    keep_quiet()
    assert os.environ[SWITCH] == "0"
