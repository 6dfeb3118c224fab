# SPDX-License-Identifier: Apache-2.0
"""OpenLineage's listener with a spool: what it reports while the lineage service is down arrives later."""

import json
import os

import pytest

from lineagelab_flink.launch_sql import SqlJob
from lineagelab_flink.script import script
from tests.bench.service_process import running_service
from tests.flink.flink_cluster import GATEWAY, JOBMANAGER, TASKMANAGER, FlinkCluster
from tests.flink.launched import ReportedLineage, until
from tests.flink.test_launch_sql import edges, produce, sql

ROWS = 10


@pytest.fixture
def port(ports):
    """Port of a lineage service that does not run yet."""
    return next(ports)


@pytest.fixture
def cluster(tmp_path, ports, port):
    """Cluster whose listener sends to that port."""
    found = FlinkCluster.at(tmp_path / "flink", ports, f"http://127.0.0.1:{port}")
    with found.running(JOBMANAGER, TASKMANAGER, GATEWAY):
        yield found


@pytest.fixture
def run(cluster, broker, name):
    """Return a function that runs a job to its end; its argument is the suffix of the name."""

    def run(suffix):
        topic = f"{name}_{suffix}"
        broker.topic(topic, f"{topic}_out")
        produce(broker, topic, range(ROWS))
        text = script([(f"{topic}.sql", sql(topic, bounded=True))], {"KAFKA_BOOTSTRAP": broker.bootstrap})
        SqlJob(topic, text, cluster.gateway_url, ()).submit(os.urandom(16).hex(), "", "owner:nobody")
        until(lambda: [job.state for job in cluster.jobs(topic)] == ["FINISHED"], f"the end of {topic}")
        return topic

    return run


@pytest.fixture
def service(tmp_path, port, rules):
    """Return a function that runs the lineage service."""
    return lambda: running_service(tmp_path / "lineage", "--port", port, "--rules", rules)


def unsent(cluster):
    """Return the types of the events of each job that wait."""
    found = {}
    for file in (cluster.root / "unsent-events").rglob("*.json"):
        event = json.loads(file.read_text())
        found.setdefault(event["job"]["name"], set()).add(event["eventType"])
    return found


def test_events_arrive_when_the_service_is_back(cluster, run, service):
    topic = run("first")
    until(lambda: {"START", "COMPLETE"} <= unsent(cluster).get(topic, set()), "the end of the run in the spool")
    with service() as running:
        reported = ReportedLineage(running.url, topic)
        reported.await_states("COMPLETED")
        reported.await_edges(edges(topic))
        until(lambda: unsent(cluster) == {}, "an empty spool")


def test_events_of_killed_processes_arrive_with_the_next_job(cluster, run, service):
    topic = run("first")
    until(lambda: {"START", "COMPLETE"} <= unsent(cluster).get(topic, set()), "the end of the run in the spool")
    for each in (GATEWAY, JOBMANAGER):
        cluster.kill(each)
    with service() as running:
        cluster.start(JOBMANAGER, GATEWAY)
        run("second")
        reported = ReportedLineage(running.url, topic)
        reported.await_states("COMPLETED")
        reported.await_edges(edges(topic))
        until(lambda: unsent(cluster) == {}, "an empty spool")
