"""Tokens and teams from the terminal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cli.console import ExitCode
from tests.cli.terminal import Terminal


def test_a_new_token_is_shown_once_with_its_id(terminal: Terminal) -> None:
    made = terminal("token", "create", "--name", "laptop", "--json").document
    assert made["token"].startswith(f"{made['prefix']}_") and len(made["token"]) > 40
    assert made["scopes"] == ["memory:read", "memory:write"] and made["spaces"] is None
    listed = terminal("token", "list", "--json")
    assert [each["id"] for each in listed.document["tokens"]] == [made["id"]]
    assert made["token"] not in listed.out


def test_scopes_spaces_and_expiry_narrow_a_token(terminal: Terminal) -> None:
    ran = terminal(
        *("token", "create", "--name", "ci", "--scope", "memory:read", "--scope", "write", "--expires", "30d"),
        *("--space", "builds:read", "--space", "notes", "--json"),
    )
    made = ran.document
    assert made["scopes"] == ["memory:read", "memory:write"]
    assert [each["can_write"] for each in made["spaces"]].count(True) == 1
    expires = datetime.fromisoformat(made["expires_at"])
    assert abs(expires - datetime.now(UTC) - timedelta(days=30)) < timedelta(minutes=1)
    assert "Made the space builds." in ran.err


def test_a_key_for_crosmos_clients_begins_with_csk(terminal: Terminal) -> None:
    made = terminal("token", "create", "--name", "c", "--kind", "csk", "--json").document
    assert made["token"].startswith("csk_")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scope", "memory:fly"), "memory:read"),
        (("--kind", "pin"), "mv or csk"),
        (("--expires", "soon"), "30m"),
        (("--user", "nobody"), "no user named nobody"),
        (("--tenant", "nowhere"), "no tenant named nowhere"),
    ],
)
def test_a_wrong_option_is_named_with_the_way_out(terminal: Terminal, options: tuple[str, str], said: str) -> None:
    ran = terminal("token", "create", "--name", "x", *options)
    assert ran.code in (ExitCode.USAGE, ExitCode.NOT_FOUND) and said in ran.err
    assert ran.out == ""


def test_a_token_is_revoked_by_prefix_or_id(terminal: Terminal) -> None:
    for key in ("prefix", "id"):
        made = terminal("token", "create", "--name", "x", "--json").document
        revoked = terminal("token", "revoke", made[key], "--json").document["revoked"]
        assert revoked["id"] == made["id"] and revoked["revoked_at"]
    assert terminal("token", "revoke", "mv_nothere").code == ExitCode.NOT_FOUND


def test_a_user_of_another_tenant_gets_a_tenant_of_its_own(terminal: Terminal) -> None:
    mine = terminal("token", "create", "--name", "a", "--json").document
    foreign = terminal("token", "create", "--name", "b", "--tenant", "acme", "--user", "ada", "--create", "--json")
    assert foreign.document["user_id"] != mine["user_id"]
    assert [each["id"] for each in terminal("token", "list", "--json").document["tokens"]] == [mine["id"]]
    listed = terminal("token", "list", "--tenant", "acme", "--json").document["tokens"]
    assert [each["id"] for each in listed] == [foreign.document["id"]]


def test_a_team_has_a_space_and_members_with_roles(terminal: Terminal) -> None:
    made = terminal("team", "create", "platform", "--json").document
    assert made["space"]["name"] == "platform"
    assert terminal("team", "add", "platform", "ada").code == ExitCode.NOT_FOUND
    added = terminal("team", "add", "platform", "ada", "--role", "writer", "--create", "--json").document["member"]
    assert (added["name"], added["role"]) == ("ada", "writer")
    members = terminal("team", "members", "platform", "--json").document["members"]
    assert {(each["name"], each["role"]) for each in members} == {("owner", "owner"), ("ada", "writer")}
    assert terminal("team", "remove", "platform", "ada").code == ExitCode.DONE
    last_owner = terminal("team", "remove", "platform", "owner")
    assert last_owner.code == ExitCode.USAGE and "at least one owner" in last_owner.err
    assert terminal("team", "delete", "platform").code == ExitCode.USAGE, "its space is still there"
    assert [team["name"] for team in terminal("team", "list", "--json").document["teams"]] == ["platform"]
