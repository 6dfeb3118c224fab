# SPDX-License-Identifier: Apache-2.0
"""The integrations, installed from their wheels and run outside the checkout."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from infra.toolchain import Artifacts
from tests.packages.conftest import REPOSITORY
from tests.unit.integrations.lineage_endpoint import TAKEN, answering

FLINK_FIXTURES = REPOSITORY / "tests" / "unit" / "flink" / "lineage"

BATCH_JOB = """
import os
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("plain").master("local[1]").config(map={
    "spark.ui.enabled": "false",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": "file://" + os.path.abspath("lake"),
}).getOrCreate()
spark.sql("CREATE TABLE lake.shop.orders (id STRING, price DOUBLE) USING iceberg")
spark.sql("CREATE TABLE lake.shop.totals (id STRING, total DOUBLE) USING iceberg")
frame = spark.table("lake.shop.orders").groupBy("id").sum("price").withColumnRenamed("sum(price)", "total")
frame.writeTo("lake.shop.totals").append()
spark.stop()
"""
OBSERVED_JOB = BATCH_JOB.replace(
    "frame =",
    """
from lineagelab_spark import observe
lineage = observe(spark, namespace="shop", url=os.environ["LINEAGE_URL"])
frame =""",
).replace("spark.stop()", "lineage.close()\nspark.stop()")
"""The same with two lines of the README."""

DERIVE_SQL = """
import json, pathlib, sys
from lineagelab_flink.columns import derive_lineage
planner = [sys.executable, "-c", "import sys; sys.stdin.read(); print(open('answer.json').read())"]
found = derive_lineage(pathlib.Path("orders.sql").read_text(), planner)
print(json.dumps({"inputs": found.inputs, "outputs": found.outputs}))
"""


@pytest.fixture(scope="module")
def spark_environment(build_wheel, empty_environment):
    """Environment of the Spark integration. PySpark has 400 MB: the lab's is linked instead of installed again."""
    environment = empty_environment()
    environment.install(build_wheel("integrations/common"), build_wheel("integrations/spark"))
    (installed,) = (environment.folder / "venv" / "lib").glob("python*/site-packages")
    (found,) = (Path(Artifacts.open().python("spark")).parents[1] / "lib").glob("python*/site-packages")
    for name in ("pyspark", "py4j"):
        (installed / name).symlink_to(found / name)
    return environment


@pytest.fixture(scope="module")
def flink_environment(build_wheel, empty_environment):
    environment = empty_environment()
    environment.install(build_wheel("integrations/common"), build_wheel("integrations/flink"))
    return environment


@pytest.mark.parametrize("name", ["common", "spark", "flink", "sql", "dbt", "trino", "scikit_learn"])
def test_wheel_holds_the_package_and_the_version_of_the_repository(build_wheel, name):
    root = REPOSITORY / "integrations" / name
    with zipfile.ZipFile(build_wheel(f"integrations/{name}")) as archive:
        names = archive.namelist()
    version = (REPOSITORY / "VERSION").read_text().strip()
    installed = {file for file in names if ".dist-info/" not in file}
    assert installed == {str(path.relative_to(root)) for path in (root / f"lineagelab_{name}").rglob("*.py")}
    assert f"lineage_lab_{name}-{version}.dist-info/METADATA" in names


@pytest.mark.parametrize(
    ("job", "command"),
    [
        (OBSERVED_JOB, ("python", "job.py")),
        (BATCH_JOB, ("lineagelab-spark", "--application", "plain", "--observe", "job")),
    ],
    ids=["two lines", "launcher"],
)
def test_plain_pyspark_script_reports_its_columns(spark_environment, job, command):
    (spark_environment.folder / "job.py").write_text(job)
    shutil.rmtree(spark_environment.folder / "lake", ignore_errors=True)
    jars = Artifacts.open().component("spark") / "lib"
    with answering(TAKEN) as service:
        done = spark_environment.run(
            *command,
            LINEAGE_URL=service.url,
            OPENLINEAGE_NAMESPACE="shop",
            SPARK_LOCAL_IP="127.0.0.1",
            PYSPARK_SUBMIT_ARGS=f"--driver-class-path {jars}/* pyspark-shell",
        )
        assert done.returncode == 0, done.stdout + done.stderr
        start, event = (event for event in service.taken if event["job"]["name"] != "plain")
    assert (start["eventType"], event["eventType"]) == ("START", "COMPLETE")
    assert (event["job"]["namespace"], event["job"]["name"]) == ("shop", "plain.append_data.lake_shop_totals")
    (output,) = event["outputs"]
    (source,) = output["facets"]["columnLineage"]["fields"]["total"]["inputFields"]
    assert source["name"].endswith("lake/shop/orders")
    assert (source["field"], source["transformations"][0]["subtype"]) == ("price", "AGGREGATION")


def test_spark_launcher_reports_a_failed_application(spark_environment):
    with answering(TAKEN) as service:
        done = spark_environment.run(
            *("lineagelab-spark", "--application", "broken", "no_such_module"), LINEAGE_URL=service.url
        )
        assert done.returncode == 1
        assert service.taken[-1]["eventType"] == "FAIL"
        assert service.taken[-1]["job"]["namespace"] == "default"


@pytest.mark.parametrize("command", ["lineagelab-flink-sql", "lineagelab-flink-jar", "lineagelab-flink-python"])
def test_flink_runners_print_their_usage(flink_environment, command):
    done = flink_environment.run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {command} ")


def test_flink_runner_names_a_missing_setting(flink_environment):
    done = flink_environment.run("lineagelab-flink-jar", "windows")
    assert (done.returncode, done.stderr) == (2, "cannot run windows: environment variable FLINK_JOB_JAR is not set\n")


def test_flink_columns_are_derived_from_the_planners_answer(flink_environment):
    folder = flink_environment.folder
    (folder / "orders.sql").write_text((FLINK_FIXTURES / "orders.sql").read_text())
    (folder / "answer.json").write_text((FLINK_FIXTURES / "orders.json").read_text())
    (folder / "derive.py").write_text(DERIVE_SQL)
    done = flink_environment.run("python", "derive.py")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["inputs"]
    assert all(output["facets"]["columnLineage"]["fields"] for output in found["outputs"])


@pytest.mark.slow
def test_facts_are_written_to_glue_by_the_installed_package(build_wheel, empty_environment):
    """The command of the README, against Glue as moto implements it."""
    environment = empty_environment()
    environment.install(f"{build_wheel('integrations/catalog')}[hive]", "moto[glue]")
    (environment.folder / "glue.py").write_text(GLUE)
    facts = {"namespace": "s3://lake", "name": "orders", "tables": [], "comment": "All", "properties": {"l.a": "b"}}
    (environment.folder / "facts.json").write_text(json.dumps({"version": 1, "prefix": "l.", "tables": [facts]}))
    done = environment.run(
        "python", "glue.py", AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["updated sales.orders", "1 updated", "1 unchanged", "All b"]
    wrong = environment.run("lineagelab-catalog", "--type", "hive", "--uri", "thrift://127.0.0.1:1", "facts.json")
    assert (wrong.returncode, "listing the tables" in wrong.stderr) == (2, True), wrong.stderr


GLUE = """
import boto3
from lineagelab_catalog.__main__ import main
from moto import mock_aws
with mock_aws():
    client = boto3.client("glue")
    client.create_database(DatabaseInput={"Name": "sales"})
    table = {"Name": "orders", "StorageDescriptor": {"Location": "s3a://lake/orders"}}
    client.create_table(DatabaseName="sales", TableInput=table)
    for _ in range(2):
        assert main(["--type", "glue", "facts.json"]) == 0
    found = client.get_table(DatabaseName="sales", Name="orders")["Table"]
    print(found["Description"], found["Parameters"]["l.a"])
"""


def test_the_receiver_of_trino_runs_from_its_wheel(build_wheel, empty_environment):
    environment = empty_environment()
    environment.install(*(build_wheel(f"integrations/{name}") for name in ("common", "sql", "trino")))
    variables = {"TRINO_URL": "http://127.0.0.1:1", "TRINO_NAMESPACE": "trino://trino.example.org:8080"}
    ended = environment.run("lineagelab-trino", "--data", "data", **variables)
    assert (ended.returncode, ended.stderr) == (1, "lineagelab-trino: the variable OPENLINEAGE_URL is not set\n")
