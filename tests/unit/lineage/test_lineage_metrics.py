# SPDX-License-Identifier: Apache-2.0
"""Metrics: read by Prometheus' own parser, from a running service."""

import json
import re
import shutil
import subprocess
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
import yaml
from lineage_events import NAMESPACE, body, event, read
from lineage_recorder import recording
from prometheus_client.parser import text_string_to_metric_families
from test_lineage_api import get, post, with_client

from infra.project import PROJECT
from lineage.metrics.emitter_queues import FACET, EmitterQueues
from lineage.metrics.emitter_queues import MAX_SERIES as QUEUE_SERIES
from lineage.metrics.event_delays import BUCKETS, MAX_SERIES, EventDelays, Stage
from lineagelab_common.queue_facet import with_queue


def samples(text):
    """Return value by name and labels of all samples; fail if one occurs twice."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def value(found, metric, /, **labels):
    return found.get((metric, *sorted(labels.items())))


def sent(event_type, run=1, ago=0.0, job="job"):
    content = body(event_type, 0, run=run, job=job)
    content["eventTime"] = (datetime.now(UTC) - timedelta(seconds=ago)).isoformat()
    return content


def labels(job="job"):
    return {"producer": "https://example.org/test", "namespace": NAMESPACE, "job": job}


async def scrape(client):
    response = await client.get("/metrics")
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return samples(response.text)


def test_delays_are_counted_by_stage_emitter_and_job(tmp_path):
    async def scenario(client):
        for run, ago in enumerate((0.0, 2.0, 100.0), 1):
            assert (await post(client, sent("START", run, ago))).status_code == 201
        await post(client, b"{}")
        content = sent("START", 9, job="once")
        await post(client, content)
        await post(client, content)
        return await scrape(client)

    found = with_client(tmp_path, scenario)
    for stage in ("accepted", "visible"):
        at = {"stage": stage, **labels()}
        counts = [value(found, "lineage_event_delay_seconds_bucket", le=str(bound), **at) for bound in BUCKETS]
        assert counts == [1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
        assert value(found, "lineage_event_delay_seconds_count", **at) == 3
        assert 102 <= value(found, "lineage_event_delay_seconds_sum", **at) < 110
    assert value(found, "lineage_event_delay_seconds_count", stage="forwarded", **labels()) is None
    assert value(found, "lineage_event_delay_seconds_count", stage="visible", **labels("once")) == 1
    assert value(found, "lineage_events_accepted_total") == 5
    assert value(found, "lineage_events_duplicate_total") == 1
    assert value(found, "lineage_events_refused_total") == 1
    assert value(found, "lineage_events_refused_by_code_total", code="invalid_event") == 1
    assert value(found, "lineage_dead_letters", kind="fold") == 0
    assert value(found, "lineage_events_logged") == 4
    assert value(found, "lineage_events_waiting") == 0
    assert value(found, "lineage_jobs") == 2
    assert value(found, "process_resident_memory_bytes") > 10**6


def running(waiting, dropped, job="stream"):
    content = sent("RUNNING", job=job)
    content["run"]["facets"] = {FACET: {"_producer": "p", "_schemaURL": "s", "waiting": waiting, "dropped": dropped}}
    return content


def test_queues_of_emitters_are_reported_until_the_run_ends(tmp_path):
    async def scenario(client):
        for content in (running(3, 0), running(0, 2), running(1, 0, "other"), running(-1, True, "junk")):
            assert (await post(client, content)).status_code == 201
        before = await scrape(client)
        await post(client, sent("COMPLETE", job="other"))
        return before, await scrape(client)

    before, after = with_client(tmp_path, scenario)
    for found in (before, after):
        assert value(found, "lineage_emitter_waiting", **labels("stream")) == 0
        assert value(found, "lineage_emitter_dropped_total", **labels("stream")) == 2
        assert value(found, "lineage_emitter_waiting", **labels("junk")) is None
    assert value(before, "lineage_emitter_waiting", **labels("other")) == 1
    assert value(after, "lineage_emitter_waiting", **labels("other")) is None


@pytest.mark.parametrize("facet", [{}, {"waiting": 1}, {"waiting": "1", "dropped": 0}, {"waiting": 1.5}])
def test_a_queue_that_is_none_is_ignored(facet):
    queues = EmitterQueues()
    content = running(0, 0)
    content["run"]["facets"][FACET] = facet
    queues.observe(read(content))
    assert [family.samples for family in queues.collect()] == [[], []]


def test_the_facet_is_that_of_the_emitters():
    event = with_queue({"eventType": "RUNNING", "producer": "p", "run": {"runId": "r"}}, 2, 1)
    facet = event["run"]["facets"][FACET]
    assert (facet["waiting"], facet["dropped"]) == (2, 1)


def test_the_number_of_emitters_with_series_is_limited():
    queues = EmitterQueues()
    for number in range(QUEUE_SERIES + 5):
        queues.observe(read(running(number, 0, job=f"job{number}")))
    queues.observe(read(running(7, 0, job="job0")))
    waiting, _ = queues.collect()
    assert len(waiting.samples) == QUEUE_SERIES
    assert waiting.samples[0].value == 7


RULES = PROJECT / "integrations" / "prometheus" / "lineage-alerts.yaml"


def promtool(*words, content=None):
    """Run promtool, which Debian's package prometheus has; return its output, fail if it does."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not on PATH: apt-get download prometheus, or install it")
    done = subprocess.run([found, *words], input=content, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_alert_rules_do_what_their_test_says():
    assert "SUCCESS: 14 rules found" in promtool("check", "rules", str(RULES))
    assert "SUCCESS" in promtool("test", "rules", str(RULES.with_suffix(".test.yaml")))


def test_every_metric_of_the_rules_is_one_of_the_service(tmp_path):
    async def scenario(client):
        await post(client, sent("FAIL"))
        return (await client.get("/metrics")).text

    with recording() as recorder:
        text = with_client(tmp_path, scenario, forward_to=recorder.url)
    exported = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    used = set(re.findall(r"\blineage_[a-z_]+", "\n".join(_expressions(RULES))))
    assert len(used) >= 8
    assert {name.removesuffix("_bucket") for name in used} <= exported
    assert promtool("check", "metrics", content=text) == ""


def _expressions(path):
    for group in yaml.safe_load(path.read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def test_alerts_and_dead_letters_are_series(tmp_path):
    async def scenario(client):
        for number in range(3):
            await post(client, sent("FAIL", number + 1, job=f"job{number}"))
        before = await scrape(client)
        await post(client, sent("COMPLETE", 9, job="job0"))
        return before, await scrape(client)

    before, after = with_client(tmp_path, scenario)
    node = {"kind": "failed", "type": "job", "namespace": NAMESPACE}
    assert value(before, "lineage_alerts", kind="failed") == 3
    assert value(before, "lineage_alerts", kind="stale") == 0
    assert value(before, "lineage_alert", name="job0", **node) == 1
    assert value(after, "lineage_alerts", kind="failed") == 2
    assert value(after, "lineage_alert", name="job0", **node) is None


def test_forwarded_events_have_a_delay_of_their_own(tmp_path):
    async def scenario(client):
        await post(client, sent("START", ago=2.0))
        until = time.monotonic() + 30
        while (await get(client, "/stats"))["forward"]["delivered"] < 1:
            assert time.monotonic() < until
        return await scrape(client)

    with recording() as recorder:
        found = with_client(tmp_path, scenario, forward_to=recorder.url)
    at = {"stage": "forwarded", **labels()}
    assert value(found, "lineage_event_delay_seconds_count", **at) == 1
    assert 2 <= value(found, "lineage_event_delay_seconds_sum", **at) < 40
    assert value(found, "lineage_forward_delivered_total") == 1
    assert value(found, "lineage_forward_behind") == 0


def test_last_writes_are_those_that_the_contract_demands(tmp_path):
    contract, lab = tmp_path / "contract.yaml", tmp_path / "lab.json"
    contract.write_text(
        f"{{version: 1, namespace: {NAMESPACE}, jobs: [{{job: job, outputs: [s3://warehouse/a]}}],"
        " datasets: [{dataset: s3://warehouse/a, freshness: 1h}, {dataset: s3://warehouse/b, freshness: 1h}]}"
    )
    lab.write_text(json.dumps({"name": "test", "services": [], "contract": str(contract)}))

    async def scenario(client):
        content = sent("COMPLETE", ago=5)
        content["outputs"] = [{"namespace": "s3://warehouse", "name": "a"}]
        await post(client, content)
        found = await scrape(client)
        contract.write_text("nothing")
        return found, (await client.get("/metrics")).status_code

    found, status = with_client(tmp_path, scenario, lab=lab)
    name = "lineage_dataset_last_write_timestamp_seconds"
    assert 4 < time.time() - found[(name, ("name", "a"), ("namespace", "s3://warehouse"))] < 60
    assert status == 503


@pytest.mark.parametrize("key", [None, "ingest-key-of-the-test"])
def test_metrics_need_a_key_that_reads_if_reading_needs_one(tmp_path, key):
    keys = tmp_path / "keys.json"
    emitter = {"name": "emitter", "scopes": ["ingest"], "sha256": sha256(b"ingest-key-of-the-test").hexdigest()}
    keys.write_text(json.dumps({"keys": [emitter]}))

    async def scenario(client):
        client.headers.pop("Authorization", None)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return (await client.get("/metrics", headers=headers)).status_code

    assert with_client(tmp_path, scenario, keys=keys) == (403 if key else 401)


def test_series_are_bounded():
    delays = EventDelays()
    for number in range(MAX_SERIES + 50):
        delays.observe(Stage.VISIBLE, event("START", 0, job=f"job{number}"), 10**10)
    counted = [
        (sample.labels["job"], sample.value)
        for family in delays.registry.collect()
        for sample in family.samples
        if sample.name.endswith("_count")
    ]
    assert len(counted) == MAX_SERIES + 1
    assert dict(counted)[""] == 50
