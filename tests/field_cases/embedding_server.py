"""A local OpenAI-compatible embeddings endpoint that can be told to fail.

It serves hashed-word vectors of a chosen dimension, so that an engine can be run on another model
than the bundled one, and on one that breaks down.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from engine.embedding.fake import FakeEmbedder


@dataclass(slots=True)
class EmbeddingServer:
    """Address of the endpoint; while `failing` is set every request is answered with 500."""

    url: str
    failing: bool = False


@contextmanager
def embedding_server(dimension: int) -> Iterator[EmbeddingServer]:
    """Serve vectors of `dimension` on a free loopback port."""
    embedder = FakeEmbedder(dimension)
    server = EmbeddingServer("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if server.failing:
                self._answer(500, {"error": "told to fail"})
                return
            texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
            vectors = embedder.embed_documents(texts)
            self._answer(200, {"data": [{"index": n, "embedding": v.tolist()} for n, v in enumerate(vectors)]})

        def _answer(self, status: int, body: object) -> None:
            payload = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing: the tests check what the engine says."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
