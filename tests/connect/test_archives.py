# SPDX-License-Identifier: Apache-2.0
"""The plugin as its users get it: its archives, unpacked into the plugin path of a worker."""

import json
import re
import zipfile

import pytest

from infra.toolchain import Artifacts
from tests.connect.cluster import life_cycle, source, with_lineage
from tests.connect.event_history import EventHistory, events_in
from tests.connect.plugins import COMPONENT, OPENLINEAGE_CLIENT, archives
from tests.connect.rest import until
from tests.connect.worker import OTHER_RELEASES, lineage_options

SAMPLE = "etc/connect-lineage.properties"


@pytest.fixture(scope="module")
def packed():
    return archives()


@pytest.fixture
def plugin_path(request, packed, built, tmp_path):
    """Plugin path with the archives that a test names, by default the plugin's own, unpacked into one folder."""
    folder = tmp_path / "plugins"
    for kind in getattr(request, "param", [COMPONENT]):
        with zipfile.ZipFile(packed[kind]) as content:
            content.extractall(folder)
    return folder, built.test_connectors, Artifacts.open().component("rest-guard")


def test_the_archive_documents_itself(plugin_path):
    (plugin,) = plugin_path[0].iterdir()
    files = {str(file.relative_to(plugin)) for file in plugin.rglob("*") if file.is_file()}
    documents = {name for name in files if not name.startswith("lib/")}
    assert documents == {"README.md", "manifest.json", SAMPLE, "etc/strimzi.yaml", "doc/LICENSE", "doc/CHANGELOG.md"}
    version = json.loads((plugin / "manifest.json").read_text())["version"]
    assert f"lib/connect-lineage-{version}.jar" in files
    assert f"## {version}\n" in (plugin / "doc/CHANGELOG.md").read_text()
    own = set(sample_properties(plugin)) - {"rest.extension.classes"}
    assert own <= {*lineage_options("http://127.0.0.1:1")}


def sample_properties(plugin):
    """Return the worker's properties that the archive suggests."""
    lines = (plugin / SAMPLE).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@pytest.mark.slow
@pytest.mark.parametrize("release", OTHER_RELEASES, ids=str)
def test_the_archive_is_a_plugin_of_other_releases(alone, endpoint, name, plugin_path, release):
    release.install()
    suggested = sample_properties(next(plugin_path[0].iterdir()))
    options = suggested | lineage_options(endpoint.url, name[:40]) | release.extensions
    assert suggested["rest.extension.classes"] in options["rest.extension.classes"]
    cluster, process = alone(options, release)
    life_cycle(cluster, name, lambda: endpoint.events)
    assert "ERROR" not in process.output()


def test_the_archive_is_a_plugin(alone, endpoint, name):
    cluster, _ = alone(lineage_options(endpoint.url, name[:40]))
    life_cycle(cluster, name, lambda: endpoint.events)


def without_transport(name):
    options = lineage_options("http://127.0.0.1:1", name[:40])
    return {option: value for option, value in options.items() if not option.startswith("openlineage.transport.")}


@pytest.mark.parametrize("plugin_path", [[COMPONENT, OPENLINEAGE_CLIENT]], indirect=True, ids=["with-client"])
def test_events_go_to_the_transports_of_openlineages_client(alone, name, tmp_path):
    first, second = tmp_path / "first.ndjson", tmp_path / "second.ndjson"
    config = tmp_path / "openlineage.yml"
    config.write_text(f"""
transport:
  type: composite
  continueOnFailure: false
  transports:
    - type: file
      location: {first}
    - type: file
      location: {second}
""")
    chosen = {"openlineage.transport.type": "openlineage", "openlineage.transport.config": str(config)}
    cluster, _ = alone(without_transport(name) | chosen)

    history = life_cycle(cluster, name, lambda: events_in(first))
    assert EventHistory.of(name, events_in(second)).events == history.events


def test_a_missing_client_is_named_and_records_pass(alone, name):
    cluster, process = alone(without_transport(name) | {"openlineage.transport.type": "openlineage"})
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name)))
    until(lambda: len(cluster.values(name)) > 10, "records")
    until(lambda: "OpenLineage's client is not in the plugin's folder" in process.output(), "the reason in the log")
    assert re.search(r"Cannot send lineage events to OpenLineage's client, dropping them", process.output())
