# SPDX-License-Identifier: Apache-2.0
"""Names under the rules alone: a function of the event and the rules file."""

from lineage.events.ids import DatasetId
from lineage.rules.model import Rules, TableName


class Names:
    """Canonical names for one event.

    A catalog's table is named by its canonical alias, however an emitter spells it: where it lies may change, and is a
    matter of the graph. `tables` collects the tables that were named, with that alias; `locations` has the location
    of each alias unless its catalog states another. `omitted` collects the names of datasets that are left out.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.tables: dict[TableName, DatasetId] = {}
        self.locations: dict[DatasetId, DatasetId] = {}
        self.omitted: set[str] = set()
        self._resolved: dict[tuple[str, str], DatasetId] = {}

    def dataset(self, namespace: str, name: str) -> DatasetId:
        """Return the canonical name of a dataset; may be empty if no rule applies."""
        # Column lineage names the same few datasets once per column.
        known = self._resolved.get((namespace, name))
        if known is None:
            table = self._rules.table(namespace, name)
            known = self._table_dataset(table) if table else self._rules.resolve_alias(namespace, name)
            self._resolved[namespace, name] = known
        return known

    def symlink(self, namespace: str, name: str) -> DatasetId:
        """Return the canonical name of an alias of a dataset."""
        table = self._rules.table(namespace, name)
        return self._alias(table) if table else self._rules.resolve_alias(namespace, name)

    def omits(self, namespace: str, name: str) -> bool:
        """Return whether a dataset is left out of events: neither its emitter nor a rule gives it a namespace."""
        if (
            namespace.strip()
            or not self._rules.omit_empty_namespaces
            or self.dataset(namespace, name).namespace.strip()
        ):
            return False
        self.omitted.add(name)
        return True

    def _alias(self, table: TableName) -> DatasetId:
        return self._rules.catalog(table.catalog).symlink(table.path)

    def _table_dataset(self, table: TableName) -> DatasetId:
        alias = self.tables[table] = self._alias(table)
        self.locations[alias] = self._rules.location(self._rules.catalog(table.catalog).default_location(table.path))
        return alias
