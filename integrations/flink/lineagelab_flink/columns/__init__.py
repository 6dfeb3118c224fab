# SPDX-License-Identifier: Apache-2.0
"""Column lineage of Flink SQL from Flink's planner.

`derive_lineage` runs the planner in a Java program (`sql-lineage`) and converts its output to OpenLineage. Lineage that
the planner cannot derive is marked as unknown, with the reason.
"""

from lineagelab_flink.columns.description import Description, description
from lineagelab_flink.columns.planner import PlannerError, derive_lineage

__all__ = ["Description", "PlannerError", "derive_lineage", "description"]
