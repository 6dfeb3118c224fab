# SPDX-License-Identifier: Apache-2.0
"""A standalone worker: no group, no topics of its own, its connectors in files. It has lineage all the same."""

import pytest
from confluent_kafka.admin import AdminClient

from infra.services.connect import worker as connect
from tests.connect.cluster import Cluster, source, with_lineage
from tests.connect.conftest import take_away
from tests.connect.processes import local_site, running
from tests.connect.rest import Rest
from tests.connect.stories import names, schema
from tests.connect.worker import lineage_options, standalone


@pytest.fixture
def alone(ports, tmp_path):
    return local_site(tmp_path / "worker", ports, connect.NAME)


@pytest.fixture
def cluster(alone, bootstrap, endpoint):
    return Cluster(bootstrap, Rest(alone.address(connect.NAME, connect.REST.name).url), endpoint)


def topics(bootstrap):
    return set(AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=60).topics)


def test_a_run_outlives_the_worker_and_ends_with_the_connector(alone, cluster, bootstrap, plugin_path, endpoint, name):
    cluster.topic(name)
    before = topics(bootstrap)
    group = name[:40]
    service = standalone(
        alone, plugin_path, lineage_options(endpoint.url, group), bootstrap, {name: with_lineage(source(name))}
    )
    with running(service, alone) as worker:
        told = cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
        assert names(told, "outputs") == {name}
        assert "Standalone worker" in worker.said()
        cluster.rest.pause(name)
        cluster.await_told(name, "1 START", "1 OTHER PAUSED")
        cluster.rest.resume(name)
        cluster.await_told(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING")
    assert topics(bootstrap) - before == {f"{group}-lineage"}, "the runs are kept; nothing else is"
    with running(service, alone):
        cluster.rest.await_states(name, "RUNNING", "RUNNING")
        cluster.rest.delete(name)
        story = cluster.await_told(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING", "1 ABORT")
        assert schema(story.last, "outputs", name)
        cluster.create(name, with_lineage(source(name)))
        cluster.await_told(name, "1 START", "1 OTHER PAUSED", "1 OTHER RUNNING", "1 ABORT", "2 START")
        take_away(cluster)
