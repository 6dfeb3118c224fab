# SPDX-License-Identifier: Apache-2.0
"""A worker that has only one half of the plugin: it tells what that half can see, and says at start what it cannot."""

import re

import pytest

from infra.services.connect import worker as connect
from tests.connect.cluster import Cluster, sink, source, with_lineage
from tests.connect.conftest import take_away
from tests.connect.processes import local_site, running
from tests.connect.rest import Rest, until
from tests.connect.stories import names, schema
from tests.connect.worker import lineage_options, worker


@pytest.fixture
def alone(name, bootstrap, plugin_path, ports, tmp_path, endpoint):
    """Starts a worker of the test's own; `options` are all of its lineage properties."""
    started = []

    def make(options):
        site = local_site(tmp_path / "worker", ports, connect.NAME)
        service = worker(site, plugin_path, options, bootstrap, name[:40])
        context = running(service, site)
        process = context.__enter__()
        cluster = Cluster(bootstrap, Rest(site.address(connect.NAME, connect.REST.name).url), endpoint)
        started.append((context, cluster))
        return cluster, process

    yield make
    for context, cluster in started:
        try:
            take_away(cluster)
        finally:
            context.__exit__(None, None, None)


def test_the_extension_alone_tells_the_whole_life_and_the_datasets(alone, endpoint, name, tmp_path):
    cluster, process = alone(lineage_options(endpoint.url, name[:40]))
    assert re.search(r"(?i)transform", process.said())
    cluster.topic(name)
    cluster.create(name, sink(name, file=tmp_path / "out"))
    cluster.await_told(name, "1 START")
    cluster.rest.pause(name)
    cluster.await_told(name, "1 START", "1 OTHER PAUSED")
    cluster.rest.delete(name)
    story = cluster.await_told(name, "1 START", "1 OTHER PAUSED", "1 ABORT")
    assert names(story.last, "inputs") == {name}
    assert schema(story.last, "inputs", name) == {}


def test_the_transform_alone_tells_of_records_and_failures(alone, endpoint, name, tmp_path):
    options = lineage_options(endpoint.url, name[:40])
    del options["rest.extension.classes"]
    cluster, process = alone(options)
    failing, topic = f"{name}-failing", name
    cluster.topic(topic)
    own = {"transport.url": endpoint.url, "namespace.kafka": "kafka://kafka:9092", "poll.interval.ms": 100}
    own |= {"transform.only.after.ms": 0}
    cluster.create(name, with_lineage(source(topic), **own))
    told = cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", topic))
    assert names(told, "outputs") == {topic}
    assert re.search(r"(?i)extension", process.said())
    cluster.create(failing, with_lineage(source(topic, fail__at="records", fail__after__records=3), **own))
    cluster.await_told(failing, "1 START", "1 FAIL")
    cluster.rest.delete(name)
    until(lambda: cluster.story(name).told()[-1] != "1 START", "the end of the run")


def test_a_wrong_option_is_named_with_the_nearest_right_one_and_fails_nothing(alone, endpoint, name, tmp_path):
    wrong = {"openlineage.transport.ulr": "http://nowhere", "openlineage.job.namespase": "other"}
    cluster, process = alone(lineage_options(endpoint.url, name[:40]) | wrong)
    assert re.search(r"openlineage\.transport\.ulr .*did you mean openlineage\.transport\.url\?", process.said())
    assert re.search(r"openlineage\.job\.namespase .*did you mean openlineage\.job\.namespace\?", process.said())
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name), datasetz="x -> y|z"))
    cluster.await_told(name, "1 START")
    assert re.search(r"datasetz .*did you mean .*datasets\?", process.said())
