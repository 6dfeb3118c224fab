# SPDX-License-Identifier: Apache-2.0
"""Write facts to the tables of a catalog: one change per table that differs."""

from dataclasses import dataclass, field

from lineagelab_catalog.changes import Changes, changes_of
from lineagelab_catalog.facts import Facts, FactsIndex
from lineagelab_catalog.tables import Table, TableCatalog, TableError

_NOTHING = Changes({}, frozenset(), None)


@dataclass
class Report:
    """Result: labels of tables by what was done. `unknown` are tables that no dataset of the facts is."""

    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def publish(catalog: TableCatalog, facts: Facts, *, dry_run: bool = False) -> Report:
    """Make the tables of a catalog say the facts; with `dry_run` nothing is written.

    Tables without a dataset are not changed, nor are the properties that other programs wrote.

    Raises:
        CatalogError: the tables cannot be listed. Tables that cannot be changed are in the report.
    """
    index, report = FactsIndex.of(facts), Report()
    for label in catalog.labels():
        found: list[Changes | None] = []

        def of_table(table: Table, found: list[Changes | None] = found) -> Changes:
            known = index.find(table.location, table.names)
            changes = None if known is None else changes_of(known, facts.prefix, table.properties, table.comment)
            found[:] = [changes]
            return _NOTHING if changes is None or dry_run else changes

        try:
            catalog.update(label, of_table)
        except TableError as error:
            report.failed[label] = str(error)
            continue
        (changes,) = found
        kind = report.unknown if changes is None else report.updated if changes else report.unchanged
        kind.append(label)
    return report
