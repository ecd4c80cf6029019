"""One table of all routes: what each needs, and one request for it. The matrix of answers follows from it.

A row about a record acts on a fresh record in a team's space; a row about a team or a token acts on
one of the owner's tenant. `expected` derives the status for every kind of caller; nothing else in
the tests says what is allowed.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import httpx

from engine.domain.access import ALL_SCOPES, Role, Scope
from tests.services.server import RunningHost

JOB_SECONDS = 60
READ, WRITE, DELETE, RESTORE, ADMIN = Scope.READ, Scope.WRITE, Scope.DELETE, Scope.RESTORE, Scope.ADMIN


class Caller(StrEnum):
    """Who calls."""

    NOBODY = "no token"
    BAD = "bad token"
    EXPIRED = "expired"
    WRONG_SCOPE = "wrong scope"
    OTHER_TENANT = "other tenant"
    TEAM_READER = "team reader"
    TEAM_WRITER = "team writer"
    OWNER = "owner"


class About(StrEnum):
    """What a request names, and therefore who may know of it."""

    NOTHING = "nothing"
    RECORD = "record"
    TEAM_SPACE = "team space"
    TENANT = "tenant"
    OWN_TEAM = "own team"


@dataclass(frozen=True, slots=True)
class Row:
    """One route. `scopes` are those of which one is enough; empty means any valid token."""

    method: str
    path: str
    scopes: frozenset[Scope]
    about: About = About.NOTHING
    json: Callable[[World], Any] | None = None
    params: Callable[[World], dict[str, str]] | None = None
    success: int = 200

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def writes(self) -> bool:
        return READ not in self.scopes and bool(self.scopes)

    @property
    def is_crosmos(self) -> bool:
        """Whether the route speaks the other contract, whose bad token is 401."""
        return self.path.startswith("/api/v1/")


@dataclass(slots=True)
class World:
    """Tokens of every kind of caller, a team with a space, and what rows act on."""

    host: RunningHost
    tokens: dict[Caller, str | None] = field(default_factory=dict)
    team_id: str = ""
    space_id: str = ""
    member_id: str = ""
    record_id: str = ""
    ref: str = ""
    doomed_team: str = ""
    doomed_space: str = ""
    ingested: dict[str, str] = field(default_factory=dict)

    def renew(self, row: Row) -> None:
        """Fresh things for a row to act on, so that no request depends on an earlier one."""
        owner = self.host.client()
        if row.is_crosmos:
            self._ingest(owner)
            self.ref = owner.post("/v1/admin/tokens", json={"name": "doomed", "kind": "csk"}).json()["id"]
            self.doomed_space = owner.post("/v1/admin/spaces", json=_new(self)).json()["id"]
        elif "{memory_id}" in row.path:
            text = f"Record {uuid.uuid4()} of the team."
            maker = next((path for kind, path in MAKERS.items() if kind in row.path), "/v1/remember")
            body = {"content": text, "context": text, "team_id": self.team_id}
            self.record_id = owner.post(maker, json=body).json()["id"]
        elif "/tokens/{ref}" in row.path:
            self.ref = owner.post("/v1/admin/tokens", json={"name": "doomed"}).json()["id"]
        elif "/spaces/{ref}" in row.path:
            self.ref = owner.post("/v1/admin/spaces", json=_new(self)).json()["id"]
        elif row.name == "DELETE /v1/admin/teams/{team}":
            made = owner.post("/v1/admin/teams", json=_new(self)).json()
            owner.delete(f"/v1/admin/spaces/{made['name']}")
            self.doomed_team = made["id"]

    def _ingest(self, owner: httpx.Client) -> None:
        """A source of the team's space with what came of it."""
        source = {"content": f"Carla Brandt keeps Record {uuid.uuid4()} of the team."}
        taken = owner.post("/api/v1/sources", json={"space_id": self.space_id, "sources": [source]}).json()
        deadline = time.monotonic() + JOB_SECONDS
        while owner.get(f"/api/v1/jobs/{taken['job_id']}").json()["status"] in ("pending", "processing"):
            assert time.monotonic() < deadline, "the job did not end"
            time.sleep(0.02)
        where = {"space_id": self.space_id}
        self.ingested = {
            "source_uuid": taken["source_ids"][0],
            "job_id": taken["job_id"],
            "entity_uuid": owner.get("/api/v1/entities", params=where).json()["entities"][0]["id"],
        }
        self.record_id = owner.get("/api/v1/memories", params=where).json()["memories"][0]["id"]

    def client(self, caller: Caller) -> httpx.Client:
        return self.host.client(self.tokens[caller])

    def send(self, row: Row, caller: Caller) -> httpx.Response:
        """The row's request, by a caller."""
        path = row.path.format(
            memory_id=self.record_id,
            ref=self.ref,
            team=self.doomed_team if row.method == "DELETE" and row.path.endswith("{team}") else self.team_id,
            user_id=self.member_id,
            project_id="p1",
            space_uuid=self.doomed_space if row.method == "DELETE" else self.space_id,
            memory_uuid=self.record_id,
            key_id=self.ref,
            **self.ingested,
        )
        return self.client(caller).request(
            row.method,
            path,
            json=row.json(self) if row.json else None,
            params=row.params(self) if row.params else None,
        )


@contextmanager
def world(host: RunningHost) -> Iterator[World]:
    """A team with a reader and a writer, another tenant with all scopes, and tokens that must fail."""
    made = World(host)
    with host.administration() as (administration, owner):
        team = administration.create_team(owner, f"matrix-{uuid.uuid4().hex}")
        made.team_id = team.id
        made.space_id = administration.team_spaces(owner, team.id)[0].space.id
        names = {role: f"{role.value}-{uuid.uuid4().hex}" for role in (Role.READER, Role.WRITER)}
        for role, name in names.items():
            user = administration.user_named(owner, name, create=True)
            administration.set_role(owner, team.id, user.id, role)
            if role is Role.READER:
                made.member_id = user.id
    data_scopes = ALL_SCOPES - {ADMIN}
    soon = datetime.now(UTC) + timedelta(seconds=0.2)
    made.tokens = {
        Caller.NOBODY: None,
        Caller.BAD: "mv_abcdefgh_" + "x" * 43,
        Caller.EXPIRED: host.issue(scopes=ALL_SCOPES, expires_at=soon),
        Caller.WRONG_SCOPE: None,
        Caller.OTHER_TENANT: host.issue(tenant=f"tenant-{uuid.uuid4().hex}", scopes=ALL_SCOPES),
        Caller.TEAM_READER: host.issue(user=names[Role.READER], scopes=data_scopes),
        Caller.TEAM_WRITER: host.issue(user=names[Role.WRITER], scopes=data_scopes),
        Caller.OWNER: host.owner_token,
    }
    yield made


def wrong_scopes(row: Row) -> frozenset[Scope]:
    """All scopes but those that would do."""
    return ALL_SCOPES - row.scopes - {ADMIN}


def expected(row: Row, caller: Caller) -> int:
    """The status that a caller gets."""
    match caller:
        case Caller.NOBODY:
            return 401
        case Caller.BAD | Caller.EXPIRED:
            return 401 if row.is_crosmos else 403
        case Caller.WRONG_SCOPE:
            return 403 if row.scopes else row.success
        case Caller.OTHER_TENANT:
            return 404 if row.about is not About.NOTHING else row.success
        case Caller.TEAM_READER | Caller.TEAM_WRITER:
            return _expected_of_member(row, may_write=caller is Caller.TEAM_WRITER)
        case Caller.OWNER:
            return row.success


def _expected_of_member(row: Row, *, may_write: bool) -> int:
    if row.scopes == {ADMIN}:
        return 403
    match row.about:
        case About.TENANT:
            return 404
        case About.OWN_TEAM:
            return 403 if row.writes else row.success
        case About.RECORD | About.TEAM_SPACE:
            return 403 if row.writes and not may_write else row.success
        case About.NOTHING:
            return row.success


def _row(
    method: str,
    path: str,
    *scopes: Scope,
    about: About = About.NOTHING,
    json: Callable[[World], Any] | None = None,
    params: Callable[[World], dict[str, str]] | None = None,
    success: int = 200,
) -> Row:
    return Row(method, path, frozenset(scopes), about, json, params, success)


def _team(world: World) -> dict[str, str]:
    return {"team_id": world.team_id}


def _asked(world: World) -> dict[str, str]:
    return {"query": "the record of the team", "team_id": world.team_id}


def _new(world: World) -> dict[str, str]:
    return {"name": f"new-{uuid.uuid4().hex}"}


MAKERS = {"/reminders/": "/v1/reminders", "/decisions/": "/v1/decisions"}
"""Where the records of some rows are made; all others are plain memories."""

OPEN = (
    *("/oauth/", "/.well-known/", "/v1/auth/device/", "/v1/onboarding/", "/v1/mcp/config/", "/v1/skill/operations"),
)
"""Routes with an authentication of their own, held to it by tests of their own."""

PUBLIC = frozenset({"GET /health", "GET /ready", "GET /metrics"})
"""Routes that need no credential."""

CORE = (
    _row("GET", "/v1/auth/token/validate"),
    _row("POST", "/v1/remember", WRITE, json=lambda world: {"content": "Of my own."}),
    _row("POST", "/v1/remember", WRITE, about=About.TEAM_SPACE, json=lambda world: {"content": "x y", **_team(world)}),
    _row("GET", "/v1/memories/search", READ, params=lambda world: {"query": "anything"}),
    _row("GET", "/v1/memories/search", READ, about=About.TEAM_SPACE, params=_asked),
    _row("POST", "/v1/memories/search", READ, about=About.TEAM_SPACE, json=_asked),
    _row("POST", "/v1/recall", READ, about=About.TEAM_SPACE, json=_asked),
    _row("GET", "/v1/recall", READ, about=About.TEAM_SPACE, params=_asked),
    _row("POST", "/v1/recall/context", READ, about=About.TEAM_SPACE, json=_asked),
    _row("GET", "/v1/memories", READ),
    _row("GET", "/v1/memories", READ, about=About.TEAM_SPACE, params=_team),
    _row("GET", "/v1/memories", READ, about=About.TEAM_SPACE, params=lambda world: {"space": world.space_id}),
    _row("GET", "/v1/memories/{memory_id}", READ, about=About.RECORD),
    _row("GET", "/v1/memories/{memory_id}/explain", READ, about=About.RECORD, params=lambda world: {"query": "x y"}),
    _row("PATCH", "/v1/memories/{memory_id}", WRITE, about=About.RECORD, json=lambda world: {"importance": 0.5}),
    _row("PATCH", "/v1/memories/{memory_id}", WRITE, about=About.RECORD, json=lambda world: {"status": "deleted"}),
    _row("POST", "/v1/memories/{memory_id}/forget", DELETE, WRITE, about=About.RECORD, json=lambda world: {}),
    _row(
        "POST",
        "/v1/memories/{memory_id}/forget",
        DELETE,
        WRITE,
        about=About.RECORD,
        json=lambda world: {"mode": "hard_delete"},
    ),
    _row("POST", "/v1/memories/{memory_id}/restore", RESTORE, WRITE, about=About.RECORD, json=lambda world: {}),
    _row("POST", "/v1/update_state", WRITE, json=lambda world: {"content": "busy"}),
    _row(
        "POST",
        "/v1/update_state",
        WRITE,
        about=About.TEAM_SPACE,
        json=lambda world: {"content": "busy", **_team(world)},
    ),
)

ADMINISTRATION = (
    _row("POST", "/v1/admin/tokens", ADMIN, json=_new),
    _row("GET", "/v1/admin/tokens", ADMIN),
    _row("DELETE", "/v1/admin/tokens/{ref}", ADMIN, about=About.TENANT),
    _row("GET", "/v1/admin/users", ADMIN),
    _row("POST", "/v1/admin/users", ADMIN, json=_new),
    _row("GET", "/v1/admin/teams"),
    _row("POST", "/v1/admin/teams", ADMIN, json=_new),
    _row("DELETE", "/v1/admin/teams/{team}", DELETE, WRITE, about=About.TENANT),
    _row("GET", "/v1/admin/teams/{team}/members", about=About.OWN_TEAM),
    _row(
        "PUT",
        "/v1/admin/teams/{team}/members/{user_id}",
        WRITE,
        about=About.OWN_TEAM,
        json=lambda world: {"role": "reader"},
    ),
    _row("DELETE", "/v1/admin/teams/{team}/members/{user_id}", WRITE, about=About.OWN_TEAM),
    _row("GET", "/v1/admin/spaces", READ),
    _row("POST", "/v1/admin/spaces", ADMIN, json=_new),
    _row("DELETE", "/v1/admin/spaces/{ref}", ADMIN, about=About.TENANT),
    _row("GET", "/v1/admin/audit", ADMIN),
)

COMPANION = (
    _row("GET", "/v1/memories/stats", READ, about=About.TEAM_SPACE, params=_team),
    _row("GET", "/v1/memories/overview", READ, about=About.TEAM_SPACE, params=_team),
    _row("GET", "/v1/memories/activity", READ, about=About.TEAM_SPACE, params=_team),
    _row("POST", "/v1/memories/export", READ, json=lambda world: {}),
    _row("POST", "/v1/memories/import", WRITE, json=lambda world: {"jsonl": '{"content": "x y"}', "dry_run": True}),
    _row("POST", "/v1/memories/{memory_id}/usage", READ, about=About.RECORD, json=lambda world: {"action": "used"}),
    _row("GET", "/v1/memories/{memory_id}/versions", READ, about=About.RECORD),
    _row("POST", "/v1/timeline/events", WRITE, json=lambda world: {"content": "It happened."}),
    _row(
        "POST",
        "/v1/timeline/events",
        WRITE,
        about=About.TEAM_SPACE,
        json=lambda world: {"content": "x", **_team(world)},
    ),
    _row("GET", "/v1/timeline", READ),
    _row("GET", "/v1/timeline", READ, about=About.TEAM_SPACE, params=_team),
    _row("POST", "/v1/reminders", WRITE, about=About.TEAM_SPACE, json=lambda world: {"content": "x", **_team(world)}),
    _row("GET", "/v1/reminders", READ),
    _row("POST", "/v1/reminders/{memory_id}/complete", WRITE, about=About.RECORD, json=lambda world: {}),
    _row("POST", "/v1/decisions", WRITE, about=About.TEAM_SPACE, json=lambda world: {"context": "x", **_team(world)}),
    _row("GET", "/v1/decisions", READ),
    _row(
        "POST",
        "/v1/decisions/{memory_id}/resolve",
        WRITE,
        about=About.RECORD,
        json=lambda world: {"resolution": "so be it"},
    ),
    _row("POST", "/v1/restart/snapshot", WRITE, json=lambda world: {}),
    _row("POST", "/v1/restart/restore", RESTORE, WRITE, json=lambda world: {}),
    _row("POST", "/v1/projects/{project_id}/context", READ, json=lambda world: {}),
)


def _space(world: World) -> dict[str, str]:
    return {"space_id": world.space_id}


CROSMOS = (
    _row("GET", "/api/v1/spaces", READ),
    _row("POST", "/api/v1/spaces", WRITE, json=_new, success=201),
    _row("GET", "/api/v1/spaces/{space_uuid}", READ, about=About.TEAM_SPACE),
    _row("DELETE", "/api/v1/spaces/{space_uuid}", DELETE, WRITE, about=About.TENANT, success=204),
    _row("POST", "/api/v1/search", READ, about=About.TEAM_SPACE, json=lambda world: {"query": "x y"} | _space(world)),
    _row(
        "POST",
        "/api/v1/sources",
        WRITE,
        about=About.TEAM_SPACE,
        json=lambda world: {"sources": [{"content": "Tea is at four."}], **_space(world)},
        success=202,
    ),
    _row(
        "POST",
        "/api/v1/conversations",
        WRITE,
        about=About.TEAM_SPACE,
        json=lambda world: {"messages": [{"role": "user", "content": "Tea is at four."}], **_space(world)},
        success=202,
    ),
    _row("GET", "/api/v1/sources", READ, about=About.TEAM_SPACE, params=_space),
    _row("GET", "/api/v1/sources/{source_uuid}", READ, about=About.RECORD),
    _row("DELETE", "/api/v1/sources/{source_uuid}", DELETE, WRITE, about=About.RECORD, success=204),
    _row(
        "PATCH",
        "/api/v1/sources/{source_uuid}/visibility",
        WRITE,
        about=About.RECORD,
        json=lambda world: {"visibility": "private"},
    ),
    _row("GET", "/api/v1/jobs/{job_id}", READ, about=About.TENANT),
    _row("GET", "/api/v1/memories", READ, about=About.TEAM_SPACE, params=_space),
    _row("DELETE", "/api/v1/memories/{memory_uuid}", DELETE, WRITE, about=About.RECORD, success=204),
    _row("GET", "/api/v1/entities", READ, about=About.TEAM_SPACE, params=_space),
    _row("GET", "/api/v1/entities/{entity_uuid}", READ, about=About.RECORD),
    _row("GET", "/api/v1/usage"),
    _row("GET", "/api/v1/orgs"),
    _row("GET", "/api/v1/auth/me"),
    _row("GET", "/api/v1/auth/keys/validate"),
    _row("GET", "/api/v1/auth/keys", ADMIN),
    _row("POST", "/api/v1/auth/keys", ADMIN, json=_new, success=201),
    _row("DELETE", "/api/v1/auth/keys/{key_id}", ADMIN, about=About.TENANT, success=204),
)
"""The other contract: 401 for a bad token, and success by other names."""

UNTABLED = frozenset({"POST /v1/auth/token/revoke-self", "GET /api/v1/memories/{memory_uuid}"})
"""One ends the caller's own token, one speaks either contract by the token; tests of their own cover them."""

# The rows of administration come last: one of them ends the membership of the team's reader.
TABLE = (*CORE, *COMPANION, *CROSMOS, *ADMINISTRATION)
