# SPDX-License-Identifier: Apache-2.0
"""Naming rules: map the names that emitters use to canonical dataset names."""

from lineage.rules.canonical import canonical_event
from lineage.rules.load import RulesError, load_rules, read_rules
from lineage.rules.model import Catalog, CatalogAlias, NamespaceRule, Rules, SymlinkRule, TableName
from lineage.rules.names import Names

__all__ = [
    "Catalog",
    "CatalogAlias",
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
