# SPDX-License-Identifier: Apache-2.0
"""Retention of namespaces. Events that are stored already have none, and the longest retention of all."""

from alembic import op

revision = "0002"
down_revision = "0001"

_TABLES = """
CREATE TABLE namespaces (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);
ALTER TABLE events ADD COLUMN namespace integer; -- of the job; of the dataset, if the event has no job
CREATE INDEX events_by_namespace ON events (namespace, event_time) WHERE namespace IS NOT NULL;
"""


def upgrade() -> None:
    """Add the column."""
    op.execute(_TABLES)
