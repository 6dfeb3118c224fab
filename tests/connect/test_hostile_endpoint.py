# SPDX-License-Identifier: Apache-2.0
"""Failing lineage service: records are unaffected, and no event is lost."""

import pytest

from infra.services.connect import worker as connect
from tests.connect.cluster import Cluster, lines_of, sink, source, with_lineage
from tests.connect.conftest import delete_and_verify
from tests.connect.endpoint import Behaviour, listening
from tests.connect.processes import local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import lineage_options, worker

RECORDS = 500
TERMINATED = 128 + 15
"""Exit status of a JVM that was stopped by SIGTERM."""


@pytest.fixture(scope="module")
def own_worker(bootstrap, plugin_path, ports, tmp_path_factory):
    """Worker with its endpoint, and their cluster."""
    site = local_site(tmp_path_factory.mktemp("hostile"), ports, connect.NAME)
    with listening() as endpoint:
        timeouts = {"transport__connect__timeout__ms": 1000, "transport__request__timeout__ms": 1000}
        options = lineage_options(endpoint.url, "hostile", interval__ms=1000, **timeouts)
        with running(worker(site, plugin_path, options, bootstrap, "hostile"), site) as started:
            rest = Rest(site.address(connect.NAME, connect.REST.name).url)
            yield started, Cluster(bootstrap, rest, endpoint)


@pytest.mark.parametrize("behaviour", [Behaviour.RESET, Behaviour.HANG, Behaviour.ERROR, Behaviour.INVALID_HTTP])
def test_records_flow_and_events_arrive_after_recovery(own_worker, name, tmp_path, behaviour):
    _, cluster = own_worker
    endpoint = cluster.endpoint
    cluster.created = []
    cluster.topic(name)
    requests = endpoint.requests
    endpoint.set_behaviour(behaviour)
    out = tmp_path / "out"
    writer, reader = f"{name}-source", f"{name}-sink"
    cluster.create(writer, with_lineage(source(name, records=RECORDS, pause__ms=1)))
    cluster.create(reader, with_lineage(sink(name, file=out)))
    until(lambda: len(lines_of(out)) == RECORDS, "every record")
    assert endpoint.wait_for(lambda: endpoint.requests > requests + 1, 30), "the endpoint received no requests"
    assert cluster.rest.states(writer) == cluster.rest.states(reader) == ["RUNNING", "RUNNING"]
    assert cluster.history(writer).arrived == cluster.history(reader).arrived == ()
    endpoint.set_behaviour(Behaviour.ACCEPT)
    for connector in (writer, reader):
        cluster.await_transitions(connector, "1 START")
    delete_and_verify(cluster, exactly_once=False)
    assert [line["value"]["order_id"] for line in lines_of(out)] == [f"order {number}" for number in range(RECORDS)]


def test_worker_stops_while_the_endpoint_hangs(bootstrap, plugin_path, ports, tmp_path, name):
    site = local_site(tmp_path / "worker", ports, connect.NAME)
    with listening() as endpoint:
        endpoint.set_behaviour(Behaviour.HANG)
        options = lineage_options(endpoint.url, name[:40])
        with running(worker(site, plugin_path, options, bootstrap, name[:40]), site) as started:
            cluster = Cluster(bootstrap, Rest(site.address(connect.NAME, connect.REST.name).url), endpoint)
            cluster.topic(name)
            cluster.create(name, with_lineage(source(name)))
            assert endpoint.wait_for(lambda: endpoint.requests > 0, 60)
            started.stop()
            assert started.process.returncode == TERMINATED
