# SPDX-License-Identifier: Apache-2.0
"""Invalid events for property tests: a complete event with parts replaced or removed."""

import copy

from hypothesis import strategies as st
from lineage_events import body, dataset, schema, source

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


def complete_event():
    """Return an event with every facet that the service reads."""
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
    """Yield the path of every node of a JSON value."""
    yield prefix
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        yield from paths(child, (*prefix, key))


PATHS = list(paths(complete_event()))


@st.composite
def invalid_events(draw):
    event = complete_event()
    for path in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=3)):
        event = with_replaced(event, path, draw(JSON), draw(st.booleans()))
    return event


def with_replaced(value, path, by, remove):
    """Return a copy with the value at the path replaced or removed; unchanged if an earlier change removed the path."""
    if not path:
        return by
    result = copy.copy(value)
    try:
        result[path[0]] = with_replaced(value[path[0]], path[1:], by, remove)
        if remove and len(path) == 1:
            del result[path[0]]
    except (KeyError, IndexError, TypeError):
        return value
    return result
