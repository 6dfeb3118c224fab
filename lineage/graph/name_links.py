# SPDX-License-Identifier: Apache-2.0
"""Pairs of dataset names that events connect: symlinks, renamings, locations of tables.

The node of a name at any time depends only on names that are connected with it by such pairs, in whatever direction.
"""

from collections.abc import Iterator

from lineage.events import DatasetId, Event, JsonObject
from lineage.events.own_facets import CatalogStatement, catalog_statement, table_location
from lineage.graph.name_statements import NameStatements

NameLink = tuple[DatasetId, DatasetId]


def links_of_event(event: Event) -> Iterator[NameLink]:
    """Yield the pairs of names that an event may connect."""
    if statement := catalog_statement(event):
        yield from links_of_statement(statement)
        return
    yield from event.locations.items()
    for dataset in (*(event.body.get("inputs") or ()), *(event.body.get("outputs") or ()), event.body.get("dataset")):
        facets = (dataset or {}).get("facets") or {}
        if "symlinks" in facets or "lifecycleStateChange" in facets:
            yield from _links_of_facets(DatasetId(dataset["namespace"], dataset["name"]), facets)


def links_of_statement(statement: CatalogStatement) -> Iterator[NameLink]:
    """Yield the pair of names that an entry of the catalog connects, if any."""
    location = table_location(statement)
    if location is not None:
        yield location.table, location.location


def links_of_names(name: DatasetId, names: NameStatements) -> Iterator[NameLink]:
    """Yield the pairs that the statements of a restored record connect."""
    for alias in names.aliases:
        yield name, alias
    for change in names.changes.values():
        if change.previous is not None:
            yield name, change.previous
    if names.location is not None:
        yield name, names.location


def _links_of_facets(name: DatasetId, facets: JsonObject) -> Iterator[NameLink]:
    for found in (facets.get("symlinks") or {}).get("identifiers") or ():
        yield name, DatasetId(found["namespace"], found["name"])
    previous = (facets.get("lifecycleStateChange") or {}).get("previousIdentifier")
    if previous:
        yield name, DatasetId(previous["namespace"], previous["name"])
