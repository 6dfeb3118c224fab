# SPDX-License-Identifier: Apache-2.0
"""A lineage service that misbehaves in every way: records flow as if it were not there, and no event is lost."""

import pytest

from infra.services.connect import worker as connect
from tests.connect.cluster import Cluster, lines_of, sink, source, with_lineage
from tests.connect.conftest import take_away
from tests.connect.endpoint import Mood, listening
from tests.connect.processes import local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import lineage_options, worker

RECORDS = 500
TERMINATED = 128 + 15
"""How a JVM ends that was asked to."""


@pytest.fixture(scope="module")
def own_worker(bootstrap, plugin_path, ports, tmp_path_factory):
    """A worker, its endpoint, and a cluster that sees both."""
    site = local_site(tmp_path_factory.mktemp("hostile"), ports, connect.NAME)
    with listening() as endpoint:
        timeouts = {"transport__connect__timeout__ms": 1000, "transport__request__timeout__ms": 1000}
        options = lineage_options(endpoint.url, "hostile", interval__ms=1000, **timeouts)
        with running(worker(site, plugin_path, options, bootstrap, "hostile"), site) as started:
            rest = Rest(site.address(connect.NAME, connect.REST.name).url)
            yield started, Cluster(bootstrap, rest, endpoint)


@pytest.mark.parametrize("mood", [Mood.RESET, Mood.HANG, Mood.ERROR, Mood.GARBAGE])
def test_records_flow_and_the_events_come_when_it_is_well_again(own_worker, name, tmp_path, mood):
    _, cluster = own_worker
    endpoint = cluster.endpoint
    cluster.made = []
    cluster.topic(name)
    requests = endpoint.requests
    endpoint.turn(mood)
    out = tmp_path / "out"
    writer, reader = f"{name}-source", f"{name}-sink"
    cluster.create(writer, with_lineage(source(name, records=RECORDS, pause__ms=1)))
    cluster.create(reader, with_lineage(sink(name, file=out)))
    until(lambda: len(lines_of(out)) == RECORDS, "every record")
    assert endpoint.wait_for(lambda: endpoint.requests > requests + 1, 30), "nobody has asked it"
    assert cluster.rest.states(writer) == cluster.rest.states(reader) == ["RUNNING", "RUNNING"]
    assert not endpoint.events or endpoint.events[-1]["job"]["name"] not in (writer, reader)
    endpoint.turn(Mood.TAKE)
    for connector in (writer, reader):
        cluster.await_told(connector, "1 START")
    take_away(cluster)
    assert [line["value"]["order_id"] for line in lines_of(out)] == [f"order {number}" for number in range(RECORDS)]


def test_a_worker_is_stopped_while_the_endpoint_hangs(bootstrap, plugin_path, ports, tmp_path, name):
    site = local_site(tmp_path / "worker", ports, connect.NAME)
    with listening() as endpoint:
        endpoint.turn(Mood.HANG)
        options = lineage_options(endpoint.url, name[:40])
        with running(worker(site, plugin_path, options, bootstrap, name[:40]), site) as started:
            cluster = Cluster(bootstrap, Rest(site.address(connect.NAME, connect.REST.name).url), endpoint)
            cluster.topic(name)
            cluster.create(name, with_lineage(source(name)))
            assert endpoint.wait_for(lambda: endpoint.requests > 0, 60)
            started.stop()
            assert started.process.returncode == TERMINATED
