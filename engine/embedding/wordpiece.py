"""The named tokenizer: WordPiece of all-MiniLM-L6-v2, loadable without a model.

Token budgets of context packs and the lengths of passages are counted with it, whatever embedder
is configured, so that a budget means the same everywhere. Counts are of content tokens: no
special tokens, no truncation. Its data file is checked once per process.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import CorruptData

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER_NAME = "all-MiniLM-L6-v2 WordPiece"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER_PATH = Path(__file__).parent / "data" / "tokenizer.json"


def count_tokens(text: str) -> int:
    """Number of content tokens of `text`; 0 for blank text. Raises `CorruptData`."""
    return len(tokenizer().encode(text, add_special_tokens=False))


@cache
def tokenizer() -> Tokenizer:
    """The shared tokenizer, without truncation and padding; safe to use from many threads.

    Raises `CorruptData` when the data file is missing or fails its check.
    """
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_str(verified_bytes(TOKENIZER_PATH, TOKENIZER_SHA256).decode())
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def verified_bytes(path: Path, sha256: str) -> bytes:
    """Content of `path`, if it has that SHA-256. Raises `CorruptData` otherwise."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorruptData(f"Cannot read {path.name} of the bundled model; reinstall with `pip install`.") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise CorruptData(f"{path.name} of the bundled model fails its SHA-256 check; reinstall with `pip install`.")
    return content
