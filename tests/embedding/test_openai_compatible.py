"""The HTTP embedder against a real local server: batches, order, retries, and answers that cannot be believed."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from engine.embedding.openai_compatible import BATCH_TEXTS, OpenAICompatibleEmbedder
from engine.errors import EmbedderUnavailable, SetupError

KEY = "sk-secret-4471"


def embedding(text: str) -> list[float]:
    """A direction in the plane that tells the text, not of unit length."""
    angle = sum(text.encode()) % 360
    return [3 * math.cos(math.radians(angle)), 3 * math.sin(math.radians(angle)), 0.5]


def honest(texts: list[str]) -> list[dict[str, Any]]:
    return [{"object": "embedding", "index": place, "embedding": embedding(text)} for place, text in enumerate(texts)]


@dataclass
class Endpoint:
    """What the server has seen, and what it does: `script` is used up first, one entry a request."""

    url: str = ""
    script: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    answer: Callable[[list[str]], Any] = honest
    batches: list[int] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.keys.append(self.headers["Authorization"])
            state.paths.append(self.path)
            state.batches.append(len(body["input"]))
            status, headers = state.script.pop(0) if state.script else (200, {})
            content = json.dumps(
                {"data": state.answer(body["input"])} if status == 200 else {"error": f"no, {KEY}"}
            ).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def embedder(endpoint: Endpoint) -> Iterator[OpenAICompatibleEmbedder]:
    client = OpenAICompatibleEmbedder("small-model", endpoint.url, KEY, backoff_seconds=0.001)
    yield client
    client.close()


def test_vectors_have_unit_length_and_the_servers_dimension(embedder: OpenAICompatibleEmbedder) -> None:
    vectors = embedder.embed_documents(["tea", "coffee"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (2, embedder.dimension) == (2, 3)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    expected = np.array(embedding("coffee")) / np.linalg.norm(embedding("coffee"))
    np.testing.assert_allclose(vectors[1], expected, atol=1e-6)


def test_no_texts_give_no_vectors(embedder: OpenAICompatibleEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 3)


def test_many_texts_go_in_batches_and_keep_their_order(endpoint: Endpoint, embedder: OpenAICompatibleEmbedder) -> None:
    texts = [f"text {number}" for number in range(BATCH_TEXTS + 5)]
    vectors = embedder.embed_documents(texts)
    assert endpoint.batches == [1, BATCH_TEXTS, 5]
    np.testing.assert_allclose(vectors, np.stack([embedder.embed_query(text) for text in texts]), atol=1e-6)


def test_an_answer_in_another_order_is_sorted_by_its_index(
    endpoint: Endpoint, embedder: OpenAICompatibleEmbedder
) -> None:
    in_order = embedder.embed_documents(["tea", "coffee", "water"])
    endpoint.answer = lambda texts: honest(texts)[::-1]
    np.testing.assert_array_equal(embedder.embed_documents(["tea", "coffee", "water"]), in_order)


def test_the_key_goes_to_the_server_in_the_header(endpoint: Endpoint, embedder: OpenAICompatibleEmbedder) -> None:
    embedder.embed_query("tea")
    assert set(endpoint.keys) == {f"Bearer {KEY}"}
    assert set(endpoint.paths) == {"/v1/embeddings"}


def test_a_full_address_is_used_as_it_is(endpoint: Endpoint) -> None:
    embedder = OpenAICompatibleEmbedder("small-model", f"{endpoint.url}/embeddings/")
    embedder.embed_query("tea")
    embedder.close()
    assert set(endpoint.paths) == {"/v1/embeddings"}
    assert set(endpoint.keys) == {None}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(endpoint: Endpoint, embedder: OpenAICompatibleEmbedder, status: int) -> None:
    endpoint.script = [(status, {}), (status, {"Retry-After": "0.01"})]
    assert embedder.dimension == 3
    assert len(endpoint.batches) == 3


def test_a_lasting_failure_is_an_outage_after_four_attempts(
    endpoint: Endpoint, embedder: OpenAICompatibleEmbedder
) -> None:
    endpoint.script = [(500, {})] * 9
    with pytest.raises(EmbedderUnavailable, match="status 500"):
        embedder.embed_query("tea")
    assert len(endpoint.batches) == 4


def test_a_wrong_key_is_not_tried_again_and_appears_nowhere(
    endpoint: Endpoint, embedder: OpenAICompatibleEmbedder
) -> None:
    endpoint.script = [(401, {})] * 9
    with pytest.raises(EmbedderUnavailable, match="MEMVOUCH_EMBEDDER_API_KEY") as caught:
        embedder.embed_query("tea")
    assert len(endpoint.batches) == 1
    for text in (repr(embedder), str(caught.value), repr(caught.value), repr(caught.value.__cause__)):
        assert KEY not in text


def test_a_server_that_is_not_there_is_an_outage() -> None:
    embedder = OpenAICompatibleEmbedder("small-model", "http://127.0.0.1:9/v1", backoff_seconds=0.001, attempts=2)
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        embedder.embed_query("tea")
    embedder.close()


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        pytest.param(lambda texts: honest(texts)[1:], "numbered otherwise", id="one text without an embedding"),
        pytest.param(lambda texts: [*honest(texts)[:-1], honest(texts)[0]], "numbered otherwise", id="an index twice"),
        pytest.param(
            lambda texts: [{"index": place, "embedding": [1.0] * (place + 1)} for place in range(len(texts))],
            "no list of embeddings",
            id="unequal lengths",
        ),
        pytest.param(
            lambda texts: [{"index": place, "embedding": [1.0] * 5} for place in range(len(texts))],
            "dimension from 3 to 5",
            id="another dimension than before",
        ),
        pytest.param(
            lambda texts: [{"index": place, "embedding": [1.0, math.nan, 0.0]} for place in range(len(texts))],
            "not finite",
            id="NaN",
        ),
        pytest.param(
            lambda texts: [{"index": place, "embedding": [0.0] * 3} for place in range(len(texts))],
            "all zero",
            id="zero vector",
        ),
        pytest.param(lambda texts: [{"index": place} for place in range(len(texts))], "no list", id="no embedding"),
        pytest.param(lambda texts: "later", "no list", id="no list at all"),
    ],
)
def test_an_answer_that_cannot_be_right_is_an_outage(
    endpoint: Endpoint, embedder: OpenAICompatibleEmbedder, answer: Callable[[list[str]], Any], complaint: str
) -> None:
    assert embedder.dimension == 3
    endpoint.answer = answer
    with pytest.raises(EmbedderUnavailable, match=complaint):
        embedder.embed_documents(["tea", "coffee"])


def test_a_blank_text_is_refused_before_anything_is_sent(
    endpoint: Endpoint, embedder: OpenAICompatibleEmbedder
) -> None:
    with pytest.raises(ValueError, match="blank"):
        embedder.embed_documents(["tea", " "])
    assert endpoint.batches == []


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("ftp://host/v1", "http://"),
        ("localhost:11434", "http://"),
        ("", "http://"),
        ("http://user:pass@host/v1", "must not carry a password"),
    ],
)
def test_an_address_that_cannot_work_is_refused_at_once(url: str, complaint: str) -> None:
    with pytest.raises(SetupError, match=complaint):
        OpenAICompatibleEmbedder("small-model", url)


def test_tokens_of_a_script_that_wordpiece_lacks_are_counted_by_bytes() -> None:
    embedder = OpenAICompatibleEmbedder("small-model", "http://127.0.0.1:9/v1")
    assert embedder.count_tokens("one two three") == 4
    assert embedder.count_tokens("ꦲꦏ꧀ꦱꦫ" * 8) > 20
    embedder.close()
