# SPDX-License-Identifier: Apache-2.0
"""Order independence: a hundred seeded orders of arrival with duplicates give byte-identical graphs.

`LINEAGE_LAB_PERMUTATIONS` sets another number. A failure names the seed, to repeat the order.
"""

import json
import os
import random

import pytest
from lineage_events import RECORDED, read, recorded_lines
from lineage_partitions import comparable, partitioned_export
from lineage_run_histories import RunHistories
from lineage_spark_events import pipeline

from lineage.events import canonical_json
from lineage.graph import Graph, LineageRecords, export_graph, fold_events

PERMUTATIONS = int(os.environ.get("LINEAGE_LAB_PERMUTATIONS", "100"))
RECORDINGS = sorted(file.name for file in RECORDED.glob("*.ndjson")) or ["none-recorded.ndjson"]


def exported(lineage, graph):
    return canonical_json(export_graph(lineage, graph))


def shuffled_export(events, chance):
    """Return the graph after events arrived in random order, some twice, with reads in between."""
    arrival = [*events, *chance.choices(events, k=len(events) // 2)]
    chance.shuffle(arrival)
    lineage = LineageRecords()
    graph = Graph(lineage)
    for event in arrival:
        lineage.apply(event)
        if chance.random() < 0.2:
            graph.refresh()
    return exported(lineage, graph)


def assert_one_graph(events):
    lineage = fold_events(events)
    expected = exported(lineage, Graph(lineage))
    assert json.loads(expected)["jobs"]
    for seed in range(PERMUTATIONS):
        assert shuffled_export(events, random.Random(seed)) == expected, f"seed {seed} gives another graph"
    for partitions in (1, 4):
        assert partitioned_export(events, partitions) == comparable(json.loads(expected))


@pytest.mark.parametrize("file", RECORDINGS)
def test_recorded_run_gives_one_graph(file):
    assert_one_graph([read(json.loads(line)) for line in recorded_lines(file)])


def test_all_recorded_runs_give_one_graph():
    events = [read(json.loads(line)) for line in recorded_lines()]
    assert_one_graph(random.Random(1).sample(events, min(80, len(events))))


def test_spark_pipeline_gives_one_graph():
    events = [read(content) for content in pipeline(rounds=3)]
    lineage = fold_events(events)
    graph = export_graph(lineage, Graph(lineage))
    assert {job["name"]: job["state"] for job in graph["jobs"]} == {
        "orders_etl": "COMPLETED",
        "orders_etl.overwrite_by_expression.lake_sales_orders": "FAILED",
        "supplier_stats": "COMPLETED",
        "supplier_stats.overwrite_partitions_dynamic.lake_sales_supplier_stats": "COMPLETED",
    }
    assert len(graph["columns"]) > 5
    assert_one_graph(events)


@pytest.mark.parametrize("seed", range(8))
def test_generated_run_history_gives_one_graph(seed):
    assert_one_graph(RunHistories(seed).make())
