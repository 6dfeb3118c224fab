# SPDX-License-Identifier: Apache-2.0
"""Environment of Alembic: runs migrations on the connection that `lineage.store.postgres.migrate` passes."""

from alembic import context

from lineage.store.postgres.sql import SCHEMA

context.configure(connection=context.config.attributes["connection"], version_table_schema=SCHEMA)
with context.begin_transaction():
    context.run_migrations()
