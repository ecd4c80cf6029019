"""The first schema.

Written out rather than taken from `schema.py`: a migration must build the same tables for ever.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.BigInteger()


def upgrade() -> None:
    _create_accounts()
    _create_spaces_and_tokens()
    _create_memories()
    _index_memories()
    _create_statistics()
    _create_upkeep()
    _forbid_changes_of_audit()


def _create_accounts() -> None:
    op.create_table(
        "tenants",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tenants"),
    )
    op.create_table(
        "users",
        sa.Column("id", KEY, nullable=False),
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_users_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_users_tenant_id_name"),
    )
    op.create_table(
        "teams",
        sa.Column("id", KEY, nullable=False),
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_teams_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_teams_tenant_id_name"),
    )
    op.create_table(
        "team_members",
        sa.Column("team_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_team_members_team_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_team_members_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team_id", "user_id", name="pk_team_members"),
    )
    op.create_index("ix_team_members_user_id", "team_members", ["user_id"])


def _create_spaces_and_tokens() -> None:
    op.create_table(
        "spaces",
        sa.Column("id", KEY, nullable=False),
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("owner_user_id", KEY, nullable=False),
        sa.Column("team_id", KEY, nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["owner_user_id"], ["users.id"], name="fk_spaces_owner_user_id"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_spaces_team_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_spaces_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_spaces"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_spaces_tenant_id_name"),
    )
    op.create_index("ix_spaces_owner_user_id", "spaces", ["owner_user_id"])
    op.create_index("ix_spaces_team_id", "spaces", ["team_id"])
    op.create_table(
        "tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("prefix", KEY, nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("is_narrowed", sa.Boolean(), nullable=False),
        sa.Column("default_space_id", KEY, nullable=True),
        sa.Column("read_only", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.Column("last_used_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["default_space_id"], ["spaces.id"], name="fk_tokens_default_space_id", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_tokens_tenant_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_tokens_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("prefix", name="uq_tokens_prefix"),
    )
    op.create_index("ix_tokens_default_space_id", "tokens", ["default_space_id"])
    op.create_index("ix_tokens_tenant_id", "tokens", ["tenant_id"])
    op.create_index("ix_tokens_user_id", "tokens", ["user_id"])
    op.create_table(
        "token_spaces",
        sa.Column("token_id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("can_write", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_token_spaces_space_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="fk_token_spaces_token_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_id", "space_id", name="pk_token_spaces"),
    )
    op.create_index("ix_token_spaces_space_id", "token_spaces", ["space_id"])


def _create_memories() -> None:
    op.create_table(
        "memories",
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_digest", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("path_key", KEY, nullable=False),
        sa.Column("memory_type", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("bucket", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=True),
        sa.Column("team_id", sa.Text(), nullable=True),
        sa.Column("importance", sa.Double(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("semantic_key", sa.Text(), nullable=True),
        sa.Column("semantic_slot", sa.Text(), nullable=True),
        sa.Column("state_key", sa.Text(), nullable=True),
        sa.Column("state_slot", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("agent_instance_hash", sa.Text(), nullable=True),
        sa.Column("item_status", sa.Text(), nullable=True),
        sa.Column("due_at", TIME, nullable=True),
        sa.Column("event_time", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("access_count", sa.Integer(), nullable=False),
        sa.Column("last_accessed_at", TIME, nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_memories_space_id"),
        sa.PrimaryKeyConstraint("id", name="pk_memories"),
    )
    op.create_table(
        "memory_versions",
        sa.Column("memory_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("memory_type", sa.Text(), nullable=False),
        sa.Column("recorded_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["memory_id"], ["memories.id"], name="fk_memory_versions_memory_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("memory_id", "version", name="pk_memory_versions"),
    )


def _index_memories() -> None:
    op.create_index("ix_memories_space_id_created_at", "memories", ["space_id", "created_at", "id"])
    op.create_index("ix_memories_space_id_updated_at", "memories", ["space_id", "updated_at", "id"])
    op.create_index("ix_memories_space_id_kind", "memories", ["space_id", "kind", "created_at"])
    op.create_index("ix_memories_space_id_status", "memories", ["space_id", "status", "kind", "expires_at"])
    op.create_index(
        "ix_memories_space_id_content_digest", "memories", ["space_id", "content_digest", "created_at", "id"]
    )
    _index_where_present("semantic_key", ["space_id", "semantic_key"])
    _index_where_present("semantic_slot", ["space_id", "semantic_slot", "updated_at", "id"])
    _index_where_present("state_slot", ["space_id", "state_slot", "updated_at", "id"])
    _index_where_present("source_id", ["space_id", "source_id"])
    _index_where_present("expires_at", ["expires_at", "id"])


def _index_where_present(column: str, columns: list[str]) -> None:
    present = sa.text(f"{column} IS NOT NULL")
    op.create_index(f"ix_memories_{column}", "memories", columns, sqlite_where=present, postgresql_where=present)


def _create_statistics() -> None:
    op.create_table(
        "space_terms",
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("term", KEY, nullable=False),
        sa.Column("document_frequency", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_space_terms_space_id"),
        sa.PrimaryKeyConstraint("space_id", "term", name="pk_space_terms"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "space_totals",
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_space_totals_space_id"),
        sa.PrimaryKeyConstraint("space_id", name="pk_space_totals"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "space_paths",
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("path_digest", KEY, nullable=False),
        sa.Column("path_key", KEY, nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_space_paths_space_id"),
        sa.PrimaryKeyConstraint("space_id", "path_digest", name="pk_space_paths"),
        sqlite_with_rowid=False,
    )


def _create_upkeep() -> None:
    op.create_table(
        "outbox",
        sa.Column("sequence", SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("record_id", KEY, nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_outbox"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_record_id", "outbox", ["record_id"])
    op.create_table(
        "idempotency_keys",
        sa.Column("actor", KEY, nullable=False),
        sa.Column("operation", KEY, nullable=False),
        sa.Column("key_digest", KEY, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("response", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("actor", "operation", "key_digest", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])
    op.create_table(
        "audit",
        sa.Column("sequence", SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("token_id", KEY, nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", KEY, nullable=True),
        sa.Column("space_id", KEY, nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_audit"),
        sa.UniqueConstraint("id", name="uq_audit_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_target", "audit", ["target"])
    op.create_index("ix_audit_tenant_id", "audit", ["tenant_id", "sequence"])
    op.create_table(
        "meta",
        sa.Column("key", KEY, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_meta"),
        sqlite_with_rowid=False,
    )


def _forbid_changes_of_audit() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON audit "
                "BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END"
            )
    else:
        op.execute(
            "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'audit is append-only'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit "
            "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()"
        )
