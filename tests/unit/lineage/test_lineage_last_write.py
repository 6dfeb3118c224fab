# SPDX-License-Identifier: Apache-2.0
"""Time of the last write to a dataset, whatever the order of its events."""

import itertools

import pytest
from lineage_events import at, body, dataset, facet, read

from lineage.events import DatasetId
from lineage.events.timestamps import parse_time
from lineage.graph import Graph, LineageRecords
from lineage.graph.last_write import last_write

ORDERS = DatasetId("s3://warehouse", "orders")


def write(event_type, second, run=1, job="job", streaming=False, rows=None):
    output = dataset("orders")
    if rows is not None:
        output["outputFacets"] = {"outputStatistics": facet(rowCount=rows)}
    return body(event_type, second, run=run, job=job, outputs=[output], streaming=streaming)


def written(contents, now=100.0):
    """Return the second of the last write, the same for every order of arrival."""
    found = set()
    for arrival in itertools.permutations(contents):
        lineage = LineageRecords()
        for content in arrival:
            lineage.apply(read(content))
        graph = Graph(lineage)
        graph.refresh()
        found.add(last_write(lineage, graph, ORDERS, parse_time(at(now))))
    assert len(found) == 1
    return next(iter(found))


@pytest.mark.parametrize(
    ("contents", "second"),
    [
        ([write("START", 0), write("COMPLETE", 5)], 5),
        ([write("START", 0)], None),
        ([write("START", 0), write("COMPLETE", 5), write("START", 10, run=2)], 5),
        ([write("START", 0), write("COMPLETE", 5), write("START", 10, run=2), write("FAIL", 15, run=2)], 5),
        ([write("START", 0), write("FAIL", 5)], None),
        ([write("START", 0), write("FAIL", 5, rows=3)], 5),
        ([write("START", 0), write("ABORT", 5, rows=0)], None),
        # A stream writes as long as it runs, with and without rows.
        ([write("START", 0, streaming=True), write("RUNNING", 50, streaming=True)], 50),
        (
            [write("START", 0, streaming=True), write("RUNNING", 8, streaming=True), write("ABORT", 9, streaming=True)],
            9,
        ),
        # One that crashes at each start does not write, whether it says so or the next start does.
        ([write("START", 0, streaming=True), write("START", 9, run=2, streaming=True), write("FAIL", 10, run=2)], None),
        ([write("START", 0, streaming=True), write("FAIL", 50, streaming=True)], None),
        ([write("START", 0, streaming=True), write("RUNNING", 9, streaming=True, rows=2)], 9),
        # The latest of several writers.
        ([write("COMPLETE", 5), write("COMPLETE", 7, run=2, job="other"), write("COMPLETE", 6, run=3)], 7),
    ],
)
def test_last_write_by_events(contents, second):
    assert written(contents) == (None if second is None else parse_time(at(second)))


def test_a_dataset_that_is_only_read_was_never_written():
    assert written([body("COMPLETE", 3, inputs=[dataset("orders")])]) is None
