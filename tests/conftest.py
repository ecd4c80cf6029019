"""What every test may rely on: no settings from outside, and the rate of hard field cases in the summary."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import hypothesis
import pytest

from engine.settings import Settings
from tests.field_cases.hard_cases import HardCases

MEMORY_DISK = Path("/dev/shm")
OWN_FOLDER = pytest.StashKey[Path]()
HARD_CASES = pytest.StashKey[HardCases]()

# Other work on the machine must not turn a slow example into a failure.
hypothesis.settings.register_profile("memvouch", deadline=None, print_blob=True)
hypothesis.settings.load_profile("memvouch")


def pytest_configure(config: pytest.Config) -> None:
    """Forget the developer's own settings: a test sets what it needs."""
    config.stash[HARD_CASES] = HardCases()
    if config.option.basetemp is None and os.access(MEMORY_DISK, os.W_OK):
        # Durable writes wait for the disk; the tests that are about durability kill processes, not machines.
        # A folder of this run's own, since pytest's numbered ones are cleared by runs beside it.
        os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="memvouch-tests-", dir=MEMORY_DISK)
        config.stash[OWN_FOLDER] = Path(tempfile.tempdir)
        # PostgreSQL refuses to run as root; its own account has to get through to its folder.
        config.stash[OWN_FOLDER].chmod(0o711)
        config.option.basetemp = str(config.stash[OWN_FOLDER] / "pytest")
    # A test that wants a host starts one; commands of the others open the folder themselves.
    os.environ["MEMVOUCH_IN_PROCESS"] = "1"
    for name in Settings.model_fields:
        os.environ.pop(f"MEMVOUCH_{name.upper()}", None)


def pytest_unconfigure(config: pytest.Config) -> None:
    if own := config.stash.get(OWN_FOLDER, None):
        shutil.rmtree(own, ignore_errors=True)


@pytest.fixture(scope="session")
def hard_cases(pytestconfig: pytest.Config) -> HardCases:
    return pytestconfig.stash[HARD_CASES]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if summary := config.stash[HARD_CASES].summary:
        terminalreporter.section("field cases")
        terminalreporter.write_line(summary)
