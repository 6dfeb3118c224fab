# SPDX-License-Identifier: Apache-2.0
"""Column lineage of SQL statements, and DuckDB sessions that report it as OpenLineage events."""

from lineagelab_sql.statements import Statement, StatementLineage

__all__ = ["Statement", "StatementLineage"]
