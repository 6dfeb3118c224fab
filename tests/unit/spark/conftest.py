# SPDX-License-Identifier: Apache-2.0
"""One Spark session for all tests: local, UTC, ANSI, with an Iceberg catalog `lake` in a temporary folder."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from infra.namespaces import CATALOG_NAME

AVRO_LIMITS = "-Dorg.apache.avro.limits.string.maxLength=1048576"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore ResourceWarnings of PySpark, which leaves the closing of its sockets to the garbage collector."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="module", autouse=True)
def sockets_closed() -> Iterator[None]:
    """Collect PySpark's sockets at the end, so that other tests do not report them as unclosed."""
    yield
    gc.collect()


def spark_jars() -> list[Path]:
    """Return the jars of the driver's class path, from SPARK_JARS_DIR or from the lab's cache."""
    folder = os.environ.get("SPARK_JARS_DIR")
    if folder is None:
        from infra.toolchain import Artifacts

        folder = str(Artifacts.open().component("spark") / "lib")
    jars = sorted(Path(folder).glob("*.jar"))
    if not jars:
        pytest.fail(f"no jars in {folder}; run `make test`, which installs them, or set SPARK_JARS_DIR")
    return jars


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = tmp_path_factory.mktemp("spark")
    (home / "conf").mkdir()
    class_path = ":".join(str(jar) for jar in spark_jars())
    environment = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # `assertDataFrameEqual` imports pandas-on-Spark, which warns where this is missing.
        "PYARROW_IGNORE_TIMEZONE": "1",
        "SPARK_CONF_DIR": str(home / "conf"),
        "PYSPARK_SUBMIT_ARGS": f"--driver-class-path {class_path} pyspark-shell",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        session = SparkSession.builder.appName("tests").master("local[1]").config(map=settings(home)).getOrCreate()
        yield session
        session.stop()


def settings(home: Path) -> dict[str, str]:
    return {
        "spark.driver.defaultJavaOptions": f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss2m {AVRO_LIMITS}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        # Few rows, many queries: adaptive replanning and code generation would dominate the run time.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        f"spark.sql.catalog.{CATALOG_NAME}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG_NAME}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG_NAME}.warehouse": f"file://{home}/lake",
    }
