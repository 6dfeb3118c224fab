# SPDX-License-Identifier: Apache-2.0
"""Schema registry, Connect worker and Iceberg catalog as the lab runs them: responses, and recovery from a kill."""

import signal
import time
import warnings

import httpx
import psutil
import psycopg
import pytest

from infra import credentials
from infra.services import schema_registry
from infra.services.connect import worker as connect
from infra.toolchain import Artifacts
from tests.stack.partial_lab import PartialLab

NEEDED = ("postgres", "kafka", "connect", "apicurio-registry", "iceberg-rest-catalog", *connect.PLUGINS)
pytestmark = [
    pytest.mark.stack,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(Artifacts.open().has(name) for name in NEEDED), reason="not set up: bin/lab setup --tests"
    ),
]
JSON = {"Content-Type": "application/vnd.schemaregistry.v1+json"}


@pytest.fixture(scope="module")
def part(tmp_path_factory, free_offset):
    """Provide the three services with all their dependencies."""
    keys = ["connect", "schema_registry", "iceberg_catalog", "bucket/warehouse"]
    with PartialLab(tmp_path_factory.mktemp("capture") / "one", free_offset + 50, keys).running() as running:
        yield running


@pytest.fixture
def registry(part):
    with httpx.Client(base_url=f"http://{part.address(8081)}{schema_registry.CONFLUENT_API}", trust_env=False) as http:
        yield http


@pytest.fixture
def worker(part):
    with httpx.Client(base_url=f"http://{part.address(8083)}", trust_env=False, timeout=30) as http:
        yield http


@pytest.fixture
def catalog(part):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of pyiceberg's imports
        from pyiceberg.catalog import load_catalog
    loaded = load_catalog(
        "lake",
        uri=f"http://{part.address(8181)}",
        **{
            "s3.endpoint": f"http://{part.address(9000)}",
            "s3.access-key-id": part.secret(credentials.S3_ACCESS_KEY),
            "s3.secret-access-key": part.secret(credentials.S3_SECRET_KEY),
            "s3.region": credentials.S3_REGION,
        },
    )
    yield loaded
    loaded._session.close()


def kill(part, service):
    """Kill a service and wait until supervisord has restarted it and its probe succeeds."""
    before = part.supervisor.require_state(service).pid
    psutil.Process(before).send_signal(signal.SIGKILL)
    probe = part.resources[service].inputs.probe
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        pid = part.supervisor.require_state(service).pid
        if pid not in {0, before} and responds(probe):
            return
        time.sleep(0.1)
    raise AssertionError(f"{service} was not restarted")


def responds(probe):
    if not probe.path:
        return True
    try:
        return httpx.get(f"http://{probe.host}:{probe.port}{probe.path}", trust_env=False, timeout=5).is_success
    except httpx.HTTPError:
        return False


def schema(**fields):
    """Return an Avro record schema with fields of these types; a list of null and a type is optional."""
    described = [
        f'{{"name": "{name}", "type": ["null", "{kind[1]}"], "default": null}}'
        if isinstance(kind, list)
        else f'{{"name": "{name}", "type": "{kind}"}}'
        for name, kind in fields.items()
    ]
    return {"schema": f'{{"type": "record", "name": "Order", "fields": [{", ".join(described)}]}}'}


def test_worker_lists_every_plugin(worker):
    plugins = {plugin["class"] for plugin in worker.get("/connector-plugins?connectorsOnly=false").json()}
    assert {
        "io.debezium.connector.postgresql.PostgresConnector",
        "io.debezium.transforms.ExtractNewRecordState",
        "org.apache.iceberg.connect.IcebergSinkConnector",
        "dev.lineagelab.archive.S3ArchiveSinkConnector",
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "org.apache.kafka.connect.transforms.RegexRouter",
        schema_registry.CONVERTER,
    } <= plugins


def test_incompatible_schema_is_rejected_with_the_field_name(registry):
    path = "/subjects/refused-value/versions"
    assert registry.get("/config").json() == {"compatibilityLevel": "BACKWARD"}
    assert registry.post(path, json=schema(id="string", price="string"), headers=JSON).is_success
    refused = registry.post(path, json=schema(id="string", price="string", currency="string"), headers=JSON)
    assert refused.status_code == 409
    assert "currency" in refused.text
    assert registry.post(
        path, json=schema(id="string", price="string", currency=["null", "string"]), headers=JSON
    ).is_success
    assert registry.get(path).json() == [1, 2]


def test_schema_survives_an_immediate_kill_of_the_registry(part, registry):
    path = "/subjects/killed-value/versions"
    number = registry.post(path, json=schema(id="string"), headers=JSON).json()["id"]
    kill(part, "schema_registry")
    assert registry.get(path).json() == [1]
    assert registry.get(f"{path}/1").json()["id"] == number
    assert registry.post("/subjects/next-value/versions", json=schema(no="long"), headers=JSON).json()["id"] != number


def test_table_survives_a_kill_of_catalog_and_database(part, catalog):
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    catalog.create_namespace("kept")
    made = catalog.create_table("kept.t", Schema(NestedField(1, "id", LongType())))
    kill(part, "iceberg_catalog")
    assert catalog.load_table("kept.t").metadata.table_uuid == made.metadata.table_uuid
    kill(part, "postgres")
    await_recovery(part)
    assert catalog.list_tables("kept") == [("kept", "t")]  # the pooled connections are stale
    catalog.drop_table("kept.t")
    assert catalog.list_tables("kept") == []


def await_recovery(part):
    """Wait until Postgres has completed crash recovery."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            psycopg.connect(
                host="127.0.0.1",
                port=5432 + part.offset,
                user="postgres",
                dbname="catalog",
                password=part.secret(credentials.POSTGRES_PASSWORD),
            ).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("Postgres did not complete crash recovery")


def test_connector_resolves_lab_credentials_only_and_exposes_no_secret(part, worker, tmp_path):
    def source(file):
        config = {
            "connector.class": "FileStreamSource",
            "topic": "lines",
            "file": file,
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        }
        made = worker.put("/connectors/lines/config", json=config)
        assert made.is_success, made.text
        return made.json()["config"]["file"]

    reference = connect.secret(credentials.S3_SECRET_KEY)
    name = part.secret(credentials.S3_SECRET_KEY)
    (tmp_path / name).write_text("")
    assert source(f"{tmp_path}/{reference}") == f"{tmp_path}/{reference}"
    assert task_state(worker) == "RUNNING"
    opened = {file.path for process in worker_processes(part) for file in process.open_files()}
    assert f"{tmp_path}/{name}" in opened
    assert name not in worker.get("/connectors?expand=info&expand=status").text
    assert name not in part.supervisor.log_path("connect").read_text()
    assert worker.delete("/connectors/lines").is_success

    refused = worker.put(
        "/connector-plugins/FileStreamSource/config/validate",
        json={"connector.class": "FileStreamSource", "topic": "lines", "file": "${env:HOME}", "name": "lines"},
    )
    assert str(tmp_path.home()) not in refused.text


def worker_processes(part):
    return [psutil.Process(part.supervisor.require_state("connect").pid)]


def task_state(worker):
    deadline = time.monotonic() + 120
    state = "none"
    while time.monotonic() < deadline:
        status = worker.get("/connectors/lines/status")
        tasks = status.json()["tasks"] if status.is_success else []
        state = tasks[0]["state"] if tasks else "none"
        if state in {"RUNNING", "FAILED"}:
            return state
        time.sleep(0.1)
    return state


def test_killed_worker_is_restarted_with_its_connectors(part, worker, tmp_path):
    (tmp_path / "lines.txt").write_text("one\n")
    config = {"connector.class": "FileStreamSource", "topic": "lines", "file": str(tmp_path / "lines.txt")}
    assert worker.put("/connectors/lines/config", json=config).is_success
    kill(part, "connect")
    assert worker.get("/connectors").json() == ["lines"]
    assert worker.delete("/connectors/lines").is_success


def test_services_listen_only_on_loopback(part):
    for service in ("connect", "schema_registry", "iceberg_catalog"):
        process = psutil.Process(part.supervisor.require_state(service).pid)
        hosts = {c.laddr.ip for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
        assert hosts <= {"127.0.0.1", "::ffff:127.0.0.1"}, service


def test_second_up_changes_nothing(part):
    second = part.up()
    assert second.status == 0, second.text
    assert "unchanged" in second.text
    assert not any(word in second.text for word in (" created", " updated", " replaced"))
