"""An embedder over any text model of `fastembed`, Qdrant's embedding library (optional extra).

fastembed fetches the model on first use and keeps it in its cache (`FASTEMBED_CACHE_PATH`). Texts
are embedded one at a time: several of its models quantise activations over the whole batch, and a
vector must not depend on its neighbours; on a CPU batches would gain little. Model families that
were trained with an instruction before the text get it here, since fastembed leaves that to its
caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.embedding.protocol import Vectors
from engine.embedding.quiet import keep_quiet
from engine.errors import EmbedderUnavailable, SetupError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

INSTALL_COMMAND = "pip install 'memvouch[fastembed]'"

_SEARCH_INSTRUCTION = "Represent this sentence for searching relevant passages: "
_INSTRUCTIONS: tuple[tuple[str, str, str], ...] = (
    ("intfloat/multilingual-e5", "query: ", "passage: "),
    ("nomic-ai/nomic-embed-text", "search_query: ", "search_document: "),
    ("google/embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("snowflake/snowflake-arctic-embed", _SEARCH_INSTRUCTION, ""),
    ("mixedbread-ai/mxbai-embed-large", _SEARCH_INSTRUCTION, ""),
    ("baai/bge-small-en", _SEARCH_INSTRUCTION, ""),
    ("baai/bge-base-en", _SEARCH_INSTRUCTION, ""),
    ("baai/bge-large-en", _SEARCH_INSTRUCTION, ""),
)
"""Start of the lower-cased model name, what goes before a query, what goes before a document (from the model cards)."""


class FastEmbedEmbedder:
    """`Embedder` over `fastembed.TextEmbedding`. Loading may download; it happens in the constructor."""

    def __init__(self, model: str, *, threads: int = 0, model_path: Path | None = None) -> None:
        """`threads` 0 means all cores. `model_path` is a folder that already holds the model's files.

        Raises `SetupError` when the extra is not installed or fastembed has no such model,
        `EmbedderUnavailable` when the model can be neither found in the cache nor downloaded.
        """
        self._model_name = model
        self._before_query, self._before_document = _instructions(model)
        self._model = _load(model, threads, model_path)
        self._tokenizer, limit = _own_tokenizer(self._model, model)
        instruction = max(self._count(self._before_query), self._count(self._before_document))
        self._max_tokens = limit - self._tokenizer.num_special_tokens_to_add(False) - instruction

    @property
    def id(self) -> str:
        return f"fastembed:{self._model_name}"

    @property
    def dimension(self) -> int:
        return int(self._model.embedding_size)

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def warm_up(self) -> None:
        """Nothing more to load: the model came with the constructor."""

    def count_tokens(self, text: str) -> int:
        return self._count(text)

    def embed_query(self, text: str) -> Vectors:
        """Raises `ValueError` on blank or too long text, `EmbedderUnavailable`."""
        self._require_embeddable([text])
        vector: Vectors = self._unit(self._run(self._model.query_embed, [self._before_query + text]))[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Raises `ValueError` on blank or too long text, `EmbedderUnavailable`."""
        self._require_embeddable(texts)
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._unit(self._run(self._model.passage_embed, [self._before_document + text for text in texts]))

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def _require_embeddable(self, texts: Sequence[str]) -> None:
        for text in texts:
            if not text.strip():
                raise ValueError("a blank text has no embedding")
            if (tokens := self._count(text)) > self._max_tokens:
                raise ValueError(f"a text of {tokens} tokens is longer than the model's {self._max_tokens}")

    def _run(self, embed: Any, texts: Sequence[str]) -> Iterable[Any]:
        try:
            return [row for text in texts for row in embed([text])]
        except Exception as error:  # fastembed lets onnxruntime's errors through, which share no base
            raise EmbedderUnavailable(f"fastembed's model {self._model_name} failed on a text.") from error

    def _unit(self, rows: Iterable[Any]) -> Vectors:
        vectors = np.stack([np.asarray(row, np.float32) for row in rows])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderUnavailable(f"fastembed's model {self._model_name} gave a vector that is not finite or zero.")
        unit: Vectors = vectors / lengths
        return unit


def _instructions(model: str) -> tuple[str, str]:
    for start, before_query, before_document in _INSTRUCTIONS:
        if model.lower().startswith(start):
            return before_query, before_document
    return "", ""


def _load(model: str, threads: int, model_path: Path | None) -> Any:
    try:
        keep_quiet()
        from fastembed import TextEmbedding
    except ImportError as error:
        raise SetupError(f"MEMVOUCH_EMBEDDER=fastembed:{model} needs an extra package: {INSTALL_COMMAND}") from error
    known = {description["model"].lower() for description in TextEmbedding.list_supported_models()}
    if model.lower() not in known:
        raise SetupError(f"fastembed has no text model named {model}; its documentation lists the supported models.")
    try:
        return TextEmbedding(
            model, threads=threads or None, cuda=False, specific_model_path=str(model_path) if model_path else None
        )
    except Exception as error:  # downloads fail with errors of several libraries
        raise EmbedderUnavailable(
            f"fastembed's model {model} is not in its cache and could not be downloaded; "
            "connect once, or point FASTEMBED_CACHE_PATH at a folder that holds it."
        ) from error


def _own_tokenizer(model: Any, name: str) -> tuple[Tokenizer, int]:
    """A copy of the model's tokenizer that neither cuts nor pads, and the length at which the original cuts."""
    from tokenizers import Tokenizer

    shared = getattr(model.model, "tokenizer", None)
    if shared is None or not shared.truncation:
        raise SetupError(f"fastembed's model {name} does not tell how long a text may be; choose another.")
    own = Tokenizer.from_str(shared.to_str())
    own.no_truncation()
    own.no_padding()
    return own, int(shared.truncation["max_length"])
