# SPDX-License-Identifier: Apache-2.0
"""Node ids: how they are split, and how many splits are looked up."""

import pytest
from lineage_events import NAMESPACE, body, dataset, read, schema

from lineage.events import DatasetId, JobId
from lineage.graph import Graph, fold_events
from lineage.graph.adjacency import Column
from lineage.marquez.node_ids import MAX_RESOLVED, NodeKind, NodeRef, find_node

MANY = ":".join("abc" * 400)
KAFKA = "kafka://kafka:9092"
TOPIC = DatasetId(KAFKA, "a:b")


@pytest.fixture(scope="module")
def known():
    topic = dataset("a:b", KAFKA, schema=schema("x", "y:z"))
    longest = dataset(MANY[:1000], schema=schema("x"))
    lineage = fold_events([read(body(job="etl:daily", inputs=[topic], outputs=[longest]))])
    graph = Graph(lineage)
    graph.refresh()
    return lineage, graph


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"job:{NAMESPACE}:etl:daily", NodeRef(NodeKind.JOB, job=JobId(NAMESPACE, "etl:daily"))),
        (f"dataset:{KAFKA}:a:b", NodeRef(NodeKind.DATASET, column=Column(TOPIC, None))),
        (f"datasetField:{KAFKA}:a:b:x", NodeRef(NodeKind.FIELD, column=Column(TOPIC, "x"))),
        (f"datasetField:{KAFKA}:a:b:y:z", NodeRef(NodeKind.FIELD, column=Column(TOPIC, "y:z"))),
        (
            f"datasetField:s3://warehouse:{MANY[:1000]}:x",
            NodeRef(NodeKind.FIELD, column=Column(DatasetId("s3://warehouse", MANY[:1000]), "x")),
        ),
        (f"datasetField:{KAFKA}:a:b:none", None),
        (f"dataset:{KAFKA}:a", None),
        (f"job:{NAMESPACE}:etl", None),
        (f"topic:{KAFKA}:a:b", None),
        ("dataset", None),
        ("", None),
    ],
)
def test_id_is_split_where_it_names_a_node(known, text, found):
    assert find_node(*known, text) == found


@pytest.mark.parametrize("kind", ["dataset", "datasetField"])
def test_number_of_aliases_that_are_looked_up_is_bounded(known, kind):
    looked_up = []

    def resolve(alias):
        looked_up.append(alias)
        return alias

    assert find_node(*known, f"{kind}:{MANY}", resolve) is None
    assert len(looked_up) == min(MAX_RESOLVED, MANY.count(":") if kind == "dataset" else MAX_RESOLVED)


def test_alias_is_resolved_to_its_dataset(known):
    aliases = {DatasetId("hive://metastore:9083", "db.a"): TOPIC}
    found = find_node(*known, "datasetField:hive://metastore:9083:db.a:x", lambda name: aliases.get(name, name))
    assert found == NodeRef(NodeKind.FIELD, column=Column(TOPIC, "x"))
