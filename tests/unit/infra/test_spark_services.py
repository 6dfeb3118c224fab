# SPDX-License-Identifier: Apache-2.0
"""Spark's drivers, cluster and history server as data."""

import pytest

from infra.catalog import LabSettings, build_lab
from tests.unit.infra.test_services import ElsewhereSite

QUICK = "-XX:TieredStopAtLevel=1"


def made(**settings):
    return build_lab(ElsewhereSite(), LabSettings(**settings))


def task(found, name):
    return next(task for task in found.tasks if task.name == name)


def properties(part):
    return dict(line.split("=", 1) for line in part.files["spark.properties"].splitlines())


@pytest.fixture(scope="module")
def plain():
    return made()


@pytest.fixture(scope="module")
def cluster():
    return made(spark="cluster", spark_history=True, spark_worker_cores=4)


def test_the_etl_is_told_what_the_settings_say():
    env = made(etl_trigger="2m", etl_max_records=7, etl_late_after="30s").service("orders_etl").env
    assert env["ORDERS_ETL_TRIGGER"] == "120 seconds"
    assert (env["ORDERS_ETL_MAX_RECORDS"], env["ORDERS_ETL_LATE_AFTER"]) == ("7", "30")
    assert env["CHECKPOINTS"] == "s3a://checkpoints"


def test_streaming_drivers_speak_for_themselves_and_keep_the_optimising_compiler_for_later(plain):
    etl, stats = properties(plain.service("orders_etl")), properties(task(plain, "supplier_stats"))
    assert "spark.extraListeners" not in etl
    assert "spark.extraListeners" in stats
    assert QUICK not in etl["spark.driver.defaultJavaOptions"]
    assert "-XX:Tier4InvocationThreshold=" in etl["spark.driver.defaultJavaOptions"]
    assert QUICK in stats["spark.driver.defaultJavaOptions"]


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
def test_a_streaming_driver_leaves_a_core_to_others(master, streaming):
    found = made(spark_master=master)
    assert properties(found.service("orders_etl"))["spark.master"] == streaming
    assert properties(task(found, "supplier_stats"))["spark.master"] == (master or "local[2]")


def test_s3a_takes_its_keys_from_the_environment_alone(plain):
    settings = properties(plain.service("orders_etl"))
    assert settings["spark.hadoop.fs.s3a.aws.credentials.provider"].endswith("EnvironmentVariableCredentialsProvider")
    assert not [name for name in settings if "access" in name.rpartition(".s3a.")[2] and "key" in name]


def test_on_a_cluster_a_streaming_driver_takes_one_core_and_executors_the_drivers_class_path(cluster):
    etl, stats = properties(cluster.service("orders_etl")), properties(task(cluster, "supplier_stats"))
    assert (etl["spark.master"], etl["spark.cores.max"]) == ("spark://spark_master:7077", "1")
    assert (stats["spark.master"], stats.get("spark.cores.max")) == ("spark://spark_master:7077", None)
    submit = cluster.service("orders_etl").env["PYSPARK_SUBMIT_ARGS"]
    assert f"--driver-class-path {etl['spark.executor.extraClassPath']} " in submit
    assert "-XX:+UseSerialGC" in etl["spark.executor.defaultJavaOptions"]
    assert cluster.service("orders_etl").env["CLASS_DATA"] == "/opt/spark.jsa"
    assert "spark_worker" in cluster.service("orders_etl").needs


def test_a_master_that_the_user_names_wins():
    found = made(spark="cluster", spark_master="spark://far:7077")
    assert not {"spark_master", "spark_worker"} & {service.name for service in found.services}
    assert properties(found.service("orders_etl"))["spark.master"] == "spark://far:7077"


def test_the_master_remembers_and_the_worker_has_what_executors_need(cluster):
    master, worker = cluster.service("spark_master"), cluster.service("spark_worker")
    options = master.env["SPARK_DAEMON_JAVA_OPTS"]
    assert "-Dspark.deploy.recoveryMode=FILESYSTEM" in options
    assert "-Dspark.deploy.recoveryDirectory=/var/spark_master/recovery" in options
    assert worker.run.args[-1] == "spark://spark_master:7077"
    assert worker.run.args[worker.run.args.index("--cores") + 1] == "4"
    assert {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} == worker.secrets.keys()
    assert worker.env["SPARK_CONF_DIR"] == cluster.service("orders_etl").env["SPARK_CONF_DIR"]


def test_only_batch_jobs_write_event_logs_and_only_where_somebody_shows_them(cluster, plain):
    assert properties(task(cluster, "supplier_stats"))["spark.eventLog.dir"] == "s3a://spark-events/"
    assert "bucket/spark-events" in task(cluster, "supplier_stats").needs
    assert "spark.eventLog.enabled" not in properties(cluster.service("orders_etl"))
    assert "spark.eventLog.enabled" not in properties(task(plain, "supplier_stats"))
    assert "bucket/spark-events" not in {part.key for part in plain.parts}
    options = cluster.service("spark_history").env["SPARK_DAEMON_JAVA_OPTS"]
    assert "-Dspark.history.fs.logDirectory=s3a://spark-events/" in options
    assert "-Dspark.hadoop.fs.s3a.path.style.access=true" in options


def test_maintenance_is_run_by_hand_and_from_time_to_time():
    found = made(maintenance_every="30m")
    timer = found.service("maintenance")
    assert timer.run.module == "lineagelab_spark.launch_every"
    assert timer.run.args == ("1800", "jobs.spark.lake_maintenance")
    assert task(found, "lake_maintenance").run.args == ("jobs.spark.lake_maintenance",)
    assert "LINEAGE_URL" not in timer.env
    never = made(maintenance_every="")
    assert "maintenance" not in {service.name for service in never.services}
    assert task(never, "lake_maintenance")


def test_each_driver_has_files_and_scratch_of_its_own(plain):
    places = [part.env["LINEAGE_OPEN_RUNS"] for part in (*plain.services, *plain.tasks) if "CLASS_DATA" in part.env]
    assert len(places) == len(set(places)) == 5
