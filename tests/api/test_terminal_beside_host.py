"""The terminal administers a folder while a host serves it."""

from __future__ import annotations

import uuid
from pathlib import Path

from tests.cli.terminal import Terminal
from tests.services.server import RunningHost, serve


def test_a_token_made_beside_a_running_host_works_at_once_and_ends_at_once(running_host: RunningHost) -> None:
    terminal = Terminal(running_host.data_dir)
    space = f"beside-{uuid.uuid4().hex}"
    made = terminal("token", "create", "--name", "beside", "--space", space, "--expires", "1h", "--json").document
    client = running_host.client(made["token"])
    assert client.post("/v1/remember", json={"content": "Written beside."}).status_code == 200
    assert client.get("/v1/memories", params={"space": space}).json()["count"] == 1
    terminal("token", "revoke", made["id"])
    assert client.get("/v1/memories").status_code == 403


def test_a_team_made_beside_a_running_host_shares_its_space(running_host: RunningHost) -> None:
    terminal = Terminal(running_host.data_dir)
    name, user = f"team-{uuid.uuid4().hex}", f"user-{uuid.uuid4().hex}"
    team = terminal("team", "create", name, "--json").document["team"]
    terminal("team", "add", name, user, "--role", "reader", "--create")
    token = terminal("token", "create", "--name", "t", "--user", user, "--json").document["token"]
    stored = running_host.client().post("/v1/remember", json={"content": "For the team.", "team_id": team["id"]})
    member = running_host.client(token)
    assert member.get(f"/v1/memories/{stored.json()['id']}").status_code == 200
    refused = member.post("/v1/remember", json={"content": "No.", "team_id": team["id"]})
    assert refused.status_code == 403


def test_the_last_use_of_a_token_is_known_after_the_host_ends(tmp_path: Path) -> None:
    with serve(tmp_path) as host:
        host.client().get("/v1/memories")
    listed = Terminal(tmp_path)("token", "list", "--json").document["tokens"]
    assert listed[0]["last_used_at"] is not None
