# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Flink tests: a broker, a cluster, a lineage service, and launchers."""

import json
import re
import shlex

import pytest

from infra.catalog import LabSettings
from infra.namespaces import FLINK_JOB_ID_PREFIX, lineage_service_rules
from infra.services import kafka
from infra.services.flink.jobs import PLANNER_COMPONENT, PLANNER_MAIN
from infra.services.flink.settings import COMPONENT
from infra.toolchain import Artifacts
from lineagelab_flink.rest import FlinkClient
from tests.bench.service_process import running_service
from tests.connect.cluster import Cluster
from tests.connect.processes import free_ports, local_site, running
from tests.flink.copied_topic import Copies, produce
from tests.flink.flink_cluster import APPLICATION, GATEWAY, JOBMANAGER, TASKMANAGER, FlinkCluster
from tests.flink.launched import Launched, ReportedLineage


@pytest.fixture(scope="package")
def ports():
    return free_ports()


@pytest.fixture(scope="package")
def broker(tmp_path_factory, ports):
    site = local_site(tmp_path_factory.mktemp("kafka"), ports, kafka.NAME)
    with running(kafka.kafka_service(site, LabSettings(kafka_heap_mib=256)), site):
        yield Cluster(str(site.address(kafka.NAME, kafka.BROKER.name)), None, None)


@pytest.fixture(scope="package")
def rules(tmp_path_factory, broker):
    """Rules file of a lineage service."""
    file = tmp_path_factory.mktemp("rules") / "rules.json"
    file.write_text(json.dumps(lineage_service_rules([broker.bootstrap], "http://127.0.0.1:1")))
    return file


@pytest.fixture(scope="package")
def service(tmp_path_factory, rules):
    with running_service(tmp_path_factory.mktemp("lineage") / "data", "--rules", rules) as started:
        yield started


@pytest.fixture(scope="package")
def flink(tmp_path_factory, ports, service):
    cluster = FlinkCluster.at(tmp_path_factory.mktemp("flink"), ports, service.url)
    with cluster.running(JOBMANAGER, TASKMANAGER, GATEWAY):
        yield cluster


@pytest.fixture
def rest(flink):
    """Client of the cluster's REST API."""
    client = FlinkClient(flink.url)
    yield client
    client.close()


@pytest.fixture(scope="package")
def planner():
    """Command that derives the column lineage of a script."""
    artifacts = Artifacts.open()
    folders = (artifacts.component(name) / "lib" for name in (COMPONENT, PLANNER_COMPONENT))
    path = ":".join(f"{folder}/*" for folder in folders)
    return shlex.join(("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, PLANNER_MAIN))


@pytest.fixture
def name(request):
    """Name for the jobs and topics of this test."""
    return re.sub(r"\W+", "_", request.node.name.removeprefix("test_")).strip("_")[:60]


@pytest.fixture
def topic(broker, name):
    """Topic with ten numbers, with an empty topic for the copies."""
    broker.topic(name, f"{name}_out")
    produce(broker, name, range(10))
    return name


@pytest.fixture
def copies(broker, topic):
    reader = Copies(broker, topic)
    yield reader
    reader.close()


@pytest.fixture
def reported(service, name):
    return ReportedLineage(service.url, name)


@pytest.fixture
def application_mode(tmp_path, ports, service):
    """Factory of the environment of launchers whose jobs have clusters of their own, with further jars."""

    def make(*jars):
        cluster = FlinkCluster.at(tmp_path / "cluster", ports, service.url, *jars)
        return {
            "FLINK_URL": "",
            "FLINK_SQL_GATEWAY_URL": "",
            **cluster.environment(),
            "FLINK_JOBMANAGER": shlex.join(cluster.command(APPLICATION)),
            "FLINK_TASKMANAGER": shlex.join(cluster.command(TASKMANAGER)),
            "FLINK_CHECKPOINTS": f"file://{tmp_path}/checkpoints",
        }

    return make


@pytest.fixture
def launcher(tmp_path, flink, service, broker):
    """Factory of launchers, which are stopped after the test."""
    made = []

    def make(*command, **environment):
        given = {
            "FLINK_URL": flink.url,
            "FLINK_JOB_ID_PREFIX": FLINK_JOB_ID_PREFIX,
            "FLINK_SQL_GATEWAY_URL": flink.gateway_url,
            "LINEAGE_URL": service.url,
            "KAFKA_BOOTSTRAP": broker.bootstrap,
            **environment,
        }
        made.append(Launched.of(tmp_path, command, given))
        return made[-1]

    yield make
    for launched in made:
        launched.close()
        print(launched.log())


@pytest.fixture
def launch(tmp_path, launcher, planner, name):
    """Factory of launchers of SQL scripts."""

    def make(sql, once=False, **environment):
        file = tmp_path / f"{name}.sql"
        file.write_text(sql)
        options = ("--once",) if once else ()
        more = {"FLINK_SQL_LINEAGE": planner, **environment}
        return launcher("lineagelab_flink.launch_sql", *options, str(file), **more)

    return make
