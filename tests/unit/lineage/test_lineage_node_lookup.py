# SPDX-License-Identifier: Apache-2.0
"""Resolution of user-supplied text to a node of the graph."""

import pytest
from lineage_events import body, dataset, read, schema, source

from lineage.checks.node_lookup import Node, Unresolved, resolve
from lineage.graph import Graph, export_graph, fold_events

KAFKA = "kafka://kafka:9092"
LAKE = "s3://warehouse"


@pytest.fixture(scope="module")
def export():
    lineage = {"fields": {"price": {"inputFields": [{**source("orders", "_key"), "namespace": KAFKA}]}}}
    alias = {"identifiers": [{"namespace": LAKE, "name": "lake.sales.orders", "type": "TABLE"}]}
    table = dataset("sales/orders", schema=schema("price", "a.b"), columnLineage=lineage, symlinks=alias)
    event = body(inputs=[dataset("orders", KAFKA), dataset("orders"), dataset("bids", KAFKA)], outputs=[table])
    folded = fold_events([read(event)])
    return export_graph(folded, Graph(folded))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("s3://warehouse/sales/orders", Node(LAKE, "sales/orders")),
        ("sales/orders", Node(LAKE, "sales/orders")),
        ("lake.sales.orders", Node(LAKE, "sales/orders")),
        ("s3://warehouse/lake.sales.orders", Node(LAKE, "sales/orders")),
        ("bids", Node(KAFKA, "bids")),
        ("s3://warehouse/orders", Node(LAKE, "orders")),
        ("sales/orders#price", Node(LAKE, "sales/orders", "price")),
        ("lake.sales.orders.price", Node(LAKE, "sales/orders", "price")),
        ("sales/orders.a.b", Node(LAKE, "sales/orders", "a.b")),
        ("orders._key", Node(KAFKA, "orders", "_key")),
        ("orders#_key", Node(KAFKA, "orders", "_key")),
    ],
)
def test_text_resolves_to_a_node(text, node, export):
    assert resolve(text, export) == node


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "orders",
            f"'orders' is ambiguous, it matches 2 names; write one of them in full:\n  {KAFKA}/orders\n  {LAKE}/orders",
        ),
        ("sales/order", "no dataset or column in the graph is named 'sales/order'; similar names are sales/orders"),
        ("sales/orders#prise", f"columns of {LAKE}/sales/orders are a.b, price"),
        ("bids.x", "similar names are bids"),
        ("", "similar names are"),
        ("#", "similar names are"),
    ],
)
def test_ambiguous_or_unknown_text_is_an_error(text, message, export):
    with pytest.raises(Unresolved) as caught:
        resolve(text, export)
    assert message in str(caught.value)


def test_empty_graph_has_no_nodes():
    with pytest.raises(Unresolved, match="it has no datasets yet; run a job"):
        resolve("orders", {"datasets": [], "columns": [], "datasetColumns": []})


def test_node_ids_equal_those_of_the_service():
    assert Node(KAFKA, "orders").id == "dataset:kafka://kafka:9092:orders"
    assert Node(KAFKA, "orders", "_key").id == "datasetField:kafka://kafka:9092:orders:_key"
