# SPDX-License-Identifier: Apache-2.0
"""The ring of throughput and lag."""

from random import Random

import pytest
from lineage_events import body
from test_lineage_operations import Api, run

from lineage.ingest_metrics import SAMPLES, STEP, IngestMetrics, Sample

START = 1_800_000_003


def told(flow, now):
    return [(sample.events, sample.lag) for sample in flow.samples(now)]


def test_events_are_counted_where_they_came_and_the_latest_of_them_is_the_lag():
    flow = IngestMetrics(START)
    flow.record(START, START - 1.5)
    flow.record(START + 1, START)
    flow.record(START + 2 * STEP, START)
    assert flow.samples(START + 2 * STEP) == [
        Sample(1_800_000_000, 2, 1.5),
        Sample(1_800_000_010, 0, None),
        Sample(1_800_000_020, 1, 20.0),
    ]


def test_a_service_that_has_just_begun_tells_of_nothing_before():
    assert told(IngestMetrics(START), START) == [(0, None)]


@pytest.mark.parametrize("silence", [SAMPLES, SAMPLES + 1, 10 * SAMPLES + 7])
def test_what_is_older_than_the_ring_is_forgotten(silence):
    flow = IngestMetrics(START)
    flow.record(START, START)
    later = START + silence * STEP
    assert told(flow, later) == [(0, None)] * SAMPLES
    assert flow.samples(later)[-1].start == later // STEP * STEP


def test_clocks_that_disagree_break_nothing():
    flow = IngestMetrics(START)
    flow.record(START, START + 60)
    flow.record(START - 3600, START - 3600)
    assert told(flow, START) == [(2, 0.0)]


def test_it_says_what_a_list_of_all_events_would():
    random, flow, now, heard = Random(11), IngestMetrics(START), float(START), []
    for _ in range(3000):
        now += random.expovariate(1)
        lag = random.random() * 5
        flow.record(now, now - lag)
        heard.append((int(now) // STEP, lag))
    found = {sample.start // STEP: sample for sample in flow.samples(now)}
    assert len(found) == SAMPLES
    for step, sample in found.items():
        lags = [lag for place, lag in heard if place == step]
        assert sample.events == len(lags)
        assert sample.lag == pytest.approx(max(lags)) if lags else sample.lag is None


def test_the_service_tells_of_it(tmp_path):
    async def work():
        async with Api(tmp_path / "data") as api:
            before = await api.read("/api/v1/flow")
            await api.store(body(), body())
            return before, await api.read("/api/v1/flow")

    before, after = run(work())
    assert (before["stepSeconds"], before["mostSamples"]) == (STEP, SAMPLES)
    assert sum(sample["events"] for sample in before["samples"]) == 0
    assert sum(sample["events"] for sample in after["samples"]) == 1, "an event that was known before is not counted"
    assert after["samples"][-1]["start"].endswith("Z")
    assert max(sample["lagSeconds"] or 0 for sample in after["samples"]) > 0
