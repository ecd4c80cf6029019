"""Alembic's entry point: runs on the connection that `migrations.upgrade` hands over, never on its own."""

from __future__ import annotations

from alembic import context

from engine.store.schema import metadata

# One transaction for all steps: the caller's, so that a broken upgrade leaves the old store.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
context.run_migrations()
