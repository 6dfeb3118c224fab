# SPDX-License-Identifier: Apache-2.0
"""Columns of a schema: types as engines spell them, Avro schemas, and compatibility of two schemas."""

from lineage.checks.columns.avro import SchemaError, read_avro
from lineage.checks.columns.column import METADATA, Column
from lineage.checks.columns.compatibility import Compatibility, Incompatibility, describe, incompatibilities
from lineage.checks.columns.types import canonical_type

__all__ = [
    "METADATA",
    "Column",
    "Compatibility",
    "Incompatibility",
    "SchemaError",
    "canonical_type",
    "describe",
    "incompatibilities",
    "read_avro",
]
