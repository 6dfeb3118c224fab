# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Connect plugin share: a broker, a worker that most of them use, an endpoint for events."""

import re

import pytest

from infra.services import kafka, object_store, schema_registry
from infra.services.connect import worker as connect
from infra.settings import Settings
from infra.toolchain import Artifacts
from tests.connect.cluster import Cluster
from tests.connect.endpoint import listening
from tests.connect.plugins import plugins
from tests.connect.processes import free_ports, local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import lineage_options, worker

SHARED = (kafka.NAME, connect.NAME, object_store.NAME, schema_registry.NAME)
"""Services of which there is one at most for all tests."""


@pytest.fixture(scope="package")
def ports():
    return free_ports()


@pytest.fixture(scope="package")
def site(tmp_path_factory, ports):
    return local_site(tmp_path_factory.mktemp("connect"), ports, *SHARED)


@pytest.fixture(scope="package")
def bootstrap(site):
    """Where the broker listens."""
    with running(kafka.kafka(site, Settings(kafka_heap_mib=256)), site):
        yield str(site.address(kafka.NAME, kafka.BROKER.name))


@pytest.fixture(scope="package")
def built():
    return plugins()


@pytest.fixture(scope="package")
def plugin_path(built):
    others = (Artifacts.open().component(name) for name in ("connect-file", "s3-archive-sink"))
    return (built.lineage, built.test_connectors, *others)


@pytest.fixture(scope="package")
def endpoint():
    with listening() as taking:
        yield taking


@pytest.fixture(scope="package")
def shared_worker(site, bootstrap, plugin_path, endpoint):
    """Transform and REST extension on one worker that is never stopped."""
    with running(worker(site, plugin_path, lineage_options(endpoint.url)), site) as started:
        yield started


@pytest.fixture
def name(request):
    """For connectors and topics: the test's own."""
    return re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")[:80]


@pytest.fixture
def cluster(shared_worker, site, bootstrap, endpoint):
    """The shared worker. Afterwards its connectors are deleted, and nothing that was told of them breaks a rule."""
    shared = Cluster(bootstrap, Rest(site.address(connect.NAME, connect.REST.name).url), endpoint)
    yield shared
    take_away(shared)


def take_away(cluster):
    """Delete the connectors of a test, and judge everything that was told of them."""
    for made in cluster.made:
        cluster.rest.delete(made)
    for made in cluster.made:
        story = cluster.story(made)
        if story.events:
            until(lambda made=made: is_over(cluster.story(made)), f"{made}: the last run to end")
        assert cluster.story(made).flaws() == []


def is_over(story):
    """Whether the last run has ended."""
    return story.told()[-1].split()[1] in {"COMPLETE", "FAIL", "ABORT"}
