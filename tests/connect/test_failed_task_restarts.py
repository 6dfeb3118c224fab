# SPDX-License-Identifier: Apache-2.0
"""A worker with the extension of the lab restarts failed tasks; records are delivered once."""

import pytest

from infra.services.connect import worker as connect
from infra.toolchain import Artifacts
from tests.connect.cluster import Cluster, lines_of, sink, source, with_lineage
from tests.connect.conftest import delete_and_verify
from tests.connect.endpoint import listening
from tests.connect.processes import local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import lineage_options, worker

RECORDS = 20


@pytest.fixture
def cluster(bootstrap, plugin_path, ports, tmp_path_factory):
    """Cluster of a worker that restarts failed tasks."""
    site = local_site(tmp_path_factory.mktemp("restarts"), ports, connect.NAME)
    plugins = (*plugin_path, Artifacts.open().component("connect-restarts"))
    with listening() as endpoint:
        options = lineage_options(endpoint.url, "restarts")
        options["rest.extension.classes"] = f"{options['rest.extension.classes']},{connect.RESTARTS_EXTENSION}"
        with running(worker(site, plugins, options, bootstrap, "restarts"), site):
            yield Cluster(bootstrap, Rest(site.address(connect.NAME, connect.REST.name).url), endpoint)


def test_a_task_whose_store_was_away_runs_again(cluster, name, tmp_path):
    out = tmp_path / "store" / "out"
    cluster.topic(name)
    cluster.create(f"{name}-source", with_lineage(source(name, records=RECORDS)))
    cluster.create(name, with_lineage(sink(name, file=out)))
    until(lambda: "FAILED" in cluster.rest.states(name), "the task to fail, as the folder is missing")
    out.parent.mkdir()
    until(lambda: len(lines_of(out)) == RECORDS, "every record", 120)
    assert cluster.rest.states(name) == ["RUNNING", "RUNNING"]
    cluster.await_transitions(name, "1 START", "1 FAIL", "2 START")
    delete_and_verify(cluster)
    assert [line["value"]["order_id"] for line in lines_of(out)] == [f"order {number}" for number in range(RECORDS)]
