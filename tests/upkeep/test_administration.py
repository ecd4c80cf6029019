"""Rights to hand out rights, asked without any surface in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain.access import ALL_SCOPES, Principal, Role, Scope, SpaceRight
from engine.errors import Conflict, Forbidden, NotFound
from engine.settings import Settings
from engine.store.database import Database
from engine.upkeep.administration import Administration, TokenRequest
from engine.upkeep.first_run import owner_token, read_owner_token


@pytest.fixture
def folder(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
def administration(folder: Settings) -> Iterator[Administration]:
    with Administration.open(folder) as opened:
        yield opened


@pytest.fixture
def owner(administration: Administration) -> Principal:
    return administration.local_owner()


def holder(administration: Administration, owner: Principal, name: str, *scopes: Scope) -> Principal:
    """A user of the owner's tenant with a token of these scopes."""
    user = administration.user_named(owner, name, create=True)
    return Principal(tenant_id=owner.tenant_id, user_id=user.id, scopes=frozenset(scopes))


def test_only_an_administrator_administers(administration: Administration, owner: Principal) -> None:
    plain = holder(administration, owner, "ada", *(ALL_SCOPES - {Scope.ADMIN}))
    for call in (
        lambda: administration.issue_token(plain, TokenRequest(name="x")),
        lambda: administration.tokens(plain),
        lambda: administration.users(plain),
        lambda: administration.user_named(plain, "new", create=True),
        lambda: administration.create_team(plain, "new"),
        lambda: administration.audit_trail(plain),
    ):
        with pytest.raises(Forbidden):
            call()


def test_a_narrowed_administrator_cannot_hand_out_more_than_it_has(
    administration: Administration, owner: Principal
) -> None:
    space, _ = administration.ensure_space(owner, "one")
    narrowed = replace(owner, space_rights=(SpaceRight(space.id, True),))
    with pytest.raises(Forbidden, match="narrowed"):
        administration.issue_token(narrowed, TokenRequest(name="x"))


def test_a_token_is_for_spaces_of_its_user_only(administration: Administration, owner: Principal) -> None:
    administration.ensure_space(owner, "mine")
    ada = administration.user_named(owner, "ada", create=True)
    with pytest.raises(NotFound):
        administration.issue_token(owner, TokenRequest(name="x", user_id=ada.id, spaces=(("mine", True),)))


def test_another_tenant_is_as_if_it_were_not_there(administration: Administration, owner: Principal) -> None:
    other = administration.operator("acme", create=True)
    token = administration.issue_token(owner, TokenRequest(name="x")).token
    team = administration.create_team(owner, "platform")
    for call in (
        lambda: administration.token(other, token.id),
        lambda: administration.revoke_token(other, token.prefix),
        lambda: administration.members(other, team.id),
        lambda: administration.set_role(other, team.id, other.user_id, Role.OWNER),
        lambda: administration.delete_team(other, team.id),
        lambda: administration.team_spaces(other, team.id),
        lambda: administration.issue_token(other, TokenRequest(name="x", user_id=owner.user_id)),
    ):
        with pytest.raises(NotFound):
            call()
    assert [each.target for each in administration.audit_trail(other)] == []
    assert administration.operator("acme") == other


def test_an_owner_of_a_team_manages_its_members_and_a_writer_does_not(
    administration: Administration, owner: Principal
) -> None:
    team = administration.create_team(owner, "platform")
    lead = holder(administration, owner, "lead", Scope.READ, Scope.WRITE)
    hand = holder(administration, owner, "hand", Scope.READ, Scope.WRITE)
    administration.set_role(owner, team.id, lead.user_id, Role.OWNER)
    administration.set_role(lead, team.name, hand.user_id, Role.WRITER)
    with pytest.raises(Forbidden):
        administration.set_role(hand, team.id, hand.user_id, Role.OWNER)
    with pytest.raises(Forbidden):
        administration.set_role(replace(lead, scopes=frozenset({Scope.READ})), team.id, hand.user_id, Role.READER)
    administration.remove_member(lead, team.id, hand.user_id)
    with pytest.raises(NotFound):
        administration.members(hand, team.id)


def test_the_id_of_a_team_means_its_spaces(administration: Administration, owner: Principal) -> None:
    team = administration.create_team(owner, "platform")
    space = administration.team_spaces(owner, team.id)[0].space
    assert administration.team_spaces(owner, space.id)[0].space == space
    personal, made = administration.ensure_space(owner, "mine")
    assert made and administration.ensure_space(owner, "mine") == (personal, False)
    with pytest.raises(NotFound):
        administration.team_spaces(owner, personal.id)


def test_a_new_user_needs_a_free_space_name(administration: Administration, owner: Principal) -> None:
    administration.ensure_space(owner, "ada")
    with pytest.raises(Conflict):
        administration.user_named(owner, "ada", create=True)
    assert [user.name for user in administration.users(owner)] == ["owner"]


def test_the_owner_token_is_made_once_and_kept(folder: Settings, administration: Administration) -> None:
    database = Database.open(folder.store_url)
    made = owner_token(database, folder.data_dir)
    path = folder.data_dir / "owner.token"
    assert path.stat().st_mode & 0o777 == 0o600
    assert owner_token(database, folder.data_dir) == made == read_owner_token(folder.data_dir)
    owner = administration.local_owner()
    administration.revoke_token(owner, made.rpartition("_")[0] if made.count("_") == 2 else made[:11])
    renewed = owner_token(database, folder.data_dir)
    assert renewed != made and read_owner_token(folder.data_dir) == renewed
    path.write_text("not a token")
    assert owner_token(database, folder.data_dir) not in (made, "not a token")
    database.close()


def test_the_use_of_tokens_can_be_noted(administration: Administration, owner: Principal) -> None:
    token = administration.issue_token(owner, TokenRequest(name="x")).token
    administration.note_used([token.id])
    assert administration.token(owner, token.id).last_used_at is not None
