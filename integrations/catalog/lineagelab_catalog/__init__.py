# SPDX-License-Identifier: Apache-2.0
"""Metadata of a lineage graph as properties of catalog tables: Iceberg (any catalog), AWS Glue, Hive Metastore."""
