"""A data folder is private and open in one process at a time."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import FolderBusy, SetupError
from engine.upkeep.folder import Folder
from tests.engines import open_engine, store

HOLD = """
import sys, time
from pathlib import Path
from engine.upkeep.folder import Folder
folder = Folder.open(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_what_to_do(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        store(engine, "Mine.")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderBusy, match="another process"):
            open_engine(tmp_path)
        holder.communicate("")
    with open_engine(tmp_path) as engine:
        assert engine.doctor().records == 1


def test_a_new_folder_is_private_to_its_user(tmp_path: Path) -> None:
    folder = Folder.open(tmp_path / "new")
    folder.close()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_path_that_is_a_file_is_a_setup_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SetupError, match="cannot be used"):
        Folder.open(tmp_path / "file")
