# SPDX-License-Identifier: Apache-2.0
"""Lineage history in the lake: all events of the lineage service, through Kafka and an Iceberg sink."""
