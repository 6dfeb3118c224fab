# SPDX-License-Identifier: Apache-2.0
"""Flink cluster, its configuration and the launchers of its jobs."""

import shlex

import pytest
import yaml

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.cli.setup import required_artifacts
from infra.cli.verification import CONTRACT
from infra.errors import SettingsError
from infra.model import FlinkJob
from infra.namespaces import JOB_NAMESPACE, JOB_SUPPLIER_WINDOWS
from infra.services.overview import features
from infra.settings import settings_from
from infra.user_files import UserFileError, UserFiles, read_user_files
from lineage.checks.contract import compare, load
from tests.unit.infra.test_services import ElsewhereSite

CLUSTER = ("flink_jobmanager", "flink_taskmanager", "flink_sql_gateway")
PRELUDE = {"catalog.sql": "CREATE CATALOG lake WITH ('type' = 'iceberg');\n"}
COUNTS = "-- Counts orders.\n-- lab: service\n-- needs: topic/orders, schema_registry\n\nINSERT INTO t SELECT 1;\n"
ONCE = "-- lab: task\nINSERT INTO t SELECT 1;\n"


def made(files=None, **settings):
    return build_lab(ElsewhereSite(), LabSettings(**settings), UserFiles(flink=files or {}))


@pytest.fixture(scope="module")
def found():
    return made(PRELUDE | {"counts.sql": COUNTS, "once.sql": ONCE})


def config(part):
    return yaml.safe_load(part.files["config.yaml"])


def task(found, name):
    return next(task for task in found.tasks if task.name == name)


def test_all_of_the_cluster_shares_one_configuration(found):
    texts = {found.service(name).files["config.yaml"] for name in CLUSTER}
    assert len(texts) == 1


def test_what_is_bound_and_what_others_are_told_may_differ(found):
    settings = config(found.service("flink_jobmanager"))
    assert settings["jobmanager.bind-host"] == settings["rest.bind-address"] == "0.0.0.0"
    assert settings["jobmanager.rpc.address"] == settings["rest.address"] == "flink_jobmanager"
    assert settings["taskmanager.host"] == "flink_taskmanager"
    assert (settings["rest.port"], settings["jobmanager.rpc.port"]) == (8084, 6123)


def test_no_two_endpoints_of_the_lab_have_one_port():
    ports = [endpoint.port for endpoints in ENDPOINTS.values() for endpoint in endpoints]
    assert len(ports) == len(set(ports))


def test_the_task_manager_s_memory_is_what_its_jvm_is_given():
    found = made(flink_heap_mib=700).service("flink_taskmanager")
    sizes = {key: int(value.removesuffix("m")) for key, value in config(found).items() if str(value).endswith("m")}
    heap = sum(sizes[f"taskmanager.memory.{part}.heap.size"] for part in ("task", "framework"))
    assert heap == found.run.heap_mib == 700
    direct = sum(sizes[f"taskmanager.memory.{part}"] for part in ("task.off-heap.size", "framework.off-heap.size"))
    direct += sizes["taskmanager.memory.network.max"]
    assert f"-XX:MaxDirectMemorySize={direct}m" in found.run.options
    assert found.memory_mib > heap + direct


def test_checkpoints_outlive_their_job_and_are_made_as_often_as_the_settings_say():
    settings = config(made(flink_checkpoint_every="2m").service("flink_jobmanager"))
    assert settings["execution.checkpointing.interval"] == "120s"
    assert settings["execution.checkpointing.externalized-checkpoint-retention"] == "RETAIN_ON_CANCELLATION"
    assert settings["execution.checkpointing.dir"].startswith("s3://checkpoints/")
    assert settings["s3.endpoint"] == "http://object_store:9000"


def test_the_listener_speaks_to_the_lineage_service_and_says_how_jobs_end(found):
    settings = config(found.service("flink_sql_gateway"))
    assert settings["openlineage.transport.url"] == "http://lineage:5000"
    assert settings["openlineage.job.namespace"] == JOB_NAMESPACE
    assert settings["openlineage.flink.enableDetachedJobTracking"] == "true"


def test_no_file_and_no_argument_holds_a_secret(found):
    for name in CLUSTER:
        service = found.service(name)
        assert set(service.secrets) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
        assert not [key for key in config(service) if "key" in key.split(".")[-1] or "secret" in key]


def test_the_planner_of_the_cluster_is_apart_so_that_another_may_stand_in_its_place(found):
    assert found.service("flink_sql_gateway").run.class_path == "lib/*:planner/*"
    command = shlex.split(found.service("counts").env["FLINK_SQL_LINEAGE"])
    assert command[0] == "/usr/bin/java"
    assert command[command.index("-cp") + 1] == "/opt/flink/*:/opt/flink-sql-lineage/*"


def test_metrics_are_served_when_they_are_asked_for_and_on_a_port_of_each(found):
    assert "metrics.reporters" not in config(found.service("flink_jobmanager"))
    assert "metrics" not in {endpoint.name for endpoint in found.service("flink_taskmanager").endpoints}
    asked = made(flink_metrics=True)
    assert "metrics.reporter.prometheus.port=9249" in asked.service("flink_jobmanager").run.args
    assert "metrics.reporter.prometheus.port=9250" in asked.service("flink_taskmanager").run.args
    assert "metrics" in {endpoint.name for endpoint in asked.service("flink_taskmanager").endpoints}


def test_a_job_is_its_launcher_and_what_that_keeps_running(found):
    launcher = found.service("counts")
    assert launcher.run.module == "lineagelab_flink.launch_sql"
    assert launcher.run.args == ("/etc/counts/counts.sql",)
    assert launcher.files == PRELUDE | {"counts.sql": COUNTS}
    assert launcher.restart == "on_failure"
    assert {"topic/orders", "schema_registry", "flink_taskmanager", "flink_sql_gateway"} <= set(launcher.needs)
    assert launcher.env["FLINK_STATE"].startswith("/var/counts/")
    job = next(job for job in found.resources_of(FlinkJob) if job.name == "counts")
    assert (job.key, job.needs) == ("flink_job/counts", ("counts",))


def test_a_job_that_ends_is_a_task_that_nobody_keeps_running(found):
    assert task(found, "once").run.args == ("/etc/once/once.sql",)
    assert "once" not in {job.name for job in found.resources_of(FlinkJob)}


def test_the_windows_are_submitted_with_the_jar_that_was_built_here(found):
    launcher = found.service(JOB_SUPPLIER_WINDOWS)
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
    assert f"flink_job/{JOB_SUPPLIER_WINDOWS}" in {job.key for job in found.resources_of(FlinkJob)}


def test_the_statistics_of_what_flink_wrote_are_the_same_job_on_other_tables(found):
    live, plain = task(found, "supplier_stats_live"), task(found, "supplier_stats")
    source = ("--source", "lake.live.orders", "--target", "lake.live.supplier_stats")
    assert live.run.args == (*plain.run.args, *source)
    assert live.env["LINEAGE_OPEN_RUNS"] != plain.env["LINEAGE_OPEN_RUNS"]


def test_without_flink_nothing_of_it_is_there():
    keys = {part.key for part in made(PRELUDE | {"counts.sql": COUNTS}, flink=False).parts}
    gone = {*CLUSTER, JOB_SUPPLIER_WINDOWS, "counts", "supplier_stats_live", "topic/supplier-windows"}
    assert not keys & gone
    assert not [key for key in keys if key.startswith("flink")]


def test_the_contract_asks_for_flink_s_lineage_where_flink_is_on():
    assert features(LabSettings()) == {"flink", "lake"}
    assert features(LabSettings(flink=False)) == {"lake"}
    contract = load(CONTRACT.read_text())
    empty = {"version": 1, "nodes": [], "edges": [], "columns": [], "datasetColumns": [], "datasets": []}
    on, off = (set(compare(contract, empty, features).jobs) for features in ({"lake", "flink"}, {"lake"}))
    assert on - off == {
        "supplier_windows",
        "iceberg_ingestion",
        "supplier_stats.overwrite_partitions_dynamic.lake_live_supplier_stats",
    }


def test_what_flink_needs_is_set_up_with_it():
    on, off = required_artifacts(LabSettings()), required_artifacts(LabSettings(flink=False))
    assert on - off == {"flink", "flink-sql-lineage", "supplier-windows"}


def test_a_setting_that_flink_could_not_work_with_is_refused():
    for key, value in (
        ("flinkSlots", "1"),
        ("flinkHeapMib", "64"),
        ("flinkCheckpointEvery", "often"),
        ("flink", "yes"),
    ):
        with pytest.raises(SettingsError, match=key):
            settings_from({key: value}, LabSettings)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("Counts.sql", COUNTS, "jobs/flink/sql/Counts.sql: the file name is the job's name"),
        ("orders_etl.sql", COUNTS, "the lab already has a part orders_etl"),
        ("a.sql", "-- lab: servise\n", "a.sql, line 1: lab: expected service or task, not 'servise'"),
        ("a.sql", "-- lab: task\n-- needs: topic/order\n", "line 2: needs: unknown part 'topic/order'; did you mean"),
        ("a.sql", "-- x\n-- lab: task\n-- memory: 1\n", "line 3: unknown key memory. Known keys: lab, needs"),
        ("a.sql", "-- lab: task\n-- and more\n", "line 2: expected `-- key: value`, not '-- and more'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_reason(name, text, why):
    with pytest.raises(UserFileError) as refused:
        made({name: text})
    assert why in str(refused.value)


def test_files_are_read_from_the_folder_and_a_broken_one_is_named(tmp_path):
    assert read_user_files(tmp_path).flink == {}
    folder = tmp_path / "jobs/flink/sql"
    folder.mkdir(parents=True)
    (folder / "a.sql").write_text(ONCE)
    (folder / "README.md").write_text("x")
    assert read_user_files(tmp_path).flink == {"a.sql": ONCE}
    (folder / "b.sql").write_bytes(b"\xff\xfe")
    with pytest.raises(UserFileError, match=r"jobs/flink/sql/b\.sql cannot be read"):
        read_user_files(tmp_path)
