"""Ingest: sources, the jobs that read them, the messages and entities found in them, and counts of use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0001"
branch_labels = None
depends_on = None

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.BigInteger()


def upgrade() -> None:
    _create_jobs()
    _create_sources()
    _create_entities()
    _create_usage()


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("status", KEY, nullable=False),
        sa.Column("stage", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("memory_count", sa.Integer(), nullable=False),
        sa.Column("entity_count", sa.Integer(), nullable=False),
        sa.Column("edge_count", sa.Integer(), nullable=False),
        sa.Column("tokens_used", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME, nullable=True),
        sa.Column("completed_at", TIME, nullable=True),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_jobs_space_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_status", "jobs", ["status", "created_at", "id"])
    op.create_index("ix_jobs_space_id", "jobs", ["space_id"])


def _create_sources() -> None:
    op.create_table(
        "sources",
        sa.Column("number", SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("job_id", KEY, nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("event_time", TIME, nullable=True),
        sa.Column("messages", sa.JSON(), nullable=False),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.Column("fingerprint", KEY, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("memory_count", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_sources_space_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_sources_job_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number", name="pk_sources"),
        sa.UniqueConstraint("id", name="uq_sources_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sources_space_id", "sources", ["space_id", "created_at", "number"])
    op.create_index("ix_sources_fingerprint", "sources", ["space_id", "fingerprint"])
    op.create_index("ix_sources_job_id", "sources", ["job_id"])
    op.create_index("ix_sources_tenant_id", "sources", ["tenant_id", "created_at"])
    op.create_table(
        "source_messages",
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("digest", KEY, nullable=False),
        sa.Column("source_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_source_messages_space_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_source_messages_source_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space_id", "digest", name="pk_source_messages"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_source_messages_source_id", "source_messages", ["source_id"])


def _create_entities() -> None:
    op.create_table(
        "entities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_entities_space_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_entities"),
        sa.UniqueConstraint("space_id", "key", name="uq_entities_space_id_key"),
    )
    op.create_table(
        "entity_mentions",
        sa.Column("entity_id", KEY, nullable=False),
        sa.Column("memory_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["entity_id"], ["entities.id"], name="fk_entity_mentions_entity_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["memory_id"], ["memories.id"], name="fk_entity_mentions_memory_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entity_id", "memory_id", name="pk_entity_mentions"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_entity_mentions_memory_id", "entity_mentions", ["memory_id"])


def _create_usage() -> None:
    op.create_table(
        "usage_days",
        sa.Column("tenant_id", KEY, nullable=False),
        sa.Column("day", KEY, nullable=False),
        sa.Column("queries", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "day", name="pk_usage_days"),
        sqlite_with_rowid=False,
    )
