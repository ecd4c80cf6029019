"""The data folder: made on first use, private to its user, open in one process at a time."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import FolderBusy, SetupError

LOCK_NAME = "engine.lock"


class Folder:
    """Holds the lock of a data folder from `open` to `close`."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def open(cls, path: Path, timeout_seconds: float = 1.0) -> Folder:
        """Make the folder if needed and lock it.

        Raises:
            FolderBusy: another process has it open.
            SetupError: it cannot be made or written to.
        """
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Opened in one thread and closed in another, an engine still lets go.
            lock = FileLock(path / LOCK_NAME, mode=0o600, thread_local=False)
            lock.acquire(timeout=timeout_seconds)
        except Timeout as error:
            raise FolderBusy(
                f"another process has the data folder {path} open; use that process, stop it, "
                "or choose another folder with --data-dir"
            ) from error
        except OSError as error:
            raise SetupError(f"the data folder {path} cannot be used: {error.strerror or error}") from error
        return cls(path, lock)

    @staticmethod
    def is_held(path: Path) -> bool:
        """Whether some process has the folder open now. Raises `SetupError` as `open` does."""
        try:
            Folder.open(path, timeout_seconds=0).close()
        except FolderBusy:
            return True
        return False

    def close(self) -> None:
        self._lock.release()
