"""What the contract's other clients send and read, as plain requests."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from engine.domain.access import ALL_SCOPES, Scope
from engine.upkeep.administration import TokenKind
from tests.services.server import RunningHost

FINAL = ("completed", "partial", "failed")


@pytest.fixture
def http(running_host: RunningHost, key: str) -> Iterator[httpx.Client]:
    yield running_host.client(key)


def done(http: httpx.Client, job_id: str) -> dict[str, Any]:
    """A job once it is done."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        job: dict[str, Any] = http.get(f"/api/v1/jobs/{job_id}").json()
        if job["status"] in FINAL:
            return job
        time.sleep(0.02)
    raise AssertionError("the job did not end")


def contents(http: httpx.Client, space_id: str) -> list[str]:
    listed = http.get("/api/v1/memories", params={"space_id": space_id, "order": "asc"}).json()
    return sorted(memory["content"] for memory in listed["memories"])


def test_nulls_and_unknown_fields_of_old_clients_are_accepted(http: httpx.Client, space_id: str) -> None:
    source = {"content": "Tea is at four.", "content_type": "text", "role": None, "sequence": 0, "meta": None}
    first = http.post("/api/v1/sources", json={"space_uuid": space_id, "sources": [source], "novel": 1})
    talk = {
        "space_id": space_id,
        "messages": [{"role": "user", "content": "Hello there, Bo."}],
        "session_id": None,
        "session_date": None,
        "meta": None,
    }
    second = http.post("/api/v1/conversations", json=talk)
    assert (first.status_code, second.status_code) == (202, 202)
    body = second.json()
    assert body["source_ids"] == [body["source_id"]] and body["status"] == "pending"
    done(http, first.json()["job_id"])
    done(http, body["job_id"])
    found = http.post("/api/v1/search", json={"space_id": space_id, "query": "tea", "recency_bias": None}).json()
    assert {"query", "candidates", "total", "took_ms"} <= found.keys()
    assert found["candidates"][0]["recorded_at"] and found["candidates"][0]["owner_name"] == "owner"


def test_a_list_request_with_a_json_content_type_and_no_body_is_served(http: httpx.Client, space_id: str) -> None:
    headers = {"Content-Type": "application/json"}
    space = http.get("/api/v1/spaces", headers=headers).json()["spaces"][0]
    assert {"description", "meta"} <= space.keys()
    assert http.delete(f"/api/v1/spaces/{space_id}", headers=headers).status_code == 204


def test_a_source_that_is_sent_again_at_once_is_the_same_source(http: httpx.Client, space_id: str) -> None:
    body = {"space_id": space_id, "sources": [{"content": "Only once."}, {"content": "Only once."}]}
    first, second = (http.post("/api/v1/sources", json=body).json() for _ in range(2))
    assert first == second and len(set(first["source_ids"])) == 1
    body["sources"] = [{"content": "Only once."}, {"content": "And this."}]
    third = http.post("/api/v1/sources", json=body).json()
    assert third["source_ids"][0] == first["source_ids"][0] and third["job_id"] != first["job_id"]
    for job_id in (first["job_id"], third["job_id"]):
        done(http, job_id)
    assert contents(http, space_id) == ["And this.", "Only once."]


def test_a_session_that_is_sent_again_brings_only_what_is_new(http: httpx.Client, space_id: str) -> None:
    def send(*said: str) -> dict[str, Any]:
        messages = [{"role": "user", "content": text} for text in said]
        body = {"space_id": space_id, "session_id": "hermes-1", "messages": messages}
        answer: dict[str, Any] = http.post("/api/v1/conversations", json=body).json()
        done(http, answer["job_id"])
        return answer

    first = send("My flight is at nine.")
    send("Seat four, please.")
    whole = send("My flight is at nine.", "Seat four, please.", "Thanks.", "Thanks.")
    again = send("My flight is at nine.", "Seat four, please.", "Thanks.", "Thanks.")
    assert again["source_id"] == whole["source_id"] != first["source_id"]
    expected = ["user: My flight is at nine.", "user: Seat four, please."]
    expected.append("user: Seat four, please.\nuser: Thanks.\nuser: Thanks.")
    assert contents(http, space_id) == expected


def test_one_bad_source_fails_alone(http: httpx.Client, space_id: str) -> None:
    sources = [{"content": "{not json", "content_type": "json"}, {"content": '{"a": {"b": 1}}', "content_type": "json"}]
    accepted = http.post("/api/v1/sources", json={"space_id": space_id, "sources": sources}).json()
    job = done(http, accepted["job_id"])
    assert job["status"] == "partial" and list(job["result"]["source_errors"].values()) == ["the content is not JSON"]
    assert job["result"]["failed_source_ids"] + job["result"]["source_ids"] == job["source_ids"]
    assert contents(http, space_id) == ["a.b: 1"]


def test_strict_mode_says_that_nothing_fits(http: httpx.Client, space_id: str) -> None:
    body = {"space_id": space_id, "sources": [{"content": "The printer is on floor two."}]}
    done(http, http.post("/api/v1/sources", json=body).json()["job_id"])
    asked = {"space_id": space_id, "query": "Who won the chess final in Reykjavik?"}
    strict = http.post("/api/v1/search", json={**asked, "mode": "strict"})
    assert strict.status_code == 200 and strict.json()["candidates"] == []
    assert strict.json()["no_match"]["reason"] == "below_threshold"
    assert http.post("/api/v1/search", json=asked).json()["candidates"] != []
    assert http.post("/api/v1/search", json={**asked, "min_confidence": 0.99}).json()["candidates"] == []


def test_the_shared_address_tells_the_contracts_apart(running_host: RunningHost, http: httpx.Client) -> None:
    owner = running_host.client()
    made = owner.post("/v1/remember", json={"content": "Shared by both.", "path": "both"}).json()
    plain = owner.get("/api/v1/memories", params={"limit": 1}).json()
    assert "path" in plain["memories"][0] and "next_cursor" in plain
    by_space = owner.get("/api/v1/memories", params={"space_id": made["space_id"]}).json()
    by_key = http.get("/api/v1/memories").json()
    assert all("access_frequency" in each for body in (by_space, by_key) for each in body["memories"])
    one = owner.get(f"/api/v1/memories/{made['id']}").json()
    assert (one["path"], one["access_frequency"], one["id"]) == ("both", 0, made["id"])
    assert owner.patch(f"/api/v1/memories/{made['id']}", json={"importance": 0.5}).status_code == 200
    assert http.delete(f"/api/v1/memories/{made['id']}").status_code == 204
    assert owner.get(f"/v1/memories/{made['id']}").status_code == 404
    bad = running_host.client("mv_abcdefgh_" + "x" * 43)
    assert bad.get("/api/v1/memories").status_code == 403
    assert bad.get("/api/v1/memories", params={"space_id": made["space_id"]}).status_code == 401
    assert bad.get(f"/api/v1/memories/{made['id']}").status_code == 403
    missing = f"memories/{uuid.uuid4()}"
    assert owner.get(f"/api/v1/{missing}").json() == owner.get(f"/v1/{missing}").json()


def test_another_tenants_things_are_like_missing_ones(running_host: RunningHost, http: httpx.Client) -> None:
    space_id = http.get("/api/v1/spaces").json()["spaces"][0]["id"]
    body = {"space_id": space_id, "sources": [{"content": f"Carla knows the vault code {uuid.uuid4().hex}."}]}
    accepted = http.post("/api/v1/sources", json=body).json()
    done(http, accepted["job_id"])
    memory_id = http.get("/api/v1/memories", params={"space_id": space_id}).json()["memories"][0]["id"]
    entity_id = http.get("/api/v1/entities", params={"space_id": space_id}).json()["entities"][0]["id"]
    token = running_host.issue(tenant=f"t-{uuid.uuid4().hex}", scopes=ALL_SCOPES, kind=TokenKind.SPACE_KEY)
    stranger = running_host.client(token)

    def ask(space: str, source: str, memory: str, entity: str, job: str) -> list[tuple[int, str]]:
        answers = [
            stranger.get(f"/api/v1/spaces/{space}"),
            stranger.delete(f"/api/v1/spaces/{space}"),
            stranger.post("/api/v1/search", json={"space_id": space, "query": "vault code"}),
            stranger.post("/api/v1/sources", json={"space_id": space, "sources": [{"content": "x"}]}),
            stranger.get("/api/v1/sources", params={"space_id": space}),
            stranger.get(f"/api/v1/sources/{source}"),
            stranger.delete(f"/api/v1/sources/{source}"),
            stranger.get(f"/api/v1/memories/{memory}"),
            stranger.delete(f"/api/v1/memories/{memory}"),
            stranger.get(f"/api/v1/entities/{entity}"),
            stranger.get(f"/api/v1/jobs/{job}"),
        ]
        hidden = {space: "S", source: "R", memory: "M", entity: "E", job: "J"}
        found = []
        for answer in answers:
            text = answer.json()["detail"]
            for name, letter in hidden.items():
                text = text.replace(name, letter)
            found.append((answer.status_code, text))
        return found

    foreign = ask(space_id, accepted["source_ids"][0], memory_id, entity_id, accepted["job_id"])
    missing = ask(*(str(uuid.uuid4()) for _ in range(5)))
    assert foreign == missing and {status for status, _ in foreign} == {404}
    assert stranger.get("/api/v1/sources").json()["total"] == 0
    assert stranger.get("/api/v1/entities").json()["total"] == 0
    assert stranger.get("/api/v1/memories").json()["count"] == 0


def test_a_key_of_one_space_does_what_it_is_for_and_no_more(running_host: RunningHost, http: httpx.Client) -> None:
    name = f"bound-{uuid.uuid4().hex}"
    token = running_host.issue(spaces=[(name, True)], kind=TokenKind.SPACE_KEY)
    space_id = http.get("/api/v1/spaces", params={"name": name}).json()["spaces"][0]["id"]
    bound = running_host.client(token)
    assert bound.get(f"/api/v1/spaces/{space_id}").status_code == 200
    body = {"space_id": space_id, "query": "x"}
    assert bound.post("/api/v1/search", json=body).status_code == 200
    assert bound.get("/api/v1/auth/me").json()["space_id"] == space_id
    assert bound.get("/api/v1/auth/keys/validate").json() == {
        "valid": True,
        "key_prefix": token[:12],
        "space_id": space_id,
    }
    assert bound.get("/api/v1/spaces").status_code == 403
    assert bound.get("/api/v1/orgs").status_code == 403
    other = {"space_id": str(uuid.uuid4()), "query": "x"}
    assert bound.post("/api/v1/search", json=other).json()["detail"].endswith("a different memory space.")


@pytest.mark.parametrize("token", [None, "csk_unknown", "csk_abcdefgh_" + "x" * 43])
def test_a_bad_key_is_401_in_the_contracts_form(running_host: RunningHost, token: str | None) -> None:
    answer = running_host.client(token).get("/api/v1/spaces")
    body = answer.json()
    assert answer.status_code == 401 and body["code"] == "unauthorized" and body["request_id"]
    assert answer.headers["x-request-id"] == body["request_id"] and isinstance(body["detail"], str)


def test_a_scope_that_is_missing_is_403(running_host: RunningHost, space_id: str) -> None:
    reader = running_host.client(running_host.issue(scopes=frozenset({Scope.READ}), kind=TokenKind.SPACE_KEY))
    body = {"space_id": space_id, "sources": [{"content": "x"}]}
    assert reader.post("/api/v1/sources", json=body).status_code == 403
    assert reader.delete(f"/api/v1/spaces/{space_id}").status_code == 403
    assert reader.get("/api/v1/sources", params={"space_id": space_id}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("search", {"query": "x"}),
        ("search", {"query": "x", "space_id": "not a uuid"}),
        ("search", {"query": "x" * 3001, "space_id": str(uuid.uuid4())}),
        ("sources", {"space_id": str(uuid.uuid4()), "sources": []}),
        ("sources", {"space_id": str(uuid.uuid4()), "sources": [{"content": "x", "content_type": "video"}]}),
        ("sources", {"space_id": str(uuid.uuid4()), "sources": [{"content": "x", "visibility": "world"}]}),
        ("conversations", {"space_id": str(uuid.uuid4()), "messages": [{"role": "r" * 51, "content": "x"}]}),
        ("spaces", {"name": ""}),
    ],
)
def test_a_faulty_body_is_400_and_names_the_field(http: httpx.Client, path: str, body: dict[str, Any]) -> None:
    answer = http.post(f"/api/v1/{path}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert answer.json()["fields"]["fieldErrors"]


def test_two_different_spaces_in_one_request_are_refused(http: httpx.Client) -> None:
    params = {"space_id": str(uuid.uuid4()), "space_uuid": str(uuid.uuid4())}
    answer = http.get("/api/v1/sources", params=params)
    assert answer.status_code == 400 and "must match" in answer.text


@pytest.mark.parametrize("path", ["/api/v1/api/v1/spaces", "/spaces", "/search", "/sources/x"])
def test_a_wrong_base_address_is_told(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 404 and "/api/v1" in answer.json()["detail"]


def test_keys_are_made_listed_and_revoked(running_host: RunningHost, http: httpx.Client) -> None:
    made = http.post("/api/v1/auth/keys", json={"name": "plugin"})
    assert made.status_code == 201
    raw = made.json()["raw_key"]
    mine = running_host.client(raw)
    assert raw.startswith("csk_") and mine.get("/api/v1/spaces").status_code == 200
    listed = http.get("/api/v1/auth/keys").json()["keys"]
    assert made.json()["id"] in [key["id"] for key in listed] and raw not in str(listed)
    assert mine.post("/api/v1/auth/keys", json={}).status_code == 403
    assert http.delete(f"/api/v1/auth/keys/{made.json()['id']}").status_code == 204
    assert mine.get("/api/v1/spaces").status_code == 401


def test_an_organization_owns_the_spaces(http: httpx.Client) -> None:
    org = http.get("/api/v1/orgs").json()["orgs"][0]
    made = http.post("/api/v1/spaces", json={"name": f"of-org-{uuid.uuid4().hex}", "org_id": org["id"]})
    assert made.status_code == 201 and made.json()["org_id"] == org["id"]
    assert org["plan"] == "enterprise" and org["your_role"] == "owner"


def test_a_sources_visibility_can_be_changed(http: httpx.Client, space_id: str) -> None:
    body = {"space_id": space_id, "sources": [{"content": "For everybody here."}]}
    accepted = http.post("/api/v1/sources", json=body).json()
    done(http, accepted["job_id"])
    source = accepted["source_ids"][0]
    changed = http.patch(f"/api/v1/sources/{source}/visibility", json={"visibility": "org"})
    assert changed.json() == {"id": source, "visibility": "org", "memories_updated": 1, "edges_updated": 0}
    assert http.get(f"/api/v1/sources/{source}").json()["visibility"] == "org"


def test_the_surface_describes_itself(http: httpx.Client) -> None:
    paths = http.get("/api/v1/openapi.json").json()["paths"]
    assert {"/api/v1/spaces", "/api/v1/search", "/api/v1/memories/{memory_uuid}", "/api/v1/jobs/{job_id}"} <= set(paths)


def test_a_deleted_space_leaves_no_source_job_or_entity(http: httpx.Client, space_id: str) -> None:
    body = {"space_id": space_id, "sources": [{"content": "Dora met Emil in Turin."}]}
    accepted = http.post("/api/v1/sources", json=body).json()
    done(http, accepted["job_id"])
    assert http.delete(f"/api/v1/spaces/{space_id}").status_code == 204
    assert http.get(f"/api/v1/sources/{accepted['source_ids'][0]}").status_code == 404
    assert http.get(f"/api/v1/jobs/{accepted['job_id']}").status_code == 404
    assert http.get("/api/v1/entities", params={"q": "emil"}).json()["total"] == 0
