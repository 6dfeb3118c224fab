# SPDX-License-Identifier: Apache-2.0
"""Lineage of Flink SQL, down to columns, as Flink's own planner knows it.

`derive_lineage` asks a small Java program that has the planner (`sql-lineage`), and puts its answer into OpenLineage's
form. What the planner cannot tell is said to be unknown, with the reason; it is never guessed.
"""

from lineagelab_flink.columns.description import Description, description
from lineagelab_flink.columns.planner import LineageError, derive_lineage

__all__ = ["Description", "LineageError", "derive_lineage", "description"]
