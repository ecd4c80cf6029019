"""A pair scorer over any cross-encoder of `fastembed` (optional extra).

The model is loaded when the first pair is scored, or ahead of time by `warm_up`; fastembed fetches it
on first use and keeps it in its cache (`FASTEMBED_CACHE_PATH`). A load that failed is not tried again
for a while, and nobody waits long for one that is under way: a download can take minutes, and the
search goes on without the scorer meanwhile. Pairs are scored one by one, since several models
quantise activations over the whole batch, and a score must not depend on its neighbours. One run of
the model keeps to one core, and runs go side by side.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.embedding.fastembed_embedder import INSTALL_COMMAND
from engine.embedding.quiet import keep_quiet
from engine.errors import PairScorerUnavailable, SetupError

RETRY_AFTER_SECONDS = 60.0
"""After a load that failed, for so long the same error is given without another try."""

_PATIENCE_SECONDS = 5.0
_MOST_CHARACTERS = 20_000
"""Far more than a cross-encoder reads; what lies beyond would only cost time in its tokenizer."""


class FastEmbedPairScorer:
    """`PairScorer` over `fastembed.rerank.cross_encoder.TextCrossEncoder`. One instance serves many threads."""

    def __init__(self, model: str, *, threads: int = 0, model_path: Path | None = None) -> None:
        """`threads` is the number of pairs under way at a time, 0 one per core.

        `model_path` is a folder that already holds the model's files.

        Raises `SetupError` when the extra is not installed or fastembed has no such cross-encoder.
        """
        self._name, self._path = model, model_path
        _require_known(model)
        self._workers = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="memvouch-pair")
        self._loading = threading.Lock()
        self._model: Any = None
        self._failed_at: float | None = None

    @property
    def id(self) -> str:
        return f"fastembed:{self._name}"

    def warm_up(self) -> None:
        """Load the model now. Raises `PairScorerUnavailable`."""
        with self._loading:
            self._load()

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """Log-odds of shape `(len(passages),)`. Raises `PairScorerUnavailable`."""
        model = self._loaded()
        asked = question[:_MOST_CHARACTERS]

        def scored(passage: str) -> float:
            (score,) = model.rerank(asked, [passage[:_MOST_CHARACTERS]])
            return float(score)

        try:
            found = list(self._workers.map(scored, passages))
        except Exception as error:  # fastembed lets onnxruntime's errors through, which share no base
            raise PairScorerUnavailable(f"fastembed's cross-encoder {self._name} failed on a pair.") from error
        scores = np.array(found, np.float64)
        if not np.isfinite(scores).all():
            raise PairScorerUnavailable(f"fastembed's cross-encoder {self._name} gave a score that is not finite.")
        return scores

    def _loaded(self) -> Any:
        if self._model is not None:
            return self._model
        if not self._loading.acquire(timeout=_PATIENCE_SECONDS):
            raise PairScorerUnavailable(f"fastembed's cross-encoder {self._name} is still being loaded.")
        try:
            return self._load()
        finally:
            self._loading.release()

    def _load(self) -> Any:
        """The model, loaded once; the caller holds the lock."""
        if self._model is not None:
            return self._model
        if self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_AFTER_SECONDS:
            raise self._not_loaded()
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        folder: dict[str, Any] = {} if self._path is None else {"specific_model_path": str(self._path)}
        try:
            self._model = TextCrossEncoder(self._name, threads=1, cuda=False, **folder)
        except Exception as error:  # downloads fail with errors of several libraries
            self._failed_at = time.monotonic()
            raise self._not_loaded() from error
        return self._model

    def _not_loaded(self) -> PairScorerUnavailable:
        return PairScorerUnavailable(
            f"fastembed's cross-encoder {self._name} is not in its cache and could not be downloaded; connect "
            "once, point FASTEMBED_CACHE_PATH at a folder that holds it, or unset MEMVOUCH_PAIR_SCORER.",
            retry_after_seconds=RETRY_AFTER_SECONDS,
        )


def _require_known(model: str) -> None:
    try:
        keep_quiet()
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError as error:
        raise SetupError(f"MEMVOUCH_PAIR_SCORER=fastembed:{model} needs an extra package: {INSTALL_COMMAND}") from error
    known = [description["model"] for description in TextCrossEncoder.list_supported_models()]
    if model.lower() not in {each.lower() for each in known}:
        raise SetupError(f"fastembed has no cross-encoder named {model}; it has {', '.join(sorted(known))}.")
