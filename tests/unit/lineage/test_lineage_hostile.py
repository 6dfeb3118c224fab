# SPDX-License-Identifier: Apache-2.0
"""Invalid events are rejected with an error, or can be applied, exported and read."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import RULES, encode
from lineage_invalid_events import JSON, complete_event, invalid_events

from lineage.events import EventError
from lineage.graph import Graph, LineageRecords, export_graph
from lineage.marquez import Catalog, column_lineage, find_node, lineage_graph, node_id, search
from lineage.marquez.sources import namespace_json
from lineage.rules.event_reader import read_event


def read_everything(lineage):
    graph = Graph(lineage)
    export = export_graph(lineage, graph)
    catalog = Catalog(lineage, graph, 10**18)
    shown = [export, search(lineage, "a", None, True, 10)]
    shown += [namespace_json(lineage, name) for name in lineage.namespaces]
    for job in lineage.jobs:
        shown.append(catalog.job(job))
        shown.append(lineage_graph(catalog, graph, find_node(lineage, graph, node_id(job)), 5))
    for name in lineage.datasets:
        node = find_node(lineage, graph, node_id(name))
        shown.append(catalog.dataset(name))
        shown.append(column_lineage(catalog, graph, node, 5, downstream=True))
    return json.dumps(shown, ensure_ascii=False, allow_nan=False).encode()


def accept_and_read(data):
    """Send one event to an empty service, then read everything."""
    lineage = LineageRecords()
    try:
        event = read_event(data, RULES)
    except EventError as error:
        refusal = str(error).encode()
    else:
        refusal = b""
        lineage.apply(event)
    assert refusal or lineage.jobs or lineage.datasets
    assert read_everything(lineage)
    for known in (*lineage.jobs, *lineage.datasets):
        assert known.namespace.strip()
        assert known.name.strip()


@settings(max_examples=1000, deadline=None)
@given(invalid_events())
def test_invalid_event_is_rejected_or_readable(event):
    accept_and_read(encode(event))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40) | JSON.map(encode))
def test_random_bytes_are_rejected_or_readable(data):
    accept_and_read(data)


def test_complete_event_is_readable():
    lineage = LineageRecords()
    content = complete_event()
    content["inputs"][0]["name"] = "lake.sales.a"
    lineage.apply(read_event(encode(content), RULES))
    assert b"lake.sales.a" in read_everything(lineage)
