"""What only the server's index promises: outages are told, restarts are survived, strangers are refused."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.grpc import HealthCheckReply, HealthCheckRequest, QdrantServicer, add_QdrantServicer_to_server

from engine.errors import EmbedderMismatch, IndexUnavailable, SetupError
from engine.index.qdrant_server import ServerIndex, remove_collection
from engine.index.server_connection import Address
from tests.index.examples import DIMENSION, EVERYTHING, USUAL, dense, matching, point
from tests.services.qdrant import QdrantServer, free_port


def test_points_survive_a_killed_server_and_the_index_finds_it_again(own_qdrant_server: QdrantServer) -> None:
    own_qdrant_server.start()
    with _opened(own_qdrant_server) as index:
        index.upsert([point(f"record-{number:04d}") for number in range(700)])
        index.delete_records(["record-0000"])
        own_qdrant_server.stop(signal.SIGKILL)
        with pytest.raises(IndexUnavailable):
            index.search_dense(dense(1), USUAL, 5)
        own_qdrant_server.start()
        assert index.record_ids() == {f"record-{number:04d}" for number in range(1, 700)}


def test_a_server_that_is_not_there_is_unavailable_and_not_empty() -> None:
    with pytest.raises(IndexUnavailable, match="UNAVAILABLE"):
        ServerIndex.open(f"qdrant://127.0.0.1:{free_port()}", None, "anything", DIMENSION)


def test_a_collection_that_vanished_is_unavailable_and_not_empty(qdrant_server: QdrantServer) -> None:
    with _opened(qdrant_server) as index:
        remove_collection(qdrant_server.url, None, index.collection)
        with pytest.raises(IndexUnavailable, match="NOT_FOUND"):
            index.search_dense(dense(1), USUAL, 5)


def test_a_key_is_needed_where_the_server_wants_one(own_qdrant_server: QdrantServer) -> None:
    own_qdrant_server.api_key = "a key of this test"
    own_qdrant_server.start()
    for wrong in (None, "another key"):
        with pytest.raises(SetupError, match="MEMVOUCH_INDEX_API_KEY") as refused:
            ServerIndex.open(own_qdrant_server.url, wrong, "keyed", DIMENSION)
        assert "another key" not in str(refused.value)
    index = ServerIndex.open(own_qdrant_server.url, own_qdrant_server.api_key, "keyed", DIMENSION)
    index.upsert([point("a")])
    assert matching(index, EVERYTHING) == {"a"}
    index.close()


def test_two_replicas_share_one_collection(qdrant_server: QdrantServer) -> None:
    name = qdrant_server.new_collection()
    with ThreadPoolExecutor(4) as pool:
        replicas = list(pool.map(lambda _: ServerIndex.open(qdrant_server.url, None, name, DIMENSION), range(4)))
    replicas[0].upsert([point("a")])
    assert all(matching(replica, EVERYTHING) == {"a"} for replica in replicas)
    for replica in replicas:
        replica.close()


def test_another_dimension_is_a_mismatch(qdrant_server: QdrantServer) -> None:
    with _opened(qdrant_server) as index, pytest.raises(EmbedderMismatch, match="memvouch reindex"):
        ServerIndex.open(qdrant_server.url, None, index.collection, DIMENSION + 1)


def test_a_collection_of_something_else_is_left_alone(qdrant_server: QdrantServer) -> None:
    name = qdrant_server.new_collection()
    stranger = QdrantClient(host="127.0.0.1", port=qdrant_server.rest_port, check_compatibility=False)
    stranger.create_collection(name, models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE))
    with pytest.raises(SetupError, match="not Memvouch's"):
        ServerIndex.open(qdrant_server.url, None, name, DIMENSION)
    assert stranger.get_collection(name).payload_schema == {}
    stranger.close()


def test_every_filter_has_a_payload_index_and_the_space_is_the_tenant(qdrant_server: QdrantServer) -> None:
    with _opened(qdrant_server) as index:
        client = QdrantClient(host="127.0.0.1", port=qdrant_server.rest_port, check_compatibility=False)
        schema = client.get_collection(index.collection).payload_schema
        client.close()
    tenant = schema["space_id"].params
    assert isinstance(tenant, models.KeywordIndexParams)
    assert tenant.is_tenant
    assert len(schema) == 17


def test_removing_a_collection_twice_is_fine(qdrant_server: QdrantServer) -> None:
    with _opened(qdrant_server) as index:
        name = index.collection
    remove_collection(qdrant_server.url, None, name)
    remove_collection(qdrant_server.url, None, name)
    with _opened(qdrant_server, name) as index:
        assert index.info().points == 0


def test_a_server_that_is_too_old_is_refused() -> None:
    with _answering_as("1.15.5") as url, pytest.raises(SetupError, match=r"1\.15\.5.*1\.16"):
        ServerIndex.open(url, None, "anything", DIMENSION)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("qdrant://localhost", Address("localhost", 6334, 6333, tls=False)),
        ("qdrant://10.0.0.7:7000", Address("10.0.0.7", 7000, 6333, tls=False)),
        ("qdrant://[::1]:7000", Address("::1", 7000, 6333, tls=False)),
        ("qdrant://cloud.example:6334?tls=1&rest=443", Address("cloud.example", 6334, 443, tls=True)),
    ],
)
def test_an_address_is_read_from_the_url(url: str, address: Address) -> None:
    assert Address.parse(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:6334",
        "qdrant://",
        "qdrant://host:port",
        "qdrant://host:99999",
        "qdrant://host/path",
        "qdrant://user:secret@host",
        "qdrant://host?tls=yes",
        "qdrant://host?rest=x",
        "qdrant://host?unknown=1",
    ],
)
def test_a_url_of_another_form_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(SetupError, match="MEMVOUCH_INDEX_URL") as refused:
        Address.parse(url)
    assert "secret" not in str(refused.value)


@contextmanager
def _opened(server: QdrantServer, name: str | None = None) -> Iterator[ServerIndex]:
    index = ServerIndex.open(server.url, None, name or server.new_collection(), DIMENSION)
    try:
        yield index
    finally:
        index.close()


@contextmanager
def _answering_as(version: str) -> Iterator[str]:
    """A gRPC server that knows only how to tell its version."""

    class OldServer(QdrantServicer):
        def HealthCheck(self, request: HealthCheckRequest, context: grpc.ServicerContext) -> HealthCheckReply:  # noqa: N802
            return HealthCheckReply(title="qdrant", version=version)

    port = free_port()
    server = grpc.server(ThreadPoolExecutor(1))
    add_QdrantServicer_to_server(OldServer(), server)  # type: ignore[no-untyped-call]
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield f"qdrant://127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
