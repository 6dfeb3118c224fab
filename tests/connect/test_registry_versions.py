# SPDX-License-Identifier: Apache-2.0
"""Schema registry versions of topics, with a real worker, converter and registry."""

import httpx
import pytest

from infra.catalog import LabSettings
from infra.services import schema_registry
from infra.services.connect import worker as connect
from infra.toolchain import Artifacts
from tests.connect.cluster import Cluster, sink, source, with_lineage
from tests.connect.conftest import delete_and_verify
from tests.connect.event_history import dataset, notes, schema
from tests.connect.processes import local_site, running
from tests.connect.rest import Rest
from tests.connect.worker import lineage_options, worker

REGISTRY_FACET = "lineagelab_schemaRegistry"
GROUP = "registry-tests"


@pytest.fixture(scope="module")
def registry(site):
    with running(schema_registry.schema_registry_service(site, LabSettings()), site):
        yield Registry(site.address(schema_registry.NAME, schema_registry.API.name).url)


@pytest.fixture(scope="module")
def started(site, bootstrap, plugin_path, endpoint, ports, tmp_path_factory):
    own = local_site(tmp_path_factory.mktemp("registry"), ports, connect.NAME)
    path = (*plugin_path, Artifacts.open().component("registry-converter"))
    service = worker(own, path, lineage_options(endpoint.url, GROUP), bootstrap, GROUP)
    with running(service, own):
        yield Rest(own.address(connect.NAME, connect.REST.name).url)


@pytest.fixture
def cluster(started, bootstrap, endpoint):
    """Cluster of a worker with the Avro converter."""
    found = Cluster(bootstrap, started, endpoint)
    yield found
    delete_and_verify(found)


@pytest.fixture
def avro(registry, site):
    return schema_registry.avro_converter(site)


class Registry:
    """Client of the schema registry."""

    def __init__(self, url):
        self.url = url + schema_registry.CONFLUENT_API

    def ids(self, subject):
        """Return schema id by version."""
        versions = httpx.get(f"{self.url}/subjects/{subject}/versions", trust_env=False).json()
        found = (httpx.get(f"{self.url}/subjects/{subject}/versions/{v}", trust_env=False).json() for v in versions)
        return {str(known["version"]): str(known["id"]) for known in found}


def registered(event, side, topic):
    """Return subject, version and id of a topic in an event; None if it has none."""
    facet = dataset(event, side, topic)["facets"].get(REGISTRY_FACET)
    return (facet["subject"], facet["version"], facet["id"]) if facet else None


def version(event, side, topic):
    """Return the dataset version of a topic."""
    return dataset(event, side, topic)["facets"].get("version", {}).get("datasetVersion")


@pytest.mark.parametrize("shape", ["order", "nested", "wide"])
def test_source_and_sink_report_the_registered_version(cluster, avro, registry, name, shape, tmp_path):
    read = f"{name}-read"
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name, shapes=shape, records=5) | avro))
    cluster.create(read, with_lineage(sink(name, file=tmp_path / "out") | avro))
    for connector, side in ((name, "outputs"), (read, "inputs")):
        event = cluster.await_event(connector, "with a version", lambda event, side=side: registered(event, side, name))
        assert registered(event, side, name) == (f"{name}-value", "1", registry.ids(f"{name}-value")["1"])
        assert version(event, side, name) == "1"


def test_new_version_arrives_together_with_its_columns(cluster, avro, registry, name):
    cluster.topic(name)
    later = {"later.shapes": "order_with_note", "later.after.records": 100}
    cluster.create(name, with_lineage(source(name, **later) | avro))
    cluster.await_event(name, "with version 2", lambda event: version(event, "outputs", name) == "2")
    versions = dict.fromkeys(
        ("note" in schema(event, "outputs", name), registered(event, "outputs", name))
        for event in cluster.history(name).events
        if registered(event, "outputs", name)
    )
    ids = registry.ids(f"{name}-value")
    assert list(versions) == [(False, (f"{name}-value", "1", ids["1"])), (True, (f"{name}-value", "2", ids["2"]))]
    with_note = [event for event in cluster.history(name).events if "note" in schema(event, "outputs", name)]
    assert all(registered(event, "outputs", name) for event in with_note), "new columns must not appear as version 1"
    assert cluster.history(name).transitions() == ["1 START"]


def test_unavailable_registry_delays_neither_events_nor_records(cluster, name, ports, tmp_path):
    unavailable = {"value.converter.schema.registry.url": f"http://user:hidden-password@127.0.0.1:{next(ports)}"}
    json = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name, records=20) | json | unavailable))
    cluster.await_transitions(name, "1 START")
    event = cluster.await_event(name, "with columns", lambda event: schema(event, "outputs", name))
    assert registered(event, "outputs", name) is None
    event = cluster.await_event(
        name, "with a note on the registry", lambda event: any("registry" in note for note in notes(event))
    )
    assert version(event, "outputs", name) is None
    assert len(cluster.values(name)) == 20, "records flow"
    assert "hidden-password" not in str(cluster.history(name).events)
