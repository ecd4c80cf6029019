"""Which index the settings name, and where a generation of it lies.

edge:                   Qdrant Edge in `<data_dir>/index-<generation>`
qdrant://host:6334      a Qdrant server, collection `<index_collection>-<generation>`
"""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.errors import SetupError
from engine.index.protocol import Index
from engine.settings import Settings

EDGE = "edge:"
SERVER = "qdrant://"


def create(settings: Settings, dimension: int, generation: str = "1") -> Index:
    """Open a generation of the index, making it if it is not there.

    Raises `SetupError` for an unknown URL, `FolderBusy` or `IndexUnavailable` as the adapters do.
    The adapters are imported here, so that nobody pays for one that is not used.
    """
    if settings.index_url == EDGE:
        from engine.index.qdrant_edge import EdgeIndex

        return EdgeIndex.open(_folder(settings, generation), dimension)
    if settings.index_url.startswith(SERVER):
        from engine.index.qdrant_server import ServerIndex

        collection = _collection(settings, generation)
        return ServerIndex.open(settings.index_url, settings.index_api_key, collection, dimension)
    raise SetupError(f"MEMVOUCH_INDEX_URL={settings.index_url!r} is not known: use edge: or qdrant://host:6334")


def remove(settings: Settings, generation: str) -> None:
    """Delete a generation that is closed; one that is not there is fine."""
    if settings.index_url == EDGE:
        shutil.rmtree(_folder(settings, generation), ignore_errors=True)
        return
    from engine.index.qdrant_server import remove_collection

    remove_collection(settings.index_url, settings.index_api_key, _collection(settings, generation))


def _folder(settings: Settings, generation: str) -> Path:
    return settings.data_dir / f"index-{generation}"


def _collection(settings: Settings, generation: str) -> str:
    return f"{settings.index_collection}-{generation}"
