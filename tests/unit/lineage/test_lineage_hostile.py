# SPDX-License-Identifier: Apache-2.0
"""Whatever is sent: it is refused in words, or it can be folded, exported and shown."""

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import RULES, body, dataset, encode, schema, source

from lineage.events import EventError
from lineage.fold import Graph, Lineage, export_graph
from lineage.ingest import read_event
from lineage.marquez import Catalog, column_lineage, find_node, lineage_graph, node_id, search

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["", " ", ":", "/", "a/b:c", "\ud800", "\u0000", "_deleted", "lake.a.b", "kafka://", "x" * 2000])
)
JSON = st.recursive(
    SCALARS,
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["_deleted", "name", "fields"]), children, max_size=3)
    ),
    max_leaves=6,
)


def whole():
    """An event with every facet that the service reads."""
    lineage = {**dataset("b"), "type": "DATASET", "inputs": [{**dataset("a"), "type": "DATASET", "field": "c"}]}
    tags = {"tags": [{"key": "pii", "value": "1", "field": "c"}]}
    output = dataset(
        "b",
        schema=schema("c"),
        symlinks={"identifiers": [{"namespace": "n", "name": "s", "type": "TABLE"}]},
        columnLineage={"fields": {"c": {"inputFields": [source("a", "c")]}}, "dataset": [source("a", "d")]},
        lineage={"inputs": [], "fields": {}},
        tags=tags,
        documentation={"description": "text"},
        lifecycleStateChange={"lifecycleStateChange": "CREATE"},
        version={"datasetVersion": "1"},
    )
    output["outputFacets"] = {name: output["facets"][name] for name in ("columnLineage", "lineage", "schema")}
    return body(
        inputs=[{**dataset("a", ""), "inputFacets": {"schema": schema("c"), "version": {"datasetVersion": "1"}}}],
        outputs=[output],
        streaming=True,
        parent=(2, "parent"),
        run_facets={"nominalTime": {"nominalStartTime": "2026-01-01T00:00:00Z"}},
        job_facets={
            "lineage": {"entries": [lineage]},
            "sourceCodeLocation": {"url": "https://example.org"},
            "tags": tags,
        },
    )


def paths(value, prefix=()):
    """The path of every node of a JSON value."""
    yield prefix
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        yield from paths(child, (*prefix, key))


PATHS = list(paths(whole()))


@st.composite
def mutants(draw):
    event = whole()
    for path in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=3)):
        event = replaced(event, path, draw(JSON), draw(st.booleans()))
    return event


def replaced(value, path, by, remove):
    """A copy with another value at the path, or none; unchanged where an earlier change cut the path off."""
    if not path:
        return by
    result = copy.copy(value)
    try:
        result[path[0]] = replaced(value[path[0]], path[1:], by, remove)
        if remove and len(path) == 1:
            del result[path[0]]
    except (KeyError, IndexError, TypeError):
        return value
    return result


def show_everything(lineage):
    graph = Graph(lineage)
    export = export_graph(lineage, graph)
    catalog = Catalog(lineage, graph, 10**18)
    shown = [export, search(lineage, "a", None, True, 10)]
    shown += [catalog.namespace(name) for name in lineage.namespaces]
    for job in lineage.jobs:
        shown.append(catalog.job(job))
        shown.append(lineage_graph(catalog, graph, find_node(lineage, graph, node_id(job)), 5))
    for name in lineage.datasets:
        node = find_node(lineage, graph, node_id(name))
        shown.append(catalog.dataset(name))
        shown.append(column_lineage(catalog, graph, node, 5, downstream=True))
    return json.dumps(shown, ensure_ascii=False, allow_nan=False).encode()


def digest(data):
    """Send one event to an empty service, then read everything."""
    lineage = Lineage()
    try:
        event = read_event(data, RULES)
    except EventError as error:
        refusal = str(error).encode()
    else:
        refusal = b""
        lineage.apply(event)
    assert refusal or lineage.jobs or lineage.datasets
    assert show_everything(lineage)
    for known in (*lineage.jobs, *lineage.datasets):
        assert known.namespace.strip()
        assert known.name.strip()


@settings(max_examples=1000, deadline=None)
@given(mutants())
def test_a_damaged_event_is_refused_or_digested(event):
    digest(encode(event))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40) | JSON.map(encode))
def test_rubbish_is_refused_or_digested(data):
    digest(data)


def test_the_undamaged_event_is_digested():
    lineage = Lineage()
    content = whole()
    content["inputs"][0]["name"] = "lake.sales.a"
    lineage.apply(read_event(encode(content), RULES))
    assert b"lake.sales.a" in show_everything(lineage)
