"""An embedder behind any OpenAI-compatible `/v1/embeddings` endpoint (Ollama, vLLM, TEI, OpenAI).

Texts are sent in batches. A batch that meets an overloaded, failing or silent server is sent
again a few times, waiting as long as the server asks (`Retry-After`) or twice as long each time.
Every answer is checked before it is believed: one vector per text, in the order of `index`, of
one dimension, finite. The key travels in the request header and nowhere else: errors tell the
host and the status, never a body or a header.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np

from engine.embedding import wordpiece
from engine.embedding.protocol import Vectors
from engine.errors import EmbedderUnavailable, SetupError

BATCH_TEXTS = 64
ATTEMPTS = 4
TIMEOUT_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 20.0
MAX_TOKENS = 254
"""Small enough for the smallest model that such servers offer; the endpoint does not tell its own limit."""

_BYTES_PER_TOKEN = 4
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


class OpenAICompatibleEmbedder:
    """`Embedder` over HTTP. One instance serves many threads; `close` releases its connections."""

    def __init__(
        self,
        model: str,
        url: str,
        api_key: str | None = None,
        *,
        backoff_seconds: float = 0.5,
        attempts: int = ATTEMPTS,
    ) -> None:
        """`url` is the base (`http://127.0.0.1:11434/v1`) or the full address ending in `/embeddings`.

        The first wait before trying again is `backoff_seconds`. Raises `SetupError` for an URL
        that is not http(s) or that carries a password.
        """
        self._model = model
        self._endpoint = _endpoint(url)
        self._backoff_seconds = backoff_seconds
        self._attempts = attempts
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(timeout=TIMEOUT_SECONDS, headers=headers)
        self._probing = threading.Lock()
        self._dimension: int | None = None

    def __repr__(self) -> str:
        return f"OpenAICompatibleEmbedder(model={self._model!r}, host={self._endpoint.host!r})"

    @property
    def id(self) -> str:
        return f"openai:{self._model}"

    @property
    def dimension(self) -> int:
        """Asked of the server once, by embedding a word. Raises `EmbedderUnavailable`."""
        with self._probing:
            if self._dimension is None:
                self._dimension = int(self._answer(["dimension"]).shape[1])
            return self._dimension

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS

    def warm_up(self) -> None:
        """Nothing to load here; the endpoint warms itself."""

    def count_tokens(self, text: str) -> int:
        """An estimate on the high side: the model's own tokenizer is unknown, and WordPiece lacks whole scripts."""
        return max(wordpiece.count_tokens(text), math.ceil(len(text.encode()) / _BYTES_PER_TOKEN))

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape `(len(texts), dimension)`. Raises `ValueError` on blank text, `EmbedderUnavailable`."""
        if any(not text.strip() for text in texts):
            raise ValueError("a blank text has no embedding")
        dimension = self.dimension
        batches = [self._answer(texts[start : start + BATCH_TEXTS]) for start in range(0, len(texts), BATCH_TEXTS)]
        for batch in batches:
            if batch.shape[1] != dimension:
                raise self._unavailable(f"changed its dimension from {dimension} to {batch.shape[1]}")
        return np.concatenate(batches) if batches else np.empty((0, dimension), np.float32)

    def close(self) -> None:
        self._client.close()

    def _answer(self, texts: Sequence[str]) -> Vectors:
        """Checked unit vectors of one batch."""
        response = self._post({"model": self._model, "input": list(texts), "encoding_format": "float"})
        try:
            rows = sorted(response.json()["data"], key=lambda row: row["index"])
            places = [row["index"] for row in rows]
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise self._unavailable("sent an answer that is no list of embeddings") from error
        if places != list(range(len(texts))):
            raise self._unavailable(f"answered {len(texts)} texts with embeddings numbered otherwise")
        if vectors.ndim != 2 or vectors.shape[1] == 0:
            raise self._unavailable("sent embeddings of unequal length")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._unavailable("sent an embedding that is not finite or all zero")
        unit: Vectors = vectors / lengths
        return unit

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        """The first successful response; waits between attempts."""
        attempt = 1
        while True:
            try:
                response = self._client.post(self._endpoint, json=body)
            except httpx.TransportError as error:
                if attempt == self._attempts:
                    raise self._unavailable(f"cannot be reached ({type(error).__name__})") from error
                wait_seconds = self._doubled(attempt)
            else:
                if response.is_success:
                    return response
                if response.status_code not in _RETRIED or attempt == self._attempts:
                    raise self._unavailable(_refusal(response.status_code))
                wait_seconds = _retry_after(response) or self._doubled(attempt)
            time.sleep(min(wait_seconds, LONGEST_WAIT_SECONDS))
            attempt += 1

    def _doubled(self, attempt: int) -> float:
        return self._backoff_seconds * float(2 ** (attempt - 1))

    def _unavailable(self, what: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"The embedding server {self._endpoint.host} (model {self._model}) {what}.")


def _endpoint(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url.rstrip("/"))
    except httpx.InvalidURL as error:
        raise SetupError("MEMVOUCH_EMBEDDER_URL is not a URL.") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise SetupError("MEMVOUCH_EMBEDDER_URL must start with http:// or https:// and name a host.")
    if parsed.userinfo:
        raise SetupError("MEMVOUCH_EMBEDDER_URL must not carry a password; use MEMVOUCH_EMBEDDER_API_KEY.")
    return (
        parsed
        if parsed.path.endswith("/embeddings")
        else parsed.copy_with(path=f"{parsed.path.rstrip('/')}/embeddings")
    )


def _refusal(status: int) -> str:
    if status in {401, 403}:
        return f"refused the key (status {status}); check MEMVOUCH_EMBEDDER_API_KEY"
    return f"answered with status {status}"


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks to wait; its date form is rare and falls to the doubling."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.replace(".", "", 1).isdecimal() else None
