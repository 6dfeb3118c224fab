# SPDX-License-Identifier: Apache-2.0
"""Flink cluster, its configuration and the launchers of its jobs."""

import json
import shlex

import pytest
import yaml

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.cli.setup import required_artifacts
from infra.cli.verification import CONTRACT
from infra.errors import SettingsError
from infra.model import FlinkJob
from infra.namespaces import FLINK_JOB_ID_PREFIX, JOB_NAMESPACE, JOB_SUPPLIER_WINDOWS
from infra.services.overview import enabled_features
from infra.settings import parse_settings
from infra.user_files import UserFileError, UserFiles, read_user_files
from lineage.checks.contract import compare, load
from tests.unit.infra.test_services import FakeSite

CLUSTER = ("flink_jobmanager", "flink_taskmanager", "flink_sql_gateway")
PRELUDE = {"catalog.sql": "CREATE CATALOG lake WITH ('type' = 'iceberg');\n"}
COUNTS = "-- Counts orders.\n-- lab: service\n-- needs: topic/orders, schema_registry\n\nINSERT INTO t SELECT 1;\n"
TASK = "-- lab: task\nINSERT INTO t SELECT 1;\n"


def build(files=None, **settings):
    return build_lab(FakeSite(), LabSettings(**settings), UserFiles(flink=files or {}))


@pytest.fixture(scope="module")
def lab():
    return build(PRELUDE | {"counts.sql": COUNTS, "once.sql": TASK})


def config(part):
    return yaml.safe_load(part.files["config.yaml"])


def task(lab, name):
    return next(task for task in lab.tasks if task.name == name)


def test_all_cluster_services_have_the_same_configuration(lab):
    texts = {lab.service(name).files["config.yaml"] for name in CLUSTER}
    assert len(texts) == 1


def test_bind_and_advertised_addresses_may_differ(lab):
    settings = config(lab.service("flink_jobmanager"))
    assert settings["jobmanager.bind-host"] == settings["rest.bind-address"] == "0.0.0.0"
    assert settings["jobmanager.rpc.address"] == settings["rest.address"] == "flink_jobmanager"
    assert settings["taskmanager.host"] == "flink_taskmanager"
    assert (settings["rest.port"], settings["jobmanager.rpc.port"]) == (8084, 6123)


def test_pages_of_other_origins_cannot_read_responses():
    """Flink's default, *, lets any page in the user's browser read jar ids, session handles and results."""
    settings = config(build().service("flink_jobmanager"))
    assert settings["web.access-control-allow-origin"] == "http://flink_jobmanager:8084"


def test_default_ports_of_the_lab_are_unique():
    ports = [endpoint.port for endpoints in ENDPOINTS.values() for endpoint in endpoints]
    assert len(ports) == len(set(ports))


def test_taskmanager_memory_options_match_the_jvm_options():
    lab = build(flink_heap_mib=700).service("flink_taskmanager")
    sizes = {key: int(value.removesuffix("m")) for key, value in config(lab).items() if str(value).endswith("m")}
    heap = sum(sizes[f"taskmanager.memory.{part}.heap.size"] for part in ("task", "framework"))
    assert heap == lab.run.heap_mib == 700
    direct = sum(sizes[f"taskmanager.memory.{part}"] for part in ("task.off-heap.size", "framework.off-heap.size"))
    direct += sizes["taskmanager.memory.network.max"]
    assert f"-XX:MaxDirectMemorySize={direct}m" in lab.run.options
    assert lab.memory_mib > heap + direct


def test_checkpoints_are_retained_and_taken_at_the_configured_interval():
    settings = config(build(flink_checkpoint_every="2m").service("flink_jobmanager"))
    assert settings["execution.checkpointing.interval"] == "120s"
    assert settings["execution.checkpointing.externalized-checkpoint-retention"] == "RETAIN_ON_CANCELLATION"
    assert settings["execution.checkpointing.dir"].startswith("s3://checkpoints/")
    assert settings["s3.endpoint"] == "http://object_store:9000"


def test_listener_sends_events_and_terminal_states_to_the_lineage_service(lab):
    settings = config(lab.service("flink_sql_gateway"))
    assert settings["openlineage.transport.transport.transport.url"] == "http://lineage:5000"
    assert settings["openlineage.job.namespace"] == JOB_NAMESPACE
    assert settings["openlineage.flink.enableDetachedJobTracking"] == "true"


def test_the_cluster_leaves_jobs_of_launchers_to_them(lab):
    """Cluster and launchers have the same prefix of job ids, and the transport is on the class path."""
    for name in ("flink_jobmanager", "flink_sql_gateway"):
        service = lab.service(name)
        (text,) = service.secret_files.values()
        assert config(service)["openlineage.transport.type"] == json.loads(text)["transport"]["type"] == "launched-jobs"
        assert config(service)["openlineage.transport.jobIdPrefix"] == FLINK_JOB_ID_PREFIX
        assert "/opt/flink-lineage-transport/*" in service.run.class_path.split(":")
        assert "flink-lineage-transport" in service.run.components
    assert lab.service("supplier_windows").env["FLINK_JOB_ID_PREFIX"] == FLINK_JOB_ID_PREFIX


def test_listener_keeps_events_until_they_are_accepted(lab):
    for name in ("flink_jobmanager", "flink_sql_gateway"):
        service = lab.service(name)
        (text,) = service.secret_files.values()
        spool = json.loads(text)["transport"]["transport"]
        assert config(service)["openlineage.transport.transport.type"] == spool["type"] == "spool"
        assert spool["directory"] == f"/tmp/{name}/unsent-events"
        assert "/opt/spool-transport/*" in service.run.class_path.split(":")
        assert "spool-transport" in service.run.components


def test_cluster_configuration_contains_no_secret(lab):
    for name in CLUSTER:
        service = lab.service(name)
        listener = set() if name == "flink_taskmanager" else {"LINEAGE_API_KEY"}
        assert set(service.secrets) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} | listener
        for path, text in service.secret_files.items():
            assert path == service.env["OPENLINEAGE_CONFIG"]
            assert json.loads(text)["transport"]["transport"]["transport"]["auth"] == {
                "type": "api_key",
                "apiKey": "$LINEAGE_API_KEY",
            }
        assert not [key for key in config(service) if "key" in key.split(".")[-1] or "secret" in key]


@pytest.mark.parametrize("name", ["flink_jobmanager", "flink_sql_gateway"])
def test_rest_servers_have_the_guard_and_a_name_for_their_clients(lab, name):
    program = lab.service(name).run
    assert "/opt/rest-guard/*" in program.class_path.split(":")
    assert "rest-guard" in program.components
    assert {"rest.address", "jobmanager.rpc.address"} <= config(lab.service(name)).keys()


def test_lineage_command_uses_its_own_planner_jar(lab):
    assert (
        lab.service("flink_sql_gateway").run.class_path
        == "lib/*:planner/*:/opt/rest-guard/*:/opt/flink-lineage-transport/*:/opt/spool-transport/*"
    )
    command = shlex.split(lab.service("counts").env["FLINK_SQL_LINEAGE"])
    assert command[0] == "/usr/bin/java"
    assert command[command.index("-cp") + 1] == "/opt/flink/*:/opt/flink-sql-lineage/*"


def test_metrics_endpoints_exist_only_if_enabled(lab):
    assert "metrics.reporters" not in config(lab.service("flink_jobmanager"))
    assert "metrics" not in {endpoint.name for endpoint in lab.service("flink_taskmanager").endpoints}
    with_metrics = build(flink_metrics=True)
    assert "metrics.reporter.prometheus.port=9249" in with_metrics.service("flink_jobmanager").run.args
    assert "metrics.reporter.prometheus.port=9250" in with_metrics.service("flink_taskmanager").run.args
    assert "metrics" in {endpoint.name for endpoint in with_metrics.service("flink_taskmanager").endpoints}


def test_continuous_sql_job_is_a_launcher_service_and_a_flink_job(lab):
    launcher = lab.service("counts")
    assert launcher.run.module == "lineagelab_flink.launch_sql"
    assert launcher.run.args == ("/etc/counts/counts.sql",)
    assert launcher.files == PRELUDE | {"counts.sql": COUNTS}
    assert launcher.restart == "on_failure"
    assert {"topic/orders", "schema_registry", "flink_taskmanager", "flink_sql_gateway"} <= set(launcher.needs)
    assert launcher.env["FLINK_STATE"].startswith("/var/counts/")
    job = next(job for job in lab.resources_of(FlinkJob) if job.name == "counts")
    assert (job.key, job.needs) == ("flink_job/counts", ("counts",))


def test_bounded_sql_job_is_a_task(lab):
    assert task(lab, "once").run.args == ("/etc/once/once.sql",)
    assert "once" not in {job.name for job in lab.resources_of(FlinkJob)}


def test_supplier_windows_launcher_submits_the_built_jar(lab):
    launcher = lab.service(JOB_SUPPLIER_WINDOWS)
    assert launcher.env["FLINK_JOB_JAR"] == "/opt/supplier-windows/supplier-windows.jar"
    arguments = launcher.run.args
    assert arguments[:2] == ("--columns", "/etc/supplier_windows/columns.json")
    own = arguments[arguments.index(JOB_SUPPLIER_WINDOWS) + 1 :]
    assert dict(zip(own[::2], own[1::2], strict=True)) == {
        "--name": JOB_SUPPLIER_WINDOWS,
        "--bootstrap": "kafka:9092",
        "--registry": launcher.env["SCHEMA_REGISTRY_URL"],
        "--orders": "orders",
        "--windows": "supplier-windows",
    }
    assert {"topic/orders", "topic/supplier-windows", "subject/orders-value"} <= set(launcher.needs)
    assert f"flink_job/{JOB_SUPPLIER_WINDOWS}" in {job.key for job in lab.resources_of(FlinkJob)}


def test_live_statistics_run_the_statistics_job_on_other_tables(lab):
    live, plain = task(lab, "supplier_stats_live"), task(lab, "supplier_stats")
    source = ("--source", "lake.live.orders", "--target", "lake.live.supplier_stats")
    assert live.run.args == (*plain.run.args, *source)
    assert live.env["LINEAGE_OPEN_RUNS"] != plain.env["LINEAGE_OPEN_RUNS"]


def test_disabled_flink_removes_all_its_parts():
    keys = {part.key for part in build(PRELUDE | {"counts.sql": COUNTS}, flink=False).parts}
    flink_keys = {*CLUSTER, JOB_SUPPLIER_WINDOWS, "counts", "supplier_stats_live", "topic/supplier-windows"}
    assert not keys & flink_keys
    assert not [key for key in keys if key.startswith("flink")]


def test_contract_requires_flink_lineage_only_if_flink_is_enabled():
    assert enabled_features(LabSettings()) == {"flink", "lake"}
    assert enabled_features(LabSettings(flink=False)) == {"lake"}
    contract = load(CONTRACT.read_text())
    empty = {"version": 1, "nodes": [], "edges": [], "columns": [], "datasetColumns": [], "datasets": []}
    on, off = (set(compare(contract, empty, features).jobs) for features in ({"lake", "flink"}, {"lake"}))
    assert on - off == {
        "supplier_windows",
        "iceberg_ingestion",
        "supplier_stats.overwrite_partitions_dynamic.lake_live_supplier_stats",
    }


def test_flink_components_are_required_only_if_flink_is_enabled():
    on, off = required_artifacts(LabSettings()), required_artifacts(LabSettings(flink=False))
    assert on - off == {"flink", "flink-lineage-transport", "flink-sql-lineage", "spool-transport", "supplier-windows"}


def test_invalid_flink_settings_are_rejected():
    for key, value in (
        ("flinkSlots", "1"),
        ("flinkHeapMib", "64"),
        ("flinkCheckpointEvery", "often"),
        ("flink", "yes"),
    ):
        with pytest.raises(SettingsError, match=key):
            parse_settings({key: value}, LabSettings)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Counts.sql", COUNTS, "jobs/flink/sql/Counts.sql: the file name is the job's name"),
        ("orders_etl.sql", COUNTS, "the lab already has a part orders_etl"),
        ("a.sql", "-- lab: servise\n", "a.sql, line 1: lab: expected service or task, not 'servise'"),
        ("a.sql", "-- lab: task\n-- needs: topic/order\n", "line 2: needs: unknown part 'topic/order'; did you mean"),
        ("a.sql", "-- x\n-- lab: task\n-- memory: 1\n", "line 3: unknown key memory. Known keys: lab, needs"),
        ("a.sql", "-- lab: task\n-- and more\n", "line 2: expected `-- key: value`, not '-- and more'"),
    ],
)
def test_invalid_sql_file_is_rejected_with_the_reason(name, text, message):
    with pytest.raises(UserFileError) as error:
        build({name: text})
    assert message in str(error.value)


def test_sql_files_are_read_and_an_unreadable_one_is_named(tmp_path):
    assert read_user_files(tmp_path).flink == {}
    folder = tmp_path / "jobs/flink/sql"
    folder.mkdir(parents=True)
    (folder / "a.sql").write_text(TASK)
    (folder / "README.md").write_text("x")
    assert read_user_files(tmp_path).flink == {"a.sql": TASK}
    (folder / "b.sql").write_bytes(b"\xff\xfe")
    with pytest.raises(UserFileError, match=r"jobs/flink/sql/b\.sql cannot be read"):
        read_user_files(tmp_path)
