# SPDX-License-Identifier: Apache-2.0
"""The Flink jobs: `supplier_windows` (topic to topic, Java) and `iceberg_ingestion` (topic to lake, SQL)."""
