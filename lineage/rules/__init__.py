# SPDX-License-Identifier: Apache-2.0
"""Canonical names: one physical thing has one name, whoever speaks of it."""

from lineage.rules.canonical import canonical_event
from lineage.rules.load import RulesError, load_rules, read_rules
from lineage.rules.model import Catalog, NamespaceRule, Rules, SymlinkRule, TableName
from lineage.rules.names import Names

__all__ = [
    "Catalog",
    "Names",
    "NamespaceRule",
    "Rules",
    "RulesError",
    "SymlinkRule",
    "TableName",
    "canonical_event",
    "load_rules",
    "read_rules",
]
