# SPDX-License-Identifier: Apache-2.0
"""Ring buffer of ingest throughput and lag."""

from random import Random

import pytest
from lineage_events import body
from test_lineage_operations import Api, run

from lineage.metrics.ingest_metrics import SAMPLES, STEP, IngestMetrics, Sample

START = 1_800_000_003


def counts_and_lags(metrics, now):
    return [(sample.events, sample.lag) for sample in metrics.samples(now)]


def test_events_are_counted_per_step_with_the_maximum_lag():
    metrics = IngestMetrics(START)
    metrics.record(START, START - 1.5)
    metrics.record(START + 1, START)
    metrics.record(START + 2 * STEP, START)
    assert metrics.samples(START + 2 * STEP) == [
        Sample(1_800_000_000, 2, 1.5),
        Sample(1_800_000_010, 0, None),
        Sample(1_800_000_020, 1, 20.0),
    ]


def test_metrics_begin_at_the_start_of_the_service():
    assert counts_and_lags(IngestMetrics(START), START) == [(0, None)]


@pytest.mark.parametrize("silence", [SAMPLES, SAMPLES + 1, 10 * SAMPLES + 7])
def test_samples_older_than_the_ring_are_dropped(silence):
    metrics = IngestMetrics(START)
    metrics.record(START, START)
    later = START + silence * STEP
    assert counts_and_lags(metrics, later) == [(0, None)] * SAMPLES
    assert metrics.samples(later)[-1].start == later // STEP * STEP


def test_clock_skew_is_tolerated():
    metrics = IngestMetrics(START)
    metrics.record(START, START + 60)
    metrics.record(START - 3600, START - 3600)
    assert counts_and_lags(metrics, START) == [(2, 0.0)]


def test_ring_equals_a_computation_over_all_events():
    random, metrics, now, recorded = Random(11), IngestMetrics(START), float(START), []
    for _ in range(3000):
        now += random.expovariate(1)
        lag = random.random() * 5
        metrics.record(now, now - lag)
        recorded.append((int(now) // STEP, lag))
    found = {sample.start // STEP: sample for sample in metrics.samples(now)}
    assert len(found) == SAMPLES
    for step, sample in found.items():
        lags = [lag for place, lag in recorded if place == step]
        assert sample.events == len(lags)
        assert sample.lag == pytest.approx(max(lags)) if lags else sample.lag is None


def test_flow_route_returns_the_metrics(tmp_path):
    async def scenario():
        async with Api(tmp_path / "data") as api:
            before = await api.read("/api/v1/flow")
            await api.store(body(), body())
            return before, await api.read("/api/v1/flow")

    before, after = run(scenario())
    assert (before["stepSeconds"], before["mostSamples"]) == (STEP, SAMPLES)
    assert sum(sample["events"] for sample in before["samples"]) == 0
    assert sum(sample["events"] for sample in after["samples"]) == 1, "a duplicate event is not counted"
    assert after["samples"][-1]["start"].endswith("Z")
    assert max(sample["lagSeconds"] or 0 for sample in after["samples"]) > 0
