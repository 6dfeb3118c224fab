# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Connect plugin's tests: a broker, a shared worker, an endpoint for events."""

import re

import pytest

from infra.catalog import LabSettings
from infra.services import kafka, object_store, schema_registry
from infra.services.connect import worker as connect
from infra.toolchain import Artifacts
from tests.connect.cluster import Cluster
from tests.connect.endpoint import listening
from tests.connect.plugins import plugins
from tests.connect.processes import free_ports, local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import THE_LABS, lineage_options, worker

SHARED = (kafka.NAME, connect.NAME, object_store.NAME, schema_registry.NAME)
"""Services started at most once for all tests."""


@pytest.fixture(scope="package")
def ports():
    return free_ports()


@pytest.fixture(scope="package")
def site(tmp_path_factory, ports):
    return local_site(tmp_path_factory.mktemp("connect"), ports, *SHARED)


@pytest.fixture(scope="package")
def bootstrap(site):
    """Address of a running broker."""
    with running(kafka.kafka_service(site, LabSettings(kafka_heap_mib=256)), site):
        yield str(site.address(kafka.NAME, kafka.BROKER.name))


@pytest.fixture(scope="package")
def built():
    return plugins()


@pytest.fixture(scope="package")
def plugin_path(built):
    others = (Artifacts.open().component(name) for name in ("connect-file", "rest-guard", "s3-archive-sink"))
    return (built.lineage, built.test_connectors, *others)


@pytest.fixture(scope="package")
def endpoint():
    with listening() as started:
        yield started


@pytest.fixture(scope="package")
def shared_worker(site, bootstrap, plugin_path, endpoint):
    """Worker with transform and REST extension that runs for all tests."""
    with running(worker(site, plugin_path, lineage_options(endpoint.url)), site) as started:
        yield started


@pytest.fixture
def name(request):
    """Unique name for connectors and topics of a test."""
    return re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")[:80]


@pytest.fixture
def cluster(shared_worker, site, bootstrap, endpoint):
    """Cluster of the shared worker. Afterwards its connectors are deleted and their events verified."""
    shared = Cluster(bootstrap, Rest(site.address(connect.NAME, connect.REST.name).url), endpoint)
    yield shared
    delete_and_verify(shared)


@pytest.fixture
def alone(name, bootstrap, plugin_path, ports, tmp_path, endpoint):
    """Start a dedicated worker; `options` are all of its lineage properties, `release` is its Connect and Java."""
    started = []

    def make(options, release=THE_LABS):
        site = local_site(tmp_path / "worker", ports, connect.NAME)
        service = worker(site, plugin_path, options, bootstrap, name[:40], release=release)
        context = running(service, site)
        process = context.__enter__()
        cluster = Cluster(bootstrap, Rest(site.address(connect.NAME, connect.REST.name).url), endpoint)
        started.append((context, cluster))
        return cluster, process

    yield make
    for context, cluster in started:
        try:
            delete_and_verify(cluster)
        finally:
            context.__exit__(None, None, None)


def delete_and_verify(cluster, exactly_once=True):
    """Delete the connectors of a test and verify all of their events; see `EventHistory.violations`."""
    for connector in cluster.created:
        cluster.rest.delete(connector)
    for connector in cluster.created:
        if cluster.history(connector).events:
            until(lambda name=connector: has_ended(cluster.history(name)), f"{connector}: the last run to end")
        assert cluster.history(connector).violations(exactly_once) == []


def has_ended(history):
    """Return whether the last run has ended."""
    return history.transitions()[-1].split()[1] in {"COMPLETE", "FAIL", "ABORT"}
