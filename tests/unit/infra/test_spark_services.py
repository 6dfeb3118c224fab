# SPDX-License-Identifier: Apache-2.0
"""Definitions of Spark drivers, cluster and history server."""

import pytest

from infra.catalog import LabSettings, build_lab, check_settings
from infra.errors import SettingsError
from infra.services.overview import enabled_features
from lineage.settings import parse_arguments
from tests.unit.infra.test_services import FakeSite

QUICK = "-XX:TieredStopAtLevel=1"


def build(**settings):
    return build_lab(FakeSite(), LabSettings(**settings))


def task(lab, name):
    return next(task for task in lab.tasks if task.name == name)


def properties(part):
    return dict(line.split("=", 1) for line in part.files["spark.properties"].splitlines())


@pytest.fixture(scope="module")
def plain():
    return build()


@pytest.fixture(scope="module")
def cluster():
    return build(spark="cluster", spark_history=True, spark_worker_cores=4)


def test_etl_settings_are_passed_as_variables():
    env = build(etl_trigger="2m", etl_max_records=7, etl_late_after="30s").service("orders_etl").env
    assert env["ORDERS_ETL_TRIGGER"] == "120 seconds"
    assert (env["ORDERS_ETL_MAX_RECORDS"], env["ORDERS_ETL_LATE_AFTER"]) == ("7", "30")
    assert env["CHECKPOINTS"] == "s3a://checkpoints"


def test_streaming_drivers_use_the_optimising_compiler(plain):
    etl, stats = properties(plain.service("orders_etl")), properties(task(plain, "supplier_stats"))
    assert QUICK not in etl["spark.driver.defaultJavaOptions"]
    assert "-XX:Tier4InvocationThreshold=" in etl["spark.driver.defaultJavaOptions"]
    assert QUICK in stats["spark.driver.defaultJavaOptions"]


def test_drivers_of_the_lab_have_no_agent_and_batch_jobs_are_observed(plain):
    drivers = {name: plain.service(name) for name in ("orders_etl",)} | {
        "supplier_stats": task(plain, "supplier_stats")
    }
    assert [name for name, driver in drivers.items() if "spark.extraListeners" in properties(driver)] == []
    assert [name for name, driver in drivers.items() if "--observe" in driver.run.args] == ["supplier_stats"]


@pytest.mark.parametrize(
    ("master", "streaming"),
    [
        ("", "local[1]"),
        ("local[2]", "local[1]"),
        ("local[1]", "local[1]"),
        ("local[8,3]", "local[7,3]"),
        ("local[*]", "local[*]"),
        ("local", "local"),
    ],
)
def test_streaming_driver_uses_one_core_less(master, streaming):
    lab = build(spark_master=master)
    assert properties(lab.service("orders_etl"))["spark.master"] == streaming
    assert properties(task(lab, "supplier_stats"))["spark.master"] == (master or "local[2]")


def test_s3a_reads_credentials_from_the_environment(plain):
    settings = properties(plain.service("orders_etl"))
    assert settings["spark.hadoop.fs.s3a.aws.credentials.provider"].endswith("EnvironmentVariableCredentialsProvider")
    assert not [name for name in settings if "access" in name.rpartition(".s3a.")[2] and "key" in name]


def test_cluster_limits_streaming_cores_and_shares_the_class_path_with_executors(cluster):
    etl, stats = properties(cluster.service("orders_etl")), properties(task(cluster, "supplier_stats"))
    assert (etl["spark.master"], etl["spark.cores.max"]) == ("spark://spark_master:7077", "1")
    assert (stats["spark.master"], stats.get("spark.cores.max")) == ("spark://spark_master:7077", None)
    submit = cluster.service("orders_etl").env["PYSPARK_SUBMIT_ARGS"]
    assert f"--driver-class-path {etl['spark.executor.extraClassPath']} " in submit
    assert "-XX:+UseSerialGC" in etl["spark.executor.defaultJavaOptions"]
    assert cluster.service("orders_etl").env["CLASS_DATA"] == "/opt/spark.jsa"
    assert "spark_worker" in cluster.service("orders_etl").needs


def test_configured_master_url_replaces_the_cluster():
    lab = build(spark="cluster", spark_master="spark://far:7077")
    assert not {"spark_master", "spark_worker"} & {service.name for service in lab.services}
    assert properties(lab.service("orders_etl"))["spark.master"] == "spark://far:7077"


@pytest.mark.parametrize(("target", "spark"), [("kubernetes", "cluster"), ("docker", "kubernetes")])
def test_executors_that_the_target_cannot_run_are_refused(target, spark):
    with pytest.raises(SettingsError, match=f"lineage-lab:spark is {spark}, and the lab's target is {target}"):
        check_settings(LabSettings(target=target, spark=spark))


def test_master_persists_its_state_and_worker_has_credentials(cluster):
    master, worker = cluster.service("spark_master"), cluster.service("spark_worker")
    options = master.env["SPARK_DAEMON_JAVA_OPTS"]
    assert "-Dspark.deploy.recoveryMode=FILESYSTEM" in options
    assert "-Dspark.deploy.recoveryDirectory=/var/spark_master/recovery" in options
    assert worker.run.args[-1] == "spark://spark_master:7077"
    assert worker.run.args[worker.run.args.index("--cores") + 1] == "4"
    assert {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} == worker.secrets.keys()
    assert worker.env["SPARK_CONF_DIR"] == cluster.service("orders_etl").env["SPARK_CONF_DIR"]


def test_event_logs_are_written_by_batch_jobs_if_the_history_server_is_enabled(cluster, plain):
    assert properties(task(cluster, "supplier_stats"))["spark.eventLog.dir"] == "s3a://spark-events/"
    assert "bucket/spark-events" in task(cluster, "supplier_stats").needs
    assert "spark.eventLog.enabled" not in properties(cluster.service("orders_etl"))
    assert "spark.eventLog.enabled" not in properties(task(plain, "supplier_stats"))
    assert "bucket/spark-events" not in {part.key for part in plain.parts}
    options = cluster.service("spark_history").env["SPARK_DAEMON_JAVA_OPTS"]
    assert "-Dspark.history.fs.logDirectory=s3a://spark-events/" in options
    assert "-Dspark.hadoop.fs.s3a.path.style.access=true" in options


def test_maintenance_is_a_task_and_a_periodic_service():
    lab = build(maintenance_every="30m")
    timer = lab.service("maintenance")
    assert timer.run.module == "lineagelab_spark.launch_every"
    assert timer.run.args == ("1800", "jobs.spark.lake_maintenance")
    assert task(lab, "lake_maintenance").run.args == ("jobs.spark.lake_maintenance",)
    assert "LINEAGE_URL" not in timer.env
    never = build(maintenance_every="")
    assert "maintenance" not in {service.name for service in never.services}
    assert task(never, "lake_maintenance")


def test_medallion_jobs_are_optional(plain):
    names = {"enriched_orders", "enriched_orders_backfill", "supplier_activity"}
    assert not names & {part.name for part in (*plain.services, *plain.tasks)}

    lab = build(medallion=True)
    assert lab.service("supplier_activity").run.args[-1] == "jobs.spark.supplier_activity"
    assert "connector/orders_lake" in task(lab, "enriched_orders").needs
    assert task(lab, "enriched_orders_backfill").run.args[-2:] == ("jobs.spark.enriched_orders", "--all")
    assert enabled_features(LabSettings(medallion=True)) == {"flink", "lake", "medallion"}
    assert enabled_features(LabSettings(medallion=True, profile="connect")) == frozenset()


def test_forecast_is_optional(plain):
    names = {"supplier_features", "price_forecast_training"}
    assert not names & {part.name for part in (*plain.services, *plain.tasks)}

    lab = build(forecast=True)
    assert task(lab, "supplier_features").run.args[-1] == "jobs.spark.supplier_features"
    training = task(lab, "price_forecast_training")
    assert training.run.environment == "models"
    assert "bucket/models" in training.needs
    assert "bucket/models" in {resource.key for resource in lab.resources}
    assert enabled_features(LabSettings(forecast=True)) == {"flink", "lake", "forecast"}
    assert enabled_features(LabSettings(forecast=True, profile="connect")) == frozenset()


def test_the_lineage_history_is_optional(plain):
    """The sink's lineage is off: its events would be stored by itself."""
    assert "--publish-topic" not in plain.service("lineage").run.args
    assert "lineage_history" not in {part.name for part in plain.tasks}

    lab = build(lineage_history=True)
    arguments = lab.service("lineage").run.args
    assert arguments[arguments.index("--publish-topic") + 1] == "lineage-events"
    resources = {resource.key: resource for resource in lab.resources}
    sink = resources["connector/lineage_events_lake"].config
    assert (sink["topics"], sink["iceberg.tables"]) == ("lineage-events", "lineage.events")
    assert (sink["transforms"], sink["transforms.lineage.enabled"]) == ("lineage", "false")
    topic = resources["topic/lineage-events"]
    assert (topic.partitions, topic.config["retention.ms"]) == (1, "-1")
    largest = parse_arguments(["--data", "data"]).max_event_bytes
    assert int(topic.config["max.message.bytes"]) > 2 * largest
    assert "connector/lineage_events_lake" in task(lab, "lineage_history").needs
    assert "--publish-topic" not in build(lineage_history=True, profile="connect").service("lineage").run.args


def test_days_of_the_backfill_are_arguments():
    backfill = task(build(medallion=True, backfill_days="2026-11-23,2026-11-24"), "enriched_orders_backfill")
    assert backfill.run.args[-4:] == ("--day", "2026-11-23", "--day", "2026-11-24")
    with pytest.raises(ValueError, match="backfill"):
        LabSettings(backfill_days="yesterday")


def test_each_driver_has_its_own_file_of_open_runs(plain):
    places = [part.env["LINEAGE_OPEN_RUNS"] for part in (*plain.services, *plain.tasks) if "CLASS_DATA" in part.env]
    assert len(places) == len(set(places)) == 5


def test_foreign_cluster_reaches_the_driver():
    lab = build(spark_master="spark://far:7077", spark_driver_host="lab.example.org")
    found = properties(lab.service("orders_etl"))
    assert (found["spark.driver.host"], found["spark.driver.bindAddress"]) == ("lab.example.org", "0.0.0.0")


def test_properties_of_the_user_override_those_of_the_lab():
    lab = build(spark_conf="spark.dynamicAllocation.enabled=true; spark.sql.shuffle.partitions=8;spark.a=b=c,d")
    for part in (lab.service("orders_etl"), task(lab, "supplier_stats")):
        found = properties(part)
        assert found["spark.dynamicAllocation.enabled"] == "true"
        assert (found["spark.sql.shuffle.partitions"], found["spark.a"]) == ("8", "b=c,d")


@pytest.mark.parametrize(
    ("conf", "problem"),
    [
        ("spark.a", "'spark.a' is not spark.KEY=VALUE"),
        ("hive.a=1", "'hive.a=1' is not spark.KEY=VALUE"),
        ("spark.a=1;spark.a=2", "spark.a is given twice"),
        ("spark.master=yarn", "spark.master is set by lineage-lab:sparkMaster"),
    ],
)
def test_invalid_properties_of_the_user_are_refused(conf, problem):
    with pytest.raises(ValueError, match=problem):
        LabSettings(spark_conf=conf)
