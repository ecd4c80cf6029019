from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from engine.domain.access import ALL_SCOPES, DEFAULT_SCOPES, Principal, Scope, SpaceRight
from engine.errors import InvalidRequest, NotFound, Unauthenticated
from engine.store import accounts, tokens
from engine.store.schema import metadata
from engine.store.tokens import IssuedToken, TokenKind
from tests.store.records import NOW, House

DAY = timedelta(days=1)


def issue(connection: Connection, house: House, **choices: Any) -> IssuedToken:
    who = {"tenant_id": house.principal.tenant_id, "user_id": house.principal.user_id}
    return tokens.create(connection, **{**who, "name": "laptop", "now": NOW, **choices})


def test_a_token_speaks_for_its_user_with_its_scopes(house: House) -> None:
    with house.database.writing() as connection:
        issued = issue(connection, house)
        assert tokens.authenticate(connection, issued.secret, NOW) == Principal(
            tenant_id=house.principal.tenant_id,
            user_id=house.principal.user_id,
            scopes=DEFAULT_SCOPES,
            token_id=issued.token.id,
        )


def test_a_token_carries_its_spaces_and_its_default(house: House) -> None:
    rights = (SpaceRight(house.space_id, False),)
    with house.database.writing() as connection:
        issued = issue(connection, house, space_rights=rights, default_space_id=house.space_id, scopes=ALL_SCOPES)
        principal = tokens.authenticate(connection, issued.secret, NOW)
        assert principal.space_rights == rights
        assert principal.default_space_id == house.space_id
        assert principal.scopes == ALL_SCOPES


def test_narrowed_to_no_space_is_not_the_same_as_not_narrowed(house: House) -> None:
    with house.database.writing() as connection:
        nowhere, anywhere = issue(connection, house, space_rights=()), issue(connection, house)
        assert tokens.authenticate(connection, nowhere.secret, NOW).space_rights == ()
        assert tokens.authenticate(connection, anywhere.secret, NOW).space_rights is None


def test_a_read_only_token_only_reads_whatever_its_scopes(house: House) -> None:
    with house.database.writing() as connection:
        issued = issue(connection, house, scopes=ALL_SCOPES, read_only=True)
        assert tokens.authenticate(connection, issued.secret, NOW).scopes == {Scope.READ}
        unreadable = issue(connection, house, scopes={Scope.DELETE}, read_only=True)
        assert tokens.authenticate(connection, unreadable.secret, NOW).scopes == frozenset()


@pytest.mark.parametrize(("kind", "start"), [(TokenKind.GENERAL, "mv"), (TokenKind.SPACE_KEY, "csk")])
def test_a_token_begins_with_its_kind_and_public_prefix(house: House, kind: TokenKind, start: str) -> None:
    with house.database.writing() as connection:
        issued = issue(connection, house, kind=kind)
        other = issue(connection, house, kind=kind)
    assert re.fullmatch(rf"{start}_[a-z0-9]{{8}}_[A-Za-z0-9_-]{{43}}", issued.secret)
    assert issued.secret.startswith(issued.token.prefix + "_")
    assert issued.secret[-43:] != other.secret[-43:]


def test_the_secret_is_neither_stored_nor_printed(house: House) -> None:
    with house.database.writing() as connection:
        issued = issue(connection, house)
    secret_part = issued.secret.removeprefix(issued.token.prefix + "_")
    assert secret_part not in repr(issued)
    with house.database.reading() as connection:
        for table in metadata.sorted_tables:
            assert secret_part not in str(connection.execute(sa.select(table)).all())


def test_every_wrong_token_is_refused_with_the_same_words(house: House) -> None:
    with house.database.writing() as connection:
        issued, revoked = issue(connection, house), issue(connection, house)
        tokens.revoke(connection, house.principal.tenant_id, revoked.token.id, NOW)
        stranger = issue(connection, house).token.prefix + issued.secret[len(issued.token.prefix) :]
        wrong = [
            "",
            "mv_",
            issued.token.prefix,
            issued.secret[:-1],
            issued.secret + "x",
            f" {issued.secret}",
            issued.secret.upper(),
            "mv_aaaaaaaa_" + "A" * 43,
            "mv_ååååååå1_" + "A" * 43,
            "half \ud800 pair",
            "x" * 100_000,
            stranger,
            revoked.secret,
        ]
        texts = set()
        for raw in wrong:
            with pytest.raises(Unauthenticated) as caught:
                tokens.authenticate(connection, raw, NOW)
            assert caught.value.missing is False
            texts.add(str(caught.value))
    assert len(texts) == 1
    assert not any(raw and raw in texts.copy().pop() for raw in wrong)


def test_a_token_ends_at_the_second_at_which_it_expires(house: House) -> None:
    with house.database.writing() as connection:
        issued = issue(connection, house, expires_at=NOW + DAY)
        tokens.authenticate(connection, issued.secret, NOW + DAY - timedelta(microseconds=1))
        with pytest.raises(Unauthenticated, match="expired"):
            tokens.authenticate(connection, issued.secret, NOW + DAY)
        # Only the holder of the secret learns that it has expired.
        with pytest.raises(Unauthenticated, match="Invalid or revoked"):
            tokens.authenticate(connection, issued.secret[:-1] + "-", NOW + DAY)


def test_tokens_are_listed_oldest_first_by_prefix_without_secrets(house: House) -> None:
    with house.database.writing() as connection:
        later = issue(connection, house, name="later", now=NOW + DAY)
        sooner = issue(connection, house, name="sooner")
        other_user = accounts.create_user(connection, house.principal.tenant_id, "guest", NOW)
        issue(connection, house, user_id=other_user)
        listed = tokens.list_all(connection, house.principal.tenant_id, user_id=house.principal.user_id)
        assert listed == [sooner.token, later.token]
        assert len(tokens.list_all(connection, house.principal.tenant_id)) == 3


def test_a_token_is_revoked_by_id_or_prefix_and_stays_revoked(house: House) -> None:
    tenant_id = house.principal.tenant_id
    with house.database.writing() as connection:
        for ref in ("id", "prefix"):
            issued = issue(connection, house)
            first = tokens.revoke(connection, tenant_id, getattr(issued.token, ref), NOW)
            assert first.revoked_at == NOW
            assert tokens.revoke(connection, tenant_id, issued.token.id, NOW + DAY).revoked_at == NOW
            with pytest.raises(Unauthenticated):
                tokens.authenticate(connection, issued.secret, NOW)


def test_another_tenant_cannot_see_or_revoke_a_token(house: House) -> None:
    with house.database.writing() as connection:
        issued = issue(connection, house)
        foreign = accounts.create_tenant(connection, "foreign", NOW)
        for ref in (issued.token.id, issued.token.prefix):
            with pytest.raises(NotFound):
                tokens.get(connection, foreign, ref)
            with pytest.raises(NotFound):
                tokens.revoke(connection, foreign, ref, NOW)
        assert tokens.list_all(connection, foreign) == []
        tokens.authenticate(connection, issued.secret, NOW)


def test_the_latest_use_is_noted(house: House) -> None:
    with house.database.writing() as connection:
        issued = issue(connection, house)
        assert issued.token.last_used_at is None
        tokens.mark_used(connection, issued.token.id, NOW + DAY)
        assert tokens.get(connection, house.principal.tenant_id, issued.token.id).last_used_at == NOW + DAY


@pytest.mark.parametrize(
    ("choices", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"scopes": ()}, "scopes"),
        ({"expires_at": NOW}, "expires_at"),
    ],
)
def test_a_token_without_sense_is_refused(house: House, choices: dict[str, Any], field: str) -> None:
    with house.database.writing() as connection, pytest.raises(InvalidRequest) as caught:
        issue(connection, house, **choices)
    assert caught.value.field == field
