# SPDX-License-Identifier: Apache-2.0
"""Impact and origin: examples, comparison with a naive definition, and the HTTP routes."""

import asyncio
import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import NAMESPACE, body, dataset, event, schema, source
from test_lineage_api import KAFKA, get, pipeline_events, post, send_pipeline, with_client

from lineage.events import DatasetId, JobId
from lineage.graph import Graph, fold_events
from lineage.graph.adjacency import Column
from lineage.graph.traversal import Step, Traversal, traverse

WAREHOUSE = "s3://warehouse"


def column(name, field=None):
    return Column(DatasetId(WAREHOUSE, name), field)


def output(name, fields=None, rows=(), unknown=()):
    """Return an output with column sources `{column: [(dataset, column)]}` and whole-dataset sources `rows`."""
    if fields is None and not rows and not unknown:
        return dataset(name)
    found = {
        field: {"inputFields": [source(*origin) for origin in origins]} for field, origins in (fields or {}).items()
    }
    deciding = [source(*origin, "FILTER", "INDIRECT") for origin in rows]
    unknown = {"unknownFields": sorted(unknown)} if unknown else {}
    return dataset(name, columnLineage={"fields": found, "dataset": deciding, **unknown})


def job(name, inputs, *outputs):
    return event(job=name, run=hash(name) % 10**9, inputs=[dataset(item) for item in inputs], outputs=outputs)


def search(events, start, downstream=True, depth=None):
    lineage = fold_events(events)
    graph = Graph(lineage)
    graph.refresh()
    return traverse(lineage, graph, start, downstream, depth)


def reached(found):
    """Return columns and whole datasets with distance and certainty, `?` if uncertain."""

    def mark(how):
        return f"{how.distance}{'' if how.certain else '?'}"

    columns = {f"{item.dataset.name}.{item.field}": mark(how) for item, how in found.columns.items()}
    wholes = {f"{item.name}.*": mark(reached.how) for item, reached in found.datasets.items() if reached.whole}
    return columns | wholes


def jobs(found):
    return {item.name: (how.distance, how.certain) for item, how in found.jobs.items()}


def test_column_edges_are_traversed_exactly():
    events = [
        job("one", ["a"], output("b", {"x": [("a", "x")], "y": [("a", "y")]})),
        job("two", ["b"], output("c", {"z": [("b", "x")], "w": [("b", "y")]})),
    ]
    found = search(events, column("a", "x"))
    assert reached(found) == {"b.x": "1", "c.z": "2"}
    assert jobs(found) == {"one": (1, True), "two": (2, True)}
    assert {item.name: reached.whole for item, reached in found.datasets.items()} == {"b": False, "c": False}
    assert found.columns[column("c", "z")].steps == {
        Step(
            job=JobId(NAMESPACE, "two"),
            source=column("b", "x"),
            output=column("c", "z"),
            type="DIRECT",
            subtype="IDENTITY",
            masking=False,
        )
    }
    assert reached(search(events, column("a", "x"), depth=1)) == {"b.x": "1"}
    assert reached(search(events, column("a", "x"), depth=0)) == {}
    # Columns also depend on the rows of every upstream dataset.
    assert reached(search(events, column("c", "w"), downstream=False)) == {
        "b.y": "1",
        "a.y": "2",
        "b.*": "1",
        "a.*": "2",
    }


def test_whole_dataset_column_reaches_every_downstream_column():
    events = [
        job("one", ["a"], output("b", {"x": [("a", "x")], "n": []}, rows=[("a", "day")])),
        job("two", ["b"], output("c", {"z": [("b", "x")]})),
    ]
    assert reached(search(events, column("a", "day"))) == {"b.x": "1", "b.*": "1", "c.z": "2", "c.*": "2"}
    origin = search(events, column("c", "z"), downstream=False)
    assert {name for name in reached(origin) if not name.endswith("*")} == {"b.x", "a.x", "a.day"}


def test_schema_columns_without_edges_are_included():
    described = dataset("b", schema=schema("x", "constant"))
    described["facets"] |= output("b", {"x": [("a", "x")]}, rows=[("a", "day")])["facets"]
    assert reached(search([job("one", ["a"], described)], column("a", "day"))) == {
        "b.x": "1",
        "b.constant": "1",
        "b.*": "1",
    }


def test_edge_without_columns_and_everything_downstream_is_uncertain():
    events = [
        job("blind", ["a"], dataset("b", schema=schema("x"))),
        job("seeing", ["b"], output("c", {"x": [("b", "x")]})),
    ]
    found = search([*events, job("origin", [], output("a", {"k": []}))], column("a", "k"))
    assert reached(found) == {"b.x": "1?", "b.*": "1?", "c.x": "2?", "c.*": "2?"}
    assert jobs(found) == {"blind": (1, False), "seeing": (2, False)}
    upstream = search([*events, job("next", ["a"], output("d", {"k": [("a", "k")]}))], column("c", "x"), False)
    assert reached(upstream) == {"b.x": "1", "b.*": "1", "a.k": "2?", "a.*": "2?"}


def test_column_that_the_emitter_does_not_know_may_depend_on_all_inputs():
    events = [
        job("one", ["a"], output("b", {"x": [("a", "x")]}, unknown=["u"])),
        job("two", ["b"], output("c", {"z": [("b", "u")], "w": [("b", "x")]})),
    ]
    assert reached(search(events, column("a", "x"))) == {"b.x": "1", "b.u": "1?", "c.w": "2", "c.z": "2?"}
    assert reached(search(events, column("a", "y"))) == {"b.u": "1?", "c.z": "2?"}
    assert reached(search(events, column("c", "z"), downstream=False)) == {
        "b.u": "1",
        "b.*": "1",
        "a.x": "2?",
        "a.*": "2",
    }


def test_node_with_one_certain_path_is_certain():
    events = [
        job("blind", ["a"], dataset("c", schema=schema("x"))),
        job("one", ["a"], output("b", {"x": [("a", "k")]})),
        job("two", ["b"], output("c", {"x": [("b", "x")]})),
    ]
    found = search(events, column("a", "k"))
    # The dataset is certain because one of its columns is; the shortest path to either is uncertain.
    assert reached(found) == {"b.x": "1", "c.x": "1", "c.*": "1"}
    assert not search(events, column("a", "k"), depth=1).columns[column("c", "x")].certain


def test_dataset_is_certain_if_a_column_connects_it():
    events = [job("both", ["a", "counted"], output("b", {"x": [("a", "x")]}))]
    assert reached(search(events, column("a"))) == {"b.x": "1", "b.*": "1"}
    assert reached(search(events, column("counted"))) == {"b.x": "1?", "b.*": "1?"}


def test_jobs_without_inputs_or_outputs_are_reached():
    events = [
        job("shop", [], dataset("a", schema=schema("x"))),
        job("etl", ["a"], output("b", {"x": [("a", "x")]})),
        job("dashboard", ["b"]),
    ]
    assert jobs(search(events, column("a"))) == {"etl": (1, True), "dashboard": (2, True)}
    assert jobs(search(events, column("a", "x"))) == {"etl": (1, True), "dashboard": (2, False)}
    assert jobs(search(events, column("b", "x"), downstream=False)) == {"etl": (1, True), "shop": (2, True)}


def test_source_named_only_in_column_lineage_is_traversed():
    events = [job("made", [], output("o", {"x": [("hidden", "h")]}))]
    assert reached(search(events, column("hidden"))) == {"o.*": "1", "o.x": "1"}
    assert reached(search(events, column("hidden", "h"))) == {"o.x": "1"}
    assert jobs(search(events, column("hidden"))) == {"made": (1, True)}


def test_cycles_terminate_and_exclude_the_start():
    events = [
        job("there", ["a"], output("b", {"x": [("a", "x")]})),
        job("back", ["b"], output("a", {"x": [("b", "x")], "y": [("b", "x")]})),
    ]
    for downstream in (True, False):
        assert "a.x" not in reached(search(events, column("a", "x"), downstream))
        assert reached(search(events, column("a"), downstream)) == {"b.x": "1", "b.*": "1"}
    assert reached(search(events, column("a", "x"))) == {"b.x": "1", "a.y": "2"}


def test_long_chain_needs_no_recursion():
    events = [job(f"j{i}", [f"t{i}"], output(f"t{i + 1}", {"x": [(f"t{i}", "x")]})) for i in range(3000)]
    found = search(events, column("t0", "x"))
    assert found.columns[column("t3000", "x")].distance == 3000
    assert search(events, column("t3000", "x"), downstream=False).columns[column("t0", "x")].distance == 3000


def test_search_yields_to_other_requests():
    events = [job(f"j{i}", ["a"], output(f"t{i}", {"x": [("a", "x")]})) for i in range(1500)]
    lineage = fold_events(events)
    graph = Graph(lineage)
    graph.refresh()
    behind = [job(f"k{i}", [f"t{i}"], output(f"u{i}", {"x": [(f"t{i}", "x")]})) for i in range(1500)]
    for more in behind:
        lineage.apply(more)
    graph.refresh()
    found = Traversal(lineage, graph, column("a", "x"), True, None)
    steps = 0
    for _ in found.steps():
        steps += 1
        graph.refresh()
    assert steps >= 4
    assert len(found.found.columns) == 3000


TABLES = ("a", "b", "c", "d")
FIELDS = ("x", "y")
_TABLE, _FIELD = st.sampled_from(TABLES), st.sampled_from(FIELDS)
_SOURCES = st.lists(st.tuples(_TABLE, _FIELD), max_size=2)


@st.composite
def any_job(draw):
    """Draw inputs, and for each output no facet or its columns and whole-dataset sources."""
    inputs = draw(st.sets(_TABLE, max_size=3))
    outputs = {}
    for name in draw(st.sets(_TABLE, max_size=2)):
        described = draw(st.booleans())
        unknown = draw(st.sets(_FIELD, max_size=2)) if draw(st.integers(0, 2)) == 0 else set()
        outputs[name] = (draw(st.dictionaries(_FIELD, _SOURCES)), draw(_SOURCES), unknown) if described else (None, ())
        for origin, _ in (*outputs[name][1], *(item for items in (outputs[name][0] or {}).values() for item in items)):
            inputs.add(origin)
    return inputs, outputs


def naive(graph, start, downstream, depth):
    """Return the result of the literal definition: all dependencies, then distances up to a fixed point."""
    unknown = {column for view in graph.job_lineages.values() for column in view.unknown}
    fields = {
        table: {field for field in FIELDS if _named(graph, Column(table, field)) or (table, field) in unknown}
        for table in (DatasetId(WAREHOUSE, name) for name in TABLES)
    }
    steps = set()  # (node, dependent node, certain)
    for view in graph.job_lineages.values():
        described = {edge.output for edge in view.columns}
        connected = {(edge.source, edge.output) for edge in view.columns}
        for edge in view.columns:
            steps.add((Column(edge.source, edge.source_field), Column(edge.output, edge.field), True))
        for flow in view.flows:
            steps.add((Column(flow.source, None), Column(flow.output, None), flow in connected))
            if flow.output not in described:
                steps |= {(Column(flow.source, name), Column(flow.output, None), False) for name in fields[flow.source]}
            else:
                missing = [Column(*found) for found in view.unknown if found[0] == flow.output]
                steps |= {(Column(flow.source, name), to, False) for name, to in product(fields[flow.source], missing)}
    free = {(Column(table, None), Column(table, name)) for table, names in fields.items() for name in names}
    if not downstream:
        steps = {(after, before, certain) for before, after, certain in steps}
        free = {(after, before) for before, after in free}
    beginning = {start} if downstream else {start, Column(start.dataset, None)}
    if start.field is None:
        beginning |= {Column(start.dataset, name) for name in fields[start.dataset]}
    return [
        _distances(beginning, {step[:2] for step in steps if step[2] or not certain_only}, free, depth)
        for certain_only in (False, True)
    ]


def _named(graph, thing):
    return any(graph.edges_into(thing)) or any(graph.edges_from(thing))


def _distances(beginning, steps, free, depth):
    distances = dict.fromkeys(beginning, 0)
    changed = True
    while changed:
        changed = False
        for (before, after), cost in [*product(free, [0]), *product(steps, [1])]:
            if before in distances and distances[before] + cost < distances.get(after, 10**9):
                distances[after] = distances[before] + cost
                changed = True
    return {thing: far for thing, far in distances.items() if far > 0 and (depth is None or far <= depth)}


def _graph(made):
    events = []
    for number, (inputs, outputs) in enumerate(made):
        described = [output(name, *about) for name, about in outputs.items()]
        inputs = [dataset(name) for name in inputs]
        events.append(event(job=f"j{number}", run=number, inputs=inputs, outputs=described))
    lineage = fold_events(events)
    graph = Graph(lineage)
    graph.refresh()
    return lineage, graph


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(any_job(), max_size=5), _TABLE, st.none() | _FIELD, st.booleans(), st.none() | st.integers(0, 3))
def test_result_equals_the_naive_definition(made, table, field, downstream, depth):
    lineage, graph = _graph(made)
    start = column(table, field)
    if not _named(graph, start):
        start = column(table)
    everything, certain = naive(graph, start, downstream, depth)
    found = traverse(lineage, graph, start, downstream, depth)
    assert {item: how.distance for item, how in found.columns.items()} == {
        thing: far for thing, far in everything.items() if thing.field is not None
    }
    assert {item for item, how in found.columns.items() if how.certain} == {
        thing for thing in certain if thing.field is not None
    }
    assert set(found.datasets) == {thing.dataset for thing in everything}
    for item, reached in found.datasets.items():
        assert reached.how.distance == min(far for thing, far in everything.items() if thing.dataset == item)
        assert reached.how.certain == any(thing.dataset == item for thing in certain)
        assert reached.whole == (Column(item, None) in everything)
    for how in (*found.columns.values(), *(reached.how for reached in found.datasets.values())):
        assert how.steps
        assert all(found.jobs[step.job].distance <= how.distance for step in how.steps)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(any_job(), max_size=5))
def test_origin_is_the_inverse_of_impact(made):
    lineage, graph = _graph(made)
    things = {column(table, field) for table, field in product(TABLES, FIELDS)}
    known = {thing for thing in things if _named(graph, thing)}
    impacts = {thing: traverse(lineage, graph, thing, True).columns for thing in known}
    origins = {thing: traverse(lineage, graph, thing, False).columns for thing in known}
    for one, other in product(known, known):
        there, back = impacts[one].get(other), origins[other].get(one)
        assert (there is None) == (back is None)
        if there and back:
            assert (there.distance, there.certain) == (back.distance, back.certain)


def _ids(rows):
    return [".".join(part for part in (row["name"], row.get("field")) if part) for row in rows]


def test_routes_return_sorted_canonical_json(tmp_path):
    async def scenario(client):
        await send_pipeline(client)
        path = f"/api/v1/impact?nodeId=datasetField:{KAFKA}:orders:value"
        content = (await client.get(path)).content
        found = json.loads(content)
        assert json.dumps(found, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() == content
        assert found["start"] == {"namespace": KAFKA, "name": "orders", "field": "value"}
        assert _ids(found["columns"]) == ["sales/orders.price", "sales/stats.total"]
        assert [(row["name"], row["distance"], row["whole"]) for row in found["datasets"]] == [
            ("sales/orders", 1, False),
            ("sales/stats", 2, False),
        ]
        assert [(row["name"], row["distance"], row["certain"]) for row in found["jobs"]] == [
            ("etl", 1, True),
            ("stats", 2, True),
        ]
        assert found["columns"][1] == {
            "namespace": WAREHOUSE,
            "name": "sales/stats",
            "field": "total",
            "distance": 2,
            "certain": True,
            "edges": [
                {
                    "job": {"namespace": NAMESPACE, "name": "stats"},
                    "input": {"namespace": WAREHOUSE, "name": "sales/orders", "field": "price"},
                    "output": {"namespace": WAREHOUSE, "name": "sales/stats", "field": "total"},
                    "type": "DIRECT",
                    "subtype": "AGGREGATION",
                    "masking": False,
                }
            ],
        }
        near = await get(client, "/impact", nodeId=f"dataset:{KAFKA}:orders", depth=1)
        assert _ids(near["columns"]) == ["sales/orders.id", "sales/orders.price"]
        assert {"field": "id"}.items() <= near["columns"][0].items()
        flow = near["columns"][0]["edges"][0]
        assert (flow["input"], flow["type"]) == ({"namespace": KAFKA, "name": "orders"}, None)
        origin = await get(client, "/origin", nodeId="datasetField:s3://warehouse:sales/stats:total")
        assert _ids(origin["columns"]) == ["orders.value", "sales/orders.id", "sales/orders.price"]

    with_client(tmp_path, scenario)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        (f"nodeId=job:{NAMESPACE}:etl", 400, "neither impact nor origin"),
        ("nodeId=dataset:no:such", 404, "no event names"),
        ("", 400, "nodeId"),
        (f"nodeId=dataset:{KAFKA}:orders&depth=-1", 400, "depth"),
        (f"nodeId=dataset:{KAFKA}:orders&depth=many", 400, "depth"),
    ],
)
@pytest.mark.parametrize("endpoint", ["impact", "origin"])
def test_invalid_queries_are_rejected_with_a_reason(tmp_path, endpoint, query, status, words):
    async def scenario(client):
        await send_pipeline(client)
        response = await client.get(f"/api/v1/{endpoint}?{query}")
        assert response.status_code == status
        assert words in response.json()["error"]["message"]

    with_client(tmp_path, scenario)


def test_other_requests_are_served_during_a_long_search(tmp_path):
    async def scenario(client):
        for content in pipeline_events():
            await post(client, content)
        for number in range(1200):
            content = body(
                job=f"j{number}", run=number, inputs=[dataset("sales/stats")], outputs=[dataset(f"t{number}")]
            )
            assert (await post(client, content)).status_code == 201

        async def turns_during(depth):
            path = f"/api/v1/impact?nodeId=dataset:{KAFKA}:orders&depth={depth}"
            answer = asyncio.create_task(client.get(path))
            turns = 0
            while not answer.done():
                turns += 1
                await asyncio.sleep(0)
            return turns, len((await answer).json()["datasets"])

        few, none = await turns_during(0)
        many, all_of_them = await turns_during(9)
        assert (none, all_of_them) == (0, 1202)
        assert many >= few + 4

    with_client(tmp_path, scenario)


@pytest.mark.parametrize("downstream", [True, False])
def test_a_dataset_with_many_jobs_is_searched_in_slices(downstream):
    jobs = 4_000
    hub, others = dataset("hub", schema=schema("a")), [dataset(f"t{number}") for number in range(jobs)]
    lineage = fold_events(
        event("COMPLETE", run=number, job=f"job{number}", inputs=[source], outputs=[output])
        for number, other in enumerate(others)
        for source, output in [(hub, other) if downstream else (other, hub)]
    )
    graph = Graph(lineage)
    graph.refresh()
    search = Traversal(lineage, graph, Column(DatasetId("s3://warehouse", "hub"), None), downstream, 1)
    # Of all dependencies and of certain ones: every job is visited, and every node found is looked at again.
    assert sum(1 for _ in search.steps()) >= 6 * (jobs // 500)
    assert len(search.found.jobs) == len(search.found.datasets) == jobs
    assert sum(1 for _ in search.free()) >= jobs // 1_000
    assert search.size == len(search.found.datasets) == 0
