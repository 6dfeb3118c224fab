# SPDX-License-Identifier: Apache-2.0
"""Names that lead to one node: symlinks, catalogs, renamings; datasets that are dropped. Each in every order."""

import os
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import NAMESPACE, body, dataset, dataset_event, read, schema, source
from lineage_partitions import comparable, partitioned_export

from lineage.events import DatasetId, canonical_json
from lineage.events.own_facets import CATALOG_FACET, CATALOG_NAMESPACE, location_content
from lineage.graph import Graph, LineageRecords, export_graph
from lineage.graph.snapshot import restore, snapshots_of

HIVE = "hive://metastore:9083"
TABLE = {"namespace": "", "name": "lake.sales.orders"}
TRINO_TABLE = {"namespace": "trino://trino:8080", "name": "lake.sales.orders"}
ALIAS = DatasetId("s3://warehouse", "lake.sales.orders")


def alias(name, namespace=HIVE, kind="TABLE"):
    return {"namespace": namespace, "name": name, "type": kind}


def linked(name, *aliases, namespace="s3://warehouse", **facets):
    return dataset(name, namespace, symlinks={"identifiers": list(aliases)}, **facets)


def changed(name, change, namespace="s3://warehouse", previous=None):
    stated = {"lifecycleStateChange": change}
    if previous:
        stated["previousIdentifier"] = {"namespace": "s3://warehouse", "name": previous}
    return dataset(name, namespace, lifecycleStateChange=stated)


def located(second, namespace, name):
    content = location_content(ALIAS, DatasetId(namespace, name))
    entry = {"kind": "TABLE", "name": ALIAS.name, **content}
    return dataset_event(second, dataset("table", CATALOG_NAMESPACE, **{CATALOG_FACET: entry}))


def writing(second, output, run=1, job="writer", kind="COMPLETE", **options):
    return body(kind, second, run=run, job=job, outputs=[output], **options)


def reading(second, used, run=2, job="reader", kind="COMPLETE", **options):
    return body(kind, second, run=run, job=job, inputs=[used], **options)


def folded(events):
    lineage = LineageRecords()
    graph = Graph(lineage)
    for event in events:
        lineage.apply(event)
        graph.refresh()
    return lineage, graph


def restored(lineage):
    """Return the records after retention has compacted every event."""
    copy = LineageRecords()
    restore(copy, sorted(snapshots_of(lineage)))
    return copy


def graph_of(contents):
    """Return the graph of events, after checking that every order of arrival, duplicates and snapshots give it."""
    events = [read(content) for content in contents]
    lineage, graph = folded(events)
    export = export_graph(lineage, graph)
    for order in permutations(events):
        assert export_graph(*folded([*order, order[0]])) == export
    copy = restored(lineage)
    assert export_graph(copy, Graph(copy)) == export
    half = restored(folded(events[: len(events) // 2])[0])
    graph = Graph(half)
    for event in events[len(events) // 2 :]:
        half.apply(event)
    assert canonical_json(export_graph(half, graph)) == canonical_json(export)
    for partitions in (1, 2, 3):
        assert partitioned_export(events, partitions) == comparable(export)
    return export


def names_in(export):
    return {found["name"] for found in export["datasets"]}


def edges_in(export):
    return {(edge["job"]["name"], edge["direction"], edge["dataset"]["name"]) for edge in export["edges"]}


BOTH = {("writer", "output", "sales/orders"), ("reader", "input", "sales/orders")}


@pytest.mark.parametrize(
    ("events", "nodes", "edges"),
    [
        pytest.param(
            [writing(0, linked("sales/orders", alias("sales.orders"))), reading(1, dataset("sales.orders", HIVE))],
            {"sales/orders"},
            BOTH,
            id="a reader names the alias",
        ),
        pytest.param(
            [reading(0, dataset("sales.orders", HIVE)), writing(1, linked("sales/orders", alias("sales.orders")))],
            {"sales/orders"},
            BOTH,
            id="a reader named the alias before anybody knew it",
        ),
        pytest.param(
            [
                writing(0, linked("sales/orders", alias("a"))),
                reading(1, linked("a", alias("b"), namespace=HIVE)),
                reading(2, dataset("b", HIVE), run=3, job="second"),
            ],
            {"sales/orders"},
            BOTH | {("second", "input", "sales/orders")},
            id="chain of aliases",
        ),
        pytest.param(
            [
                writing(0, linked("old/orders", alias("sales.orders"))),
                writing(1, linked("new/orders", alias("sales.orders")), run=3, job="successor"),
                reading(2, dataset("sales.orders", HIVE)),
            ],
            {"old/orders", "new/orders"},
            {
                ("writer", "output", "old/orders"),
                ("successor", "output", "new/orders"),
                ("reader", "input", "new/orders"),
            },
            id="table dropped and created elsewhere",
        ),
        pytest.param(
            [
                writing(0, linked("sales/orders", alias("a"))),
                writing(1, linked("sales/orders", alias("b"))),
                reading(2, dataset("a", HIVE)),
            ],
            {"sales/orders"},
            BOTH,
            id="second alias",
        ),
        pytest.param(
            [
                writing(0, linked("sales/orders", alias("a"))),
                writing(1, linked("sales/orders")),
                reading(2, dataset("a", HIVE)),
            ],
            {"sales/orders", "a"},
            {("writer", "output", "sales/orders"), ("reader", "input", "a")},
            id="withdrawn alias",
        ),
        pytest.param([reading(0, TABLE)], {"sales/orders"}, {("reader", "input", "sales/orders")}, id="no answer yet"),
        pytest.param(
            [reading(0, TRINO_TABLE), located(5, "s3://a", "moved"), writing(6, dataset("moved", "s3://a"))],
            {"moved"},
            {("reader", "input", "moved"), ("writer", "output", "moved")},
            id="table in the namespace of an engine",
        ),
        pytest.param(
            [reading(0, TABLE), located(5, "s3://warehouse", "other/orders"), writing(9, dataset("other/orders"))],
            {"other/orders"},
            {("reader", "input", "other/orders"), ("writer", "output", "other/orders")},
            id="catalog that answered late",
        ),
        pytest.param(
            [reading(0, TABLE), located(5, "s3://a", "first"), located(6, "s3://b", "second")],
            {"second"},
            {("reader", "input", "second")},
            id="catalog that changed its answer",
        ),
        pytest.param(
            [reading(0, TABLE), writing(1, linked("data/17", alias(ALIAS.name, ALIAS.namespace)))],
            {"data/17"},
            {("reader", "input", "data/17"), ("writer", "output", "data/17")},
            id="another engine knows where the table lies",
        ),
        pytest.param(
            [
                writing(0, dataset("a/x")),
                reading(1, dataset("a/x")),
                body("COMPLETE", 2, run=3, job="ddl"),
                writing(3, changed("b/x", "RENAME", previous="a/x"), run=3, job="ddl"),
            ],
            {"b/x"},
            {("writer", "output", "b/x"), ("reader", "input", "b/x"), ("ddl", "output", "b/x")},
            id="renamed",
        ),
        pytest.param(
            [
                writing(0, dataset("a/x")),
                dataset_event(1, changed("b/x", "RENAME", previous="a/x")),
                dataset_event(2, changed("c/x", "RENAME", previous="b/x")),
            ],
            {"c/x"},
            {("writer", "output", "c/x")},
            id="renamed twice",
        ),
        pytest.param(
            [
                writing(0, dataset("a/x")),
                dataset_event(1, changed("b/x", "RENAME", previous="a/x")),
                dataset_event(2, changed("a/x", "RENAME", previous="b/x")),
            ],
            {"a/x"},
            {("writer", "output", "a/x")},
            id="renamed and back",
        ),
        pytest.param(
            [
                writing(0, dataset("a/x")),
                dataset_event(1, changed("b/x", "RENAME", previous="a/x")),
                writing(2, dataset("a/x"), run=3, job="again"),
            ],
            {"a/x", "b/x"},
            {("writer", "output", "a/x"), ("again", "output", "a/x")},
            id="old name used again",
        ),
        pytest.param(
            [
                writing(0, dataset("a/x")),
                writing(1, changed("b/x", "RENAME", previous="a/x"), run=3, job="ddl", kind="START"),
                body("FAIL", 2, run=3, job="ddl"),
            ],
            {"a/x", "b/x"},
            {("writer", "output", "a/x"), ("ddl", "output", "b/x")},
            id="renaming that failed",
        ),
        pytest.param(
            [writing(0, dataset("a/x")), reading(1, dataset("a/x")), dataset_event(2, changed("a/x", "DROP"))],
            set(),
            set(),
            id="dropped",
        ),
        pytest.param(
            [writing(0, dataset("a/x")), dataset_event(1, changed("a/x", "DROP")), reading(2, dataset("a/x"))],
            set(),
            set(),
            id="dropped and read",
        ),
        pytest.param(
            [
                writing(0, dataset("a/x")),
                dataset_event(1, changed("a/x", "DROP")),
                writing(2, dataset("a/x"), run=3, job="again"),
            ],
            {"a/x"},
            {("writer", "output", "a/x"), ("again", "output", "a/x")},
            id="dropped and written",
        ),
        pytest.param(
            [writing(0, changed("a/x", "DROP"), kind="START"), writing(1, dataset("a/x"))],
            set(),
            set(),
            id="later event of the run that dropped",
        ),
        pytest.param(
            [writing(0, changed("a/x", "DROP"), kind="START"), writing(1, changed("a/x", "CREATE"))],
            {"a/x"},
            {("writer", "output", "a/x")},
            id="dropped and created by one run",
        ),
        pytest.param(
            [writing(0, changed("a/x", "DROP"), kind="START"), body("FAIL", 1, run=1, job="writer")],
            {"a/x"},
            {("writer", "output", "a/x")},
            id="drop that failed",
        ),
        pytest.param(
            [writing(0, linked("a/x", alias("t"))), dataset_event(1, changed("t", "DROP", HIVE))],
            set(),
            set(),
            id="dropped by its alias",
        ),
        *(
            pytest.param(
                [writing(0, dataset("a/x")), dataset_event(1, changed("a/x", change))],
                {"a/x"},
                {("writer", "output", "a/x")},
                id=change.lower(),
            )
            for change in ("TRUNCATE", "OVERWRITE", "ALTER", "CREATE", "RENAME", "unknown")
        ),
    ],
)
def test_names_of_one_dataset_are_one_node(events, nodes, edges):
    export = graph_of(events)
    assert names_in(export) == nodes
    assert edges_in(export) == edges


TOPIC = dataset("orders", "kafka://kafka:9092")


@pytest.mark.parametrize(
    ("events", "nodes"),
    [
        pytest.param([linked("a/x", alias("a/x", "s3://warehouse"))], {"a/x"}, id="itself"),
        pytest.param(
            [TOPIC, linked("evil/x", alias("orders", "kafka://kafka:9092"))], {"orders", "evil/x"}, id="topic"
        ),
        pytest.param([dataset("a/x"), linked("evil/x", alias("a/x", "s3://warehouse"))], {"a/x", "evil/x"}, id="path"),
        pytest.param(
            [TOPIC, linked("evil", alias("orders", "kafka://kafka:9092"), namespace="x://y")],
            {"orders"},
            id="by a table",
        ),
        pytest.param(
            [linked("a", alias("b"), namespace=HIVE), linked("b", alias("a"), namespace=HIVE)], {"a"}, id="each other"
        ),
        pytest.param(
            [linked(a, alias(b), namespace=HIVE) for a, b in (("c", "a"), ("a", "b"), ("b", "c"))], {"a"}, id="cycle"
        ),
        pytest.param(
            [dataset("t0", HIVE), linked("a/x", *(alias(f"t{n}") for n in range(33)))], {"t0", "a/x"}, id="many names"
        ),
        pytest.param([dataset("t0", HIVE), linked("a/x", alias("*"))], {"t0", "a/x"}, id="pattern"),
    ],
)
def test_wrong_symlinks_do_not_merge_datasets(events, nodes):
    export = graph_of([writing(n, output, run=n + 1, job=f"job{n}") for n, output in enumerate(events)])
    assert names_in(export) == nodes


def test_claims_that_are_repeated_in_turn_keep_a_cycle_one_node():
    contents = [linked("a", alias("b"), namespace=HIVE), linked("b", alias("a"), namespace=HIVE)] * 5
    lineage = LineageRecords()
    for second, content in enumerate(contents):
        lineage.apply(read(writing(second, content)))
        assert set(lineage.datasets) == ({("hive://metastore:9083", "a")})


def test_columns_and_flows_join_over_an_alias():
    columns = {"fields": {"id": {"inputFields": [source("sales/orders", "id")]}}}
    events = [
        writing(0, linked("sales/orders", alias("sales.orders"), schema=schema("id"))),
        body(
            "COMPLETE",
            1,
            run=2,
            job="reader",
            inputs=[dataset("sales.orders", HIVE), dataset("other/x")],
            outputs=[dataset("out/x", columnLineage=columns, schema=schema("id"))],
        ),
    ]
    export = graph_of(events)
    flows = {(flow["input"]["name"], flow["output"]["name"]) for flow in export["flows"]}
    assert flows == {("sales/orders", "out/x"), ("other/x", "out/x")}
    assert [column["input"]["name"] for column in export["columns"]] == ["sales/orders"]
    assert {found["name"]: found["symlinks"] for found in export["datasets"]}["sales/orders"] == [alias("sales.orders")]


def test_edge_of_an_alias_has_not_vanished_while_another_name_has_it():
    events = [reading(0, dataset("t", HIVE), run=1), reading(1, dataset("a/x"), run=2)]
    assert [edge["dataset"]["name"] for edge in graph_of(events)["vanished"]] == ["t"]
    assert graph_of([*events, writing(2, linked("a/x", alias("t")))])["vanished"] == []


def test_history_of_all_names_is_kept():
    events = [
        writing(0, dataset("t", HIVE, schema=schema("a"), documentation={"description": "orders"})),
        writing(1, linked("a/x", alias("t"), schema=schema("a", "b")), run=2),
    ]
    for order in permutations(events):
        lineage = LineageRecords()
        for content in order:
            lineage.apply(read(content))
        (record,) = lineage.datasets.values()
        assert [len(version.fields) for version in record.versions()] == [1, 2]
        assert record.all_facets()["documentation"]["description"] == "orders"


def test_dropped_dataset_keeps_its_history():
    events = [writing(0, dataset("a/x", schema=schema("a"))), dataset_event(1, changed("a/x", "DROP"))]
    lineage, graph = folded([read(content) for content in events])
    view = graph.job_lineages[(NAMESPACE, "writer")]
    assert [(edge.dataset.name, edge.reason) for edge in view.vanished] == [("a/x", "the dataset was dropped")]
    assert len(lineage.datasets[DatasetId("s3://warehouse", "a/x")].versions()) == 1


def test_dropped_dataset_that_is_written_under_an_alias_exists_again():
    events = [
        writing(0, changed("a/x", "DROP"), run=1),
        writing(1, linked("t", alias("a/x", "s3://warehouse"), namespace=HIVE), run=1),
        dataset_event(2, dataset("t", HIVE, schema=schema("a"))),
    ]
    for order in permutations(read(content) for content in events):
        export = export_graph(*folded(order))
        assert names_in(export) == {"a/x"}
        assert export["vanished"] == []


def test_only_users_of_a_name_are_derived_again():
    lineage = LineageRecords()
    graph = Graph(lineage)
    for n in range(5):
        lineage.apply(read(reading(n, dataset(f"t{n}", HIVE), run=n, job=f"job{n}")))
    graph.refresh()
    changes = lineage.follow()
    lineage.apply(read(dataset_event(9, linked("a/x", alias("t3")))))
    assert lineage.touched == {(NAMESPACE, "job3")} == changes.jobs
    assert changes.datasets == {("s3://warehouse", "a/x"), (HIVE, "t3")}


NAMES = [("s3://warehouse", "a/x"), ("s3://warehouse", "b/x"), (HIVE, "s"), (HIVE, "t"), tuple(ALIAS)]
NAMED = st.sampled_from(NAMES)


@st.composite
def stated_datasets(draw):
    namespace, name = draw(NAMED)
    facets = {"schema": schema(draw(st.sampled_from("ab")))}
    if draw(st.booleans()):
        claimed = draw(st.lists(NAMED, max_size=2))
        facets["symlinks"] = {"identifiers": [alias(*reversed(found)) for found in claimed]}
    if draw(st.booleans()):
        previous = draw(NAMED)
        stated = {"lifecycleStateChange": draw(st.sampled_from(["DROP", "RENAME", "CREATE"]))}
        facets["lifecycleStateChange"] = {
            **stated,
            "previousIdentifier": {"namespace": previous[0], "name": previous[1]},
        }
    return dataset(name, namespace, **facets)


@st.composite
def histories(draw):
    contents = []
    for second in range(draw(st.integers(2, 8))):
        match draw(st.sampled_from(["write", "read", "dataset", "located", "table"])):
            case "dataset":
                contents.append(dataset_event(second, draw(stated_datasets())))
            case "located":
                contents.append(located(second, "s3://warehouse", draw(st.sampled_from(["a/x", "b/x", "c/x"]))))
            case kind:
                used = TABLE if kind == "table" else draw(stated_datasets())
                run = draw(st.integers(1, 3))
                event_type = draw(st.sampled_from(["START", "COMPLETE", "FAIL"]))
                use = reading if kind == "read" else writing
                contents.append(use(second, used, run=run, job=f"job{run}", kind=event_type))
    return contents


@settings(max_examples=int(os.environ.get("LINEAGE_LAB_PERMUTATIONS", "150")), deadline=None)
@given(histories(), st.randoms(use_true_random=False), st.integers(0, 8))
def test_random_histories_give_one_graph_in_every_order(contents, chance, compacted):
    events = [read(content) for content in contents]
    expected = export_graph(*folded(events))
    for _ in range(5):
        order = [*events, *chance.choices(events, k=len(events) // 2)]
        chance.shuffle(order)
        assert export_graph(*folded(order)) == expected
    ordered = sorted(events, key=lambda event: event.order)
    lineage = restored(folded(ordered[:compacted])[0])
    for event in ordered[compacted:]:
        lineage.apply(event)
    assert export_graph(lineage, Graph(lineage)) == expected
    nodes = {lineage.node(name) for name in lineage.nodes.by_name}
    assert nodes == set(lineage.datasets)
    assert partitioned_export(chance.sample(events, len(events)), 3) == comparable(expected)


def test_long_chain_of_aliases_is_followed_for_some_steps():
    contents = [
        writing(n, linked(f"t{n:03}", alias(f"t{n - 1:03}"), namespace=HIVE), run=n, job=f"job{n}")
        for n in range(1, 300)
    ]
    events = [read(content) for content in contents]
    lineage = LineageRecords()
    for event in events:
        lineage.apply(event)
    assert lineage.node(DatasetId(HIVE, "t295")) == (HIVE, "t299")
    assert lineage.node(DatasetId(HIVE, "t001")) == (HIVE, "t009")
    other = LineageRecords()
    for event in reversed(events):
        other.apply(event)
    assert export_graph(other, Graph(other)) == export_graph(lineage, Graph(lineage))
