# SPDX-License-Identifier: Apache-2.0
"""Column edges in memory: packed or not, they are the same."""

import random

import pytest

from lineage.events import DatasetId, JobId
from lineage.graph.column_edges import ColumnEdge, ColumnEdges, UnpackedEdges

DATASETS = [DatasetId(f"s3://{bucket}", name) for bucket in "ab" for name in ("orders", "bids")]
SOME_TYPES = [("DIRECT", "IDENTITY"), ("INDIRECT", "JOIN"), ("DIRECT", None), (None, None)]


def some_edges(chance, job, count):
    return {
        ColumnEdge(
            job,
            chance.choice(DATASETS),
            chance.choice([None, "id", "price", "ü\ud800"]),
            chance.choice(DATASETS),
            f"column{chance.randrange(9)}",
            *chance.choice(SOME_TYPES),
            chance.random() < 0.5,
        )
        for _ in range(count)
    }


@pytest.mark.parametrize("limit", [0, 10, 1_000])
def test_edges_that_were_packed_are_read_as_they_were(limit):
    chance, unpacked = random.Random(limit), UnpackedEdges(limit)
    jobs = [JobId("batch", f"job{number}") for number in range(20)]
    expected = {job: some_edges(chance, job, chance.randrange(30)) for job in jobs}
    kept = {job: ColumnEdges(job, edges, unpacked) for job, edges in expected.items()}
    for job in chance.choices(jobs, k=100):
        assert set(kept[job]) == expected[job]
        assert len(kept[job]) == len(expected[job])
        assert kept[job].sources == {edge.source for edge in expected[job]}
        assert all(edge in kept[job] for edge in expected[job])


def test_edges_of_a_stored_row_are_equal():
    job = JobId("batch", "job")
    edges = ColumnEdges(job, some_edges(random.Random(1), job, 40), UnpackedEdges())
    read = ColumnEdges.of_bytes(job, edges.stored, UnpackedEdges())
    assert set(read) == set(edges)
    assert bytes(read) == bytes(edges)
    assert read.masked == {(edge.output, edge.field) for edge in edges if edge.masking and edge.field is not None}


def test_memory_holds_the_edges_that_were_used_last(monkeypatch):
    packed = []
    monkeypatch.setattr(ColumnEdges, "pack", lambda edges: packed.append(edges))
    unpacked, chance = UnpackedEdges(25), random.Random(2)
    first, second, third = (
        ColumnEdges(JobId("batch", name), sorted(some_edges(chance, JobId("batch", name), 90), key=str)[:10], unpacked)
        for name in "abc"
    )
    assert packed == [first]
    list(second)
    list(first)
    assert packed == [first, third]
    unpacked.discard(second)
    list(third)
    assert packed == [first, third]
