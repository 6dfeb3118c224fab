# SPDX-License-Identifier: Apache-2.0
"""Answers of catalogs as events: where a table lies is stored like all else that the graph is derived from."""

from collections.abc import Mapping

from lineage.events import DatasetId, JsonObject, canonical_json
from lineage.events.own_facets import (
    CATALOG_FACET,
    CATALOG_NAMESPACE,
    PRODUCER,
    CatalogKey,
    EntryKind,
    location_content,
    own_facet_schema,
)
from lineage.events.standard_facets import event_schema
from lineage.events.timestamps import format_time
from lineage.rules.model import Rules, TableName

_DATASET_EVENT = event_schema("DatasetEvent")


def location_events(
    rules: Rules,
    answers: Mapping[TableName, str],
    tables: Mapping[TableName, DatasetId],
    stored: Mapping[CatalogKey, JsonObject],
    now: int,
) -> list[bytes]:
    """Return an event of time `now` (ns) for each of `tables` of which a catalog gives another location than is stored.

    `tables` has the canonical alias of each; `stored` the content of the entries that events stated.
    """
    events = []
    for table, alias in tables.items():
        answer = answers.get(table)
        if answer is None:
            continue
        key = CatalogKey(EntryKind.TABLE, alias.name)
        content = location_content(alias, rules.location(answer))
        default = location_content(alias, rules.location(rules.catalog(table.catalog).default_location(table.path)))
        if content != stored.get(key, default):
            events.append(_location_event(now, key, content))
    return events


def _location_event(now: int, key: CatalogKey, content: JsonObject) -> bytes:
    facet = {
        "_producer": PRODUCER,
        "_schemaURL": own_facet_schema(CATALOG_FACET),
        "kind": key.kind.value,
        "name": key.name,
        **content,
    }
    dataset = {"namespace": CATALOG_NAMESPACE, "name": key.kind.value.lower(), "facets": {CATALOG_FACET: facet}}
    event = {"eventTime": format_time(now), "producer": PRODUCER, "schemaURL": _DATASET_EVENT, "dataset": dataset}
    return canonical_json(event)
