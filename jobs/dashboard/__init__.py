# SPDX-License-Identifier: Apache-2.0
"""Dashboard of the sales: each tile is a SQL query on the lake, and a dataset in the lineage."""
