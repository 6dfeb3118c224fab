# SPDX-License-Identifier: Apache-2.0
"""The Spark integration from its wheels, in a user's own drivers, with each supported release of PySpark.

The drivers of `drivers/` are copied out of the checkout and configured by OpenLineage's variables only. Spark Connect
runs with a real server.
"""

import os
import shutil
import sys

import pytest

from infra.toolchain import Artifacts, venvs
from infra.toolchain.cache import Cache
from infra.toolchain.manifest import MANIFEST_FILE
from infra.toolchain.pins import DELTA_LAKE, OTHER_DELTA_LAKES
from infra.toolchain.process import Runner
from infra.toolchain.progress import PlainProgress
from tests.packages.conftest import REPOSITORY
from tests.unit.integrations.lineage_endpoint import TAKEN, answering

pytestmark = pytest.mark.slow

DRIVERS = REPOSITORY / "tests" / "packages" / "drivers"
RELEASES = {"4.1": venvs.SPARK, **{each.name.partition("-")[2]: each for each in venvs.OTHER_SPARKS}}

BATCH = {
    "orders": {"id": set(), "supplier": set(), "price": set()},
    "suppliers": {"supplier": set(), "name": set()},
    "totals": {
        "name": {"suppliers.name IDENTITY"},
        "total": {"orders.price AGGREGATION"},
        "dearest": {"orders.id AGGREGATION", "orders.price SORT"},
        "place": {"orders.price WINDOW"},
        "": {"orders.id FILTER", "orders.supplier JOIN", "suppliers.supplier JOIN", "suppliers.name GROUP_BY"},
    },
    "net": {
        "id": {"orders.id IDENTITY"},
        "supplier": {"orders.supplier IDENTITY"},
        "net": {"orders.price CONDITIONAL", "orders.price TRANSFORMATION"},
    },
    "codes": {"code": {"orders.supplier TRANSFORMATION", "suppliers.name IDENTITY"}},
}
"""Output -> column (empty: the rows) -> input columns and transformations, of the last event of each job."""

TABLES = {
    "orders": {"id": set(), "price": set()},
    "more": {"id": {"orders.id IDENTITY"}, "more": {"orders.price TRANSFORMATION"}},
    "copies": {"id": {"more.id IDENTITY"}, "twice": {"more.more IDENTITY"}},
    "totals": {
        "id": {"more.id IDENTITY"},
        "total": {"more.more TRANSFORMATION"},
        "": {"more.id FILTER", "more.id JOIN"},
    },
    "hive_orders": {"id": {"orders.id IDENTITY"}, "price": {"orders.price IDENTITY"}},
    "hive_totals": {
        "id": {"hive_orders.id IDENTITY"},
        "twice": {"hive_orders.price TRANSFORMATION"},
        "": {"hive_orders.id FILTER"},
    },
    "exported": {"twice": {"hive_totals.twice IDENTITY"}},
}
"""The same of the driver with tables of Delta Lake and Hive."""

STREAMS = {
    "gross": {
        "id": {"stream_orders.id IDENTITY"},
        "gross": {"stream_orders.price TRANSFORMATION"},
        "": {"stream_orders.id FILTER"},
    },
    "by_supplier": {
        "supplier": {"stream_orders.supplier IDENTITY"},
        "total": {"stream_orders.price AGGREGATION"},
        "": {"stream_orders.supplier GROUP_BY"},
    },
}

CONNECT_DRIVER = """
from pyspark.sql import SparkSession
from lineagelab_spark import QueryLineage, SparkConnectError, observe

spark = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("rows:", spark.range(3).count())
for attempt in (observe, QueryLineage):
    try:
        attempt(spark, "shop", "http://127.0.0.1:9")
    except SparkConnectError as error:
        print(error)
spark.stop()
"""

PLAIN_CONNECT_DRIVER = """
from pyspark.sql import SparkSession

for _ in range(2):
    spark = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("rows:", spark.range(3).count())
spark.stop()
"""


def site_packages(environment):
    """Return the packages of an environment of the cache, and create it if no earlier test did."""
    cache, progress = Cache.open(), PlainProgress(sys.stderr)
    with cache.lock(progress.note):
        folder = environment.folder(cache)
        if not (folder / MANIFEST_FILE).exists():
            venvs.create_venv(environment, cache, Runner(cache.tmp), progress)
    return venvs.site_packages(folder)


@pytest.fixture(scope="module")
def packages(build_wheel, empty_environment):
    """Environment with the wheels and the OpenLineage client, without PySpark."""
    environment = empty_environment()
    environment.install(build_wheel("integrations/common"), build_wheel("integrations/spark"))
    return environment


@pytest.fixture(params=RELEASES)
def environment(request, packages):
    """The same environment with one release of PySpark, which is linked instead of installed again."""
    with_pyspark(packages, RELEASES[request.param])
    return packages


def with_pyspark(packages, release):
    own, found = venvs.site_packages(packages.folder / "venv"), site_packages(release)
    for name in ("pyspark", "py4j"):
        (own / name).unlink(missing_ok=True)
        (own / name).symlink_to(found / name)


def run(environment, driver, service, **variables):
    """Run a driver in an empty folder; return the last event of each job."""
    folder = environment.folder / "work"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(DRIVERS / driver, folder)
    done = environment.run(
        "python",
        "-c",
        f"import os, runpy; os.chdir({str(folder)!r}); runpy.run_path({driver!r}, run_name='__main__')",
        OPENLINEAGE_URL=service.url,
        OPENLINEAGE_NAMESPACE="shop",
        OPENLINEAGE__FACETS__SOURCE_CODE_LOCATION__DISABLED="true",
        SPARK_LOCAL_IP="127.0.0.1",
        **variables,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lineage" not in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert {event["job"]["namespace"] for event in service.taken} == {"shop"}
    last = {event["job"]["name"]: event for event in service.taken}
    assert {event["eventType"] for event in last.values()} == {"COMPLETE"}
    return last.values()


def columns(events):
    found = {}
    for event in events:
        for output in event["outputs"]:
            lineage = output["facets"]["columnLineage"]
            assert "unknownFields" not in lineage, lineage
            edges = found[_name(output)] = {
                column: _edges(entry["inputFields"]) for column, entry in lineage["fields"].items()
            }
            if rows := _edges(lineage.get("dataset", [])):
                edges[""] = rows
    return found


def _edges(fields):
    return {
        f"{_name(field)}.{field['field']} {transformation['subtype']}"
        for field in fields
        for transformation in field["transformations"]
    }


def _name(dataset):
    return dataset["name"].rpartition("/")[2]


def test_batch_driver_reports_the_same_columns(environment):
    with answering(TAKEN) as service:
        assert columns(run(environment, "batch.py", service)) == BATCH


def test_streaming_driver_reports_the_same_columns(environment):
    with answering(TAKEN) as service:
        events = run(environment, "stream.py", service)
    assert columns(events) == STREAMS
    windows = [event["run"]["facets"]["lineageLab_streamingWindow"] for event in events]
    assert [window["inputRows"] for window in windows] == [2, 2]


@pytest.mark.parametrize("release", RELEASES)
def test_tables_of_delta_lake_and_hive_have_the_same_columns(packages, release):
    with_pyspark(packages, RELEASES[release])
    component = OTHER_DELTA_LAKES.get(release, DELTA_LAKE).name
    artifacts = Artifacts.open()
    artifacts.setup({component}, PlainProgress(sys.stderr))
    jars = ",".join(map(str, artifacts.component(component).rglob("*.jar")))
    with answering(TAKEN) as service:
        assert columns(run(packages, "tables.py", service, DELTA_JARS=jars)) == TABLES


def test_session_of_a_connect_server_is_refused(packages):
    with_pyspark(packages, RELEASES["4.0"])
    (packages.folder / "connect.py").write_text(CONNECT_DRIVER)
    variables = {"PYTHONPATH": str(site_packages(RELEASES["4.0"])), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = packages.run("python", "connect.py", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    rows, writes, queries = done.stdout.splitlines()
    assert rows == "rows: 3"
    session = "pyspark.sql.connect.session.SparkSession is a session of Spark Connect"
    assert writes.startswith(f"cannot observe the writes of a session: {session}")
    assert queries.startswith(f"cannot observe the streaming queries of a session: {session}")
    assert "spark.api.mode=classic" in writes


def test_observed_driver_with_a_connect_session_runs_and_is_said_to_have_no_lineage(packages):
    with_pyspark(packages, RELEASES["4.0"])
    (packages.folder / "plain_connect.py").write_text(PLAIN_CONNECT_DRIVER)
    variables = {
        "PYTHONPATH": f"{site_packages(RELEASES['4.0'])}{os.pathsep}{packages.folder}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "LINEAGE_URL": "http://127.0.0.1:9",
    }
    done = packages.run("python", "-m", "lineagelab_spark.observed", "plain_connect", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["rows: 3"]
    warning = "the writes of this driver have no lineage: cannot observe the writes of a session: pyspark.sql.connect"
    assert done.stderr.count(warning) == 1
