# SPDX-License-Identifier: Apache-2.0
"""Rules about what a change may affect, and the columns that a candidate schema changes."""

from lineage.checks.impact.rules import TAG, Affected, Rule, affected
from lineage.checks.impact.schema_change import ColumnChange, changed_columns

__all__ = ["TAG", "Affected", "ColumnChange", "Rule", "affected", "changed_columns"]
