# SPDX-License-Identifier: Apache-2.0
"""Workers that join, leave and crash: runs continue on other workers, and each ends once."""

import pytest

from infra.services.connect import worker as connect
from tests.connect.cluster import Cluster, lines_of, sink, source, struct, with_lineage
from tests.connect.conftest import delete_and_verify
from tests.connect.endpoint import Behaviour
from tests.connect.event_history import names, schema
from tests.connect.processes import await_ready, local_site, start
from tests.connect.rest import Rest, until
from tests.connect.worker import OTHER_RELEASES, THE_LABS, lineage_options, worker


class Group:
    """Workers of one group by name."""

    def __init__(self, name, bootstrap, plugin_path, ports, folder, endpoint, release=THE_LABS):
        self.name = name
        self._release = release
        self.cluster = Cluster(bootstrap, None, endpoint)
        self._plugin_path = plugin_path
        self._ports = ports
        self._folder = folder
        self._started = {}
        self.properties = {}

    def start(self, *workers):
        """Start workers in parallel and wait until all are ready. A known name restarts that worker."""
        for name in workers:
            site = self._site(name)
            options = lineage_options(self.cluster.endpoint.url, self.name) | self.properties
            service = worker(site, self._plugin_path, options, self.cluster.bootstrap, self.name, release=self._release)
            self._started[name] = (site, start(service, site))
        for name in workers:
            site, started = self._started[name]
            await_ready(started, site)
        self.cluster.rest = Rest(self.url(workers[0]))

    def _site(self, name):
        if name in self._started:
            return self._started[name][0]
        return local_site(self._folder / name, self._ports, connect.NAME)

    def url(self, name):
        return self._started[name][0].address(connect.NAME, connect.REST.name).url

    def of(self, connector):
        """Return the names of the workers that run tasks of a connector."""
        ids = self.cluster.rest.workers(connector)
        return {name for name in self._started if self.url(name).removeprefix("http://") in ids}

    def kill(self, name):
        self._started[name][1].kill()
        self._use_another()

    def stop(self, name):
        self._started[name][1].stop()
        self._use_another()

    def _use_another(self):
        alive = [name for name, (_, started) in self._started.items() if started.process.poll() is None]
        if alive:
            self.cluster.rest = Rest(self.url(alive[0]))

    def end(self):
        for _, started in self._started.values():
            started.stop()


@pytest.fixture
def group(request, name, bootstrap, plugin_path, built, ports, tmp_path, endpoint):
    """Workers of the lab's release, or of the one that a test names. Another Connect has the test's plugins only."""
    release = getattr(request, "param", THE_LABS)
    if release.component != THE_LABS.component:
        release.install()
        plugin_path = (built.lineage, built.test_connectors)
    started = Group(name[:40], bootstrap, plugin_path, ports, tmp_path, endpoint, release)
    started.properties = release.extensions
    try:
        yield started
        delete_and_verify(started.cluster)
    finally:
        started.end()


# Each release of Connect with the newer Java alone, to save minutes: `test_archives` has both with each.
with_all_releases = pytest.mark.parametrize(
    "group",
    [THE_LABS, *(pytest.param(release, marks=pytest.mark.slow) for release in OTHER_RELEASES if release.java > 17)],
    ids=str,
    indirect=True,
)


@with_all_releases
def test_tasks_on_two_workers_are_one_run_that_survives_a_crash(group, name, tmp_path):
    cluster, topic = group.cluster, name
    group.start("one", "two")
    cluster.topic(topic, partitions=3)
    out = tmp_path / "out"
    cluster.create(name, with_lineage(sink(topic, file=out) | {"tasks.max": 3}))
    cluster.rest.await_states(name, *["RUNNING"] * 4)
    until(lambda: group.of(name) == {"one", "two"}, "tasks on both workers")
    cluster.produce(topic, [struct({"id": str(number)}) for number in range(30)])
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", topic))
    until(lambda: len(lines_of(out)) == 30, "all records")

    group.kill("two")
    until(lambda: group.of(name) == {"one"}, "the other worker to take over")
    cluster.rest.await_states(name, *["RUNNING"] * 4)
    cluster.produce(topic, [struct({"id": str(number)}) for number in range(30, 40)])
    until(lambda: len(lines_of(out)) >= 40, "the new records")
    assert cluster.history(name).transitions() == ["1 START"]

    group.start("two")
    until(lambda: group.of(name) == {"one", "two"}, "tasks on both workers again")
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 ABORT")
    assert all(names(event, "inputs") == {topic} for event in history.events)


@with_all_releases
def test_crash_of_the_leader(group, name):
    cluster = group.cluster
    group.start("one", "two")
    each = [f"{name}-{number}" for number in range(2)]
    cluster.topic(*each)
    for connector in each:
        cluster.create(connector, with_lineage(source(connector)))
        cluster.await_transitions(connector, "1 START")
    group.kill("one")
    for connector in each:
        until(lambda connector=connector: group.of(connector) == {"two"}, f"{connector} on the other worker")
        cluster.rest.await_states(connector, "RUNNING", "RUNNING")
        cluster.rest.delete(connector)
        cluster.await_transitions(connector, "1 START", "1 ABORT")


def test_restarted_worker_continues_the_run(group, name):
    cluster = group.cluster
    group.start("one")
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
    group.stop("one")
    last_event = cluster.history(name).last
    assert last_event["eventType"] == "RUNNING", "sent on shutdown, before the interval has passed"
    assert last_event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] > 0
    group.start("one")
    cluster.rest.await_states(name, "RUNNING", "RUNNING")
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 ABORT")
    assert schema(history.last, "outputs", name)


def test_connector_deleted_without_a_leader(group, name):
    cluster = group.cluster
    group.start("one", "two")
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_transitions(name, "1 START")
    (owner,) = group.of(name)
    group.kill(owner)
    cluster.rest.delete(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")


def test_leader_without_jmx_reporter(group, name):
    cluster = group.cluster
    group.properties |= {"metric.reporters": ""}
    group.start("one")
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    cluster.await_transitions(name, "1 START")
    cluster.rest.delete(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")


@with_all_releases
def test_failure_reaches_the_service_after_an_outage_and_a_crash(group, name):
    cluster, endpoint = group.cluster, group.cluster.endpoint
    group.properties |= {"openlineage.retry.timeout.ms": 0}
    group.start("one")
    cluster.topic(name)
    connector = with_lineage(source(name, fail__at="records", fail__after__records=5))
    endpoint.set_behaviour(Behaviour.RESET)
    try:
        cluster.rest.create(name, connector)
        until(lambda: "FAILED" in cluster.rest.states(name), "the task to fail")
        attempts = endpoint.requests
        until(lambda: endpoint.requests > attempts + 3, "the events to expire")
        group.kill("one")
    finally:
        endpoint.set_behaviour(Behaviour.ACCEPT)
    assert not cluster.history(name).events
    group.start("one")
    cluster.await_event(name, "of the failure", lambda event: event["eventType"] == "FAIL")
    first = cluster.history(name).runs[0]
    ends = [event for event in cluster.history(name).events if event["run"]["runId"] == first]
    assert [event["eventType"] for event in ends][-1] == "FAIL"
    cluster.rest.delete(name)
