"""OAuth: registered clients, and what was granted to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TIME = sa.BigInteger()


def upgrade() -> None:
    op.create_table(
        "oauth_clients",
        sa.Column("id", KEY, nullable=False),
        sa.Column("registration", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_oauth_clients"),
    )
    op.create_table(
        "oauth_grants",
        sa.Column("secret_digest", KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("family", KEY, nullable=False),
        sa.Column("client_id", KEY, nullable=False),
        sa.Column("user_code_digest", KEY, nullable=True),
        sa.Column("tenant_id", KEY, nullable=True),
        sa.Column("user_id", KEY, nullable=True),
        sa.Column("token_id", KEY, nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("polled_at", TIME, nullable=True),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("secret_digest", name="pk_oauth_grants"),
        sa.UniqueConstraint("user_code_digest", name="uq_oauth_grants_user_code_digest"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_oauth_grants_tenant_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_oauth_grants_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="fk_oauth_grants_token_id", ondelete="SET NULL"),
    )
    for column in ("family", "client_id", "token_id", "expires_at"):
        op.create_index(f"ix_oauth_grants_{column}", "oauth_grants", [column])
