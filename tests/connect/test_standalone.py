# SPDX-License-Identifier: Apache-2.0
"""Lineage of a standalone worker: without a group, without internal topics, with connectors in files."""

import pytest
from confluent_kafka.admin import AdminClient

from infra.services.connect import worker as connect
from tests.connect.cluster import Cluster, source, with_lineage
from tests.connect.conftest import delete_and_verify
from tests.connect.event_history import names, schema
from tests.connect.processes import local_site, running
from tests.connect.rest import Rest
from tests.connect.worker import lineage_options, standalone


@pytest.fixture
def alone(ports, tmp_path):
    return local_site(tmp_path / "worker", ports, connect.NAME)


@pytest.fixture
def cluster(alone, bootstrap, endpoint):
    return Cluster(bootstrap, Rest(alone.address(connect.NAME, connect.REST.name).url), endpoint)


def topics(bootstrap):
    return set(AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=60).topics)


def test_run_survives_the_worker_and_ends_with_the_connector(alone, cluster, bootstrap, plugin_path, endpoint, name):
    cluster.topic(name)
    before = topics(bootstrap)
    group = name[:40]
    service = standalone(
        alone, plugin_path, lineage_options(endpoint.url, group), bootstrap, {name: with_lineage(source(name))}
    )
    with running(service, alone) as worker:
        event = cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
        assert names(event, "outputs") == {name}
        assert "Standalone worker" in worker.output()
        cluster.rest.pause(name)
        cluster.await_transitions(name, "1 START", "1 OTHER PAUSED")
        cluster.rest.resume(name)
        cluster.await_transitions(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING")
    assert topics(bootstrap) - before == {f"{group}-lineage"}, "only the state of runs is stored"
    with running(service, alone):
        cluster.rest.await_states(name, "RUNNING", "RUNNING")
        cluster.rest.delete(name)
        history = cluster.await_transitions(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING", "1 ABORT")
        assert schema(history.last, "outputs", name)
        cluster.create(name, with_lineage(source(name)))
        cluster.await_transitions(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING", "1 ABORT", "2 START")
        delete_and_verify(cluster)
