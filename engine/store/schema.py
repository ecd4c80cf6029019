"""All tables, as SQLAlchemy Core metadata. `migrations/versions` builds the same; a test compares them.

Who:      tenants < users < spaces, teams < team_members, tokens < token_spaces
What:     memories < memory_versions
Ingest:   jobs < sources < source_messages; entities < entity_mentions; usage_days
Derived:  space_terms, space_totals, space_paths (counts over `memories`, kept in the same transaction)
Upkeep:   outbox (records that the index has to look at again), idempotency_keys, audit, meta
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from engine.store.columns import KeyText, Moment, Sequence

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

tenants = Table(
    "tenants",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
)

users = Table(
    "users",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("tenant_id", KeyText, ForeignKey("tenants.id"), nullable=False),
    Column("name", KeyText, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("tenant_id", "name"),
)

teams = Table(
    "teams",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("tenant_id", KeyText, ForeignKey("tenants.id"), nullable=False),
    Column("name", KeyText, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("tenant_id", "name"),
)

team_members = Table(
    "team_members",
    metadata,
    Column("team_id", KeyText, ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", KeyText, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("role", Text, nullable=False),
    Index("ix_team_members_user_id", "user_id"),
)

spaces = Table(
    "spaces",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("tenant_id", KeyText, ForeignKey("tenants.id"), nullable=False),
    Column("name", KeyText, nullable=False),
    Column("owner_user_id", KeyText, ForeignKey("users.id"), nullable=False),
    Column("team_id", KeyText, ForeignKey("teams.id"), nullable=True),
    Column("description", Text, nullable=True),
    Column("metadata", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("tenant_id", "name"),
    Index("ix_spaces_owner_user_id", "owner_user_id"),
    Index("ix_spaces_team_id", "team_id"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("prefix", KeyText, nullable=False, unique=True),
    Column("secret_hash", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("tenant_id", KeyText, ForeignKey("tenants.id"), nullable=False),
    Column("user_id", KeyText, ForeignKey("users.id"), nullable=False),
    Column("scopes", JSON, nullable=False),
    # A token narrowed to spaces that are all gone reaches nothing; without this flag it would reach all.
    Column("is_narrowed", Boolean, nullable=False),
    Column("default_space_id", KeyText, ForeignKey("spaces.id", ondelete="SET NULL"), nullable=True),
    Column("read_only", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=True),
    Column("revoked_at", Moment, nullable=True),
    Column("last_used_at", Moment, nullable=True),
    Index("ix_tokens_tenant_id", "tenant_id"),
    Index("ix_tokens_user_id", "user_id"),
    Index("ix_tokens_default_space_id", "default_space_id"),
)

token_spaces = Table(
    "token_spaces",
    metadata,
    Column("token_id", KeyText, ForeignKey("tokens.id", ondelete="CASCADE"), primary_key=True),
    Column("space_id", KeyText, ForeignKey("spaces.id", ondelete="CASCADE"), primary_key=True),
    Column("can_write", Boolean, nullable=False),
    Index("ix_token_spaces_space_id", "space_id"),
)

memories = Table(
    "memories",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("space_id", KeyText, ForeignKey("spaces.id"), nullable=False),
    Column("content", Text, nullable=False),
    Column("content_digest", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("path_key", KeyText, nullable=False),
    Column("memory_type", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("bucket", Text, nullable=False),
    Column("scope", Text, nullable=True),
    Column("team_id", Text, nullable=True),
    Column("importance", Double, nullable=True),
    Column("confidence", Double, nullable=True),
    Column("semantic_key", Text, nullable=True),
    Column("semantic_slot", Text, nullable=True),
    Column("state_key", Text, nullable=True),
    Column("state_slot", Text, nullable=True),
    Column("source", Text, nullable=True),
    Column("source_id", Text, nullable=True),
    Column("agent_id", Text, nullable=True),
    Column("agent_instance_hash", Text, nullable=True),
    Column("item_status", Text, nullable=True),
    Column("due_at", Moment, nullable=True),
    Column("event_time", Moment, nullable=True),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=True),
    Column("version", Integer, nullable=False),
    Column("access_count", Integer, nullable=False),
    Column("last_accessed_at", Moment, nullable=True),
    Column("metadata", JSON, nullable=False),
    Column("provenance", JSON, nullable=False),
    Index("ix_memories_space_id_created_at", "space_id", "created_at", "id"),
    Index("ix_memories_space_id_updated_at", "space_id", "updated_at", "id"),
    Index("ix_memories_space_id_kind", "space_id", "kind", "created_at"),
    # Counts of live records are answered from this index alone.
    Index("ix_memories_space_id_status", "space_id", "status", "kind", "expires_at"),
    Index("ix_memories_space_id_content_digest", "space_id", "content_digest", "created_at", "id"),
)

# Most records have neither key nor expiry nor source: partial indexes keep their writes cheap. Each ends
# in the order that its look-up asks for, or SQLite would rather walk the whole space in that order.
for _column, _columns in {
    "semantic_key": ("space_id", "semantic_key"),
    "semantic_slot": ("space_id", "semantic_slot", "updated_at", "id"),
    "state_slot": ("space_id", "state_slot", "updated_at", "id"),
    "source_id": ("space_id", "source_id"),
    "expires_at": ("expires_at", "id"),
}.items():
    Index(
        f"ix_memories_{_column}",
        *(memories.c[name] for name in _columns),
        sqlite_where=memories.c[_column].is_not(None),
        postgresql_where=memories.c[_column].is_not(None),
    )

memory_versions = Table(
    "memory_versions",
    metadata,
    Column("memory_id", KeyText, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("content", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("memory_type", Text, nullable=False),
    Column("recorded_at", Moment, nullable=False),
)

space_terms = Table(
    "space_terms",
    metadata,
    Column("space_id", KeyText, ForeignKey("spaces.id"), primary_key=True),
    Column("term", KeyText, primary_key=True),
    Column("document_frequency", Integer, nullable=False),
    sqlite_with_rowid=False,
)

space_totals = Table(
    "space_totals",
    metadata,
    Column("space_id", KeyText, ForeignKey("spaces.id"), primary_key=True),
    Column("records", BigInteger, nullable=False),
    Column("length", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

space_paths = Table(
    "space_paths",
    metadata,
    Column("space_id", KeyText, ForeignKey("spaces.id"), primary_key=True),
    Column("path_digest", KeyText, primary_key=True),
    Column("path_key", KeyText, nullable=False),
    Column("records", Integer, nullable=False),
    sqlite_with_rowid=False,
)

outbox = Table(
    "outbox",
    metadata,
    Column("sequence", Sequence, primary_key=True, autoincrement=True),
    Column("record_id", KeyText, nullable=False),
    Index("ix_outbox_record_id", "record_id"),
    sqlite_autoincrement=True,
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("actor", KeyText, primary_key=True),
    Column("operation", KeyText, primary_key=True),
    Column("key_digest", KeyText, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("response", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("ix_idempotency_keys_created_at", "created_at"),
)

audit = Table(
    "audit",
    metadata,
    Column("sequence", Sequence, primary_key=True, autoincrement=True),
    Column("id", KeyText, nullable=False, unique=True),
    Column("at", Moment, nullable=False),
    Column("tenant_id", KeyText, nullable=False),
    Column("user_id", KeyText, nullable=False),
    Column("token_id", KeyText, nullable=True),
    Column("action", Text, nullable=False),
    Column("target", KeyText, nullable=True),
    Column("space_id", KeyText, nullable=True),
    Column("detail", JSON, nullable=False),
    Index("ix_audit_tenant_id", "tenant_id", "sequence"),
    Index("ix_audit_target", "target"),
    sqlite_autoincrement=True,
)

meta = Table(
    "meta",
    metadata,
    Column("key", KeyText, primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_with_rowid=False,
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("space_id", KeyText, ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    Column("tenant_id", KeyText, nullable=False),
    Column("user_id", KeyText, nullable=False),
    Column("status", KeyText, nullable=False),
    Column("stage", Text, nullable=True),
    Column("attempts", Integer, nullable=False),
    Column("memory_count", Integer, nullable=False),
    Column("entity_count", Integer, nullable=False),
    Column("edge_count", Integer, nullable=False),
    Column("tokens_used", Integer, nullable=False),
    Column("error", Text, nullable=True),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment, nullable=True),
    Column("completed_at", Moment, nullable=True),
    Column("updated_at", Moment, nullable=False),
    Index("ix_jobs_status", "status", "created_at", "id"),
    Index("ix_jobs_space_id", "space_id"),
)

sources = Table(
    "sources",
    metadata,
    Column("number", Sequence, primary_key=True, autoincrement=True),
    Column("id", KeyText, nullable=False, unique=True),
    Column("space_id", KeyText, ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    Column("tenant_id", KeyText, nullable=False),
    Column("user_id", KeyText, nullable=False),
    Column("job_id", KeyText, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("content", Text, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("role", Text, nullable=True),
    Column("visibility", Text, nullable=False),
    Column("session_id", Text, nullable=True),
    Column("event_time", Moment, nullable=True),
    Column("messages", JSON, nullable=False),
    Column("meta", JSON, nullable=False),
    Column("fingerprint", KeyText, nullable=False),
    Column("status", Text, nullable=False),
    Column("error", Text, nullable=True),
    Column("token_count", Integer, nullable=False),
    Column("memory_count", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("ix_sources_space_id", "space_id", "created_at", "number"),
    Index("ix_sources_fingerprint", "space_id", "fingerprint"),
    Index("ix_sources_job_id", "job_id"),
    Index("ix_sources_tenant_id", "tenant_id", "created_at"),
    sqlite_autoincrement=True,
)

source_messages = Table(
    "source_messages",
    metadata,
    Column("space_id", KeyText, ForeignKey("spaces.id", ondelete="CASCADE"), primary_key=True),
    Column("digest", KeyText, primary_key=True),
    Column("source_id", KeyText, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False),
    Index("ix_source_messages_source_id", "source_id"),
    sqlite_with_rowid=False,
)

entities = Table(
    "entities",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("space_id", KeyText, ForeignKey("spaces.id", ondelete="CASCADE"), nullable=False),
    Column("key", KeyText, nullable=False),
    Column("name", Text, nullable=False),
    Column("entity_type", Text, nullable=True),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("space_id", "key"),
)

entity_mentions = Table(
    "entity_mentions",
    metadata,
    Column("entity_id", KeyText, ForeignKey("entities.id", ondelete="CASCADE"), primary_key=True),
    Column("memory_id", KeyText, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Index("ix_entity_mentions_memory_id", "memory_id"),
    sqlite_with_rowid=False,
)

usage_days = Table(
    "usage_days",
    metadata,
    Column("tenant_id", KeyText, primary_key=True),
    Column("day", KeyText, primary_key=True),
    Column("queries", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

oauth_clients = Table(
    "oauth_clients",
    metadata,
    Column("id", KeyText, primary_key=True),
    Column("registration", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
)

oauth_grants = Table(
    "oauth_grants",
    metadata,
    # Digests of what the client holds: a request, an authorization code, a refresh token, a device code.
    Column("secret_digest", KeyText, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("family", KeyText, nullable=False),
    Column("client_id", KeyText, nullable=False),
    Column("user_code_digest", KeyText, nullable=True, unique=True),
    Column("tenant_id", KeyText, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=True),
    Column("user_id", KeyText, ForeignKey("users.id", ondelete="CASCADE"), nullable=True),
    Column("token_id", KeyText, ForeignKey("tokens.id", ondelete="SET NULL"), nullable=True),
    Column("detail", JSON, nullable=False),
    Column("state", Text, nullable=False),
    Column("polled_at", Moment, nullable=True),
    Column("expires_at", Moment, nullable=False),
    Index("ix_oauth_grants_family", "family"),
    Index("ix_oauth_grants_client_id", "client_id"),
    Index("ix_oauth_grants_token_id", "token_id"),
    Index("ix_oauth_grants_expires_at", "expires_at"),
)
