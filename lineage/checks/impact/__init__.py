# SPDX-License-Identifier: Apache-2.0
"""Rules about what a change may affect, and the columns that a candidate schema changes."""

from lineage.checks.impact.rules import TAG, Affected, Rule, affected
from lineage.checks.impact.schema_change import ColumnChange, SchemaError, changed_columns, read_candidate

__all__ = ["TAG", "Affected", "ColumnChange", "Rule", "SchemaError", "affected", "changed_columns", "read_candidate"]
