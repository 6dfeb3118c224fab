# SPDX-License-Identifier: Apache-2.0
"""Resolution of names under the rules and known table locations."""

from collections.abc import Mapping

from lineage.events.ids import DatasetId
from lineage.rules.model import Rules, TableName


class Names:
    """Resolves names for one event.

    `locations` are table locations from catalogs (`s3://warehouse/sales/orders`). A table without one is assumed at its
    catalog's default location. `tables` collects the tables that were resolved.
    """

    def __init__(self, rules: Rules, locations: Mapping[TableName, str]) -> None:
        self._rules = rules
        self._locations = locations
        self.tables: set[TableName] = set()
        self._resolved: dict[tuple[str, str], DatasetId] = {}

    def dataset(self, namespace: str, name: str) -> DatasetId:
        """Return the canonical identity of a dataset; may be empty if no rule applies."""
        # Column lineage names the same few datasets once per column.
        known = self._resolved.get((namespace, name))
        if known is None:
            table = self._rules.table(namespace, name)
            known = self._table_dataset(table) if table else self._rules.resolve_alias(namespace, name)
            self._resolved[namespace, name] = known
        return known

    def symlink(self, namespace: str, name: str) -> DatasetId:
        """Return the canonical alias of a dataset."""
        return self.alias(namespace, name) or self._rules.resolve_alias(namespace, name)

    def alias(self, namespace: str, name: str) -> DatasetId | None:
        """Return the canonical alias of a table; None for a name that is not a catalog's table."""
        table = self._rules.table(namespace, name)
        return self._rules.catalog(table.catalog).symlink(table.path) if table else None

    def _table_dataset(self, table: TableName) -> DatasetId:
        self.tables.add(table)
        location = self._locations.get(table)
        if location is None:
            location = self._rules.catalog(table.catalog).default_location(table.path)
        scheme, _, rest = location.rstrip("/").partition("://")
        authority, _, path = rest.partition("/")
        return self._rules.resolve_alias(f"{scheme}://{authority}", path)
