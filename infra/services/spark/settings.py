# SPDX-License-Identifier: Apache-2.0
"""Spark properties of drivers: master, memory, JVM, catalog, s3a, lineage agent."""

import re
from typing import Literal

from pydantic import Field, field_validator

from infra import credentials
from infra.model import Site
from infra.namespaces import CATALOG_NAME, WAREHOUSE_NAMESPACE
from infra.services import iceberg_catalog, jvm, kafka_access, lineage, object_store, tls
from infra.services.spark import agent
from infra.services.spark.job import COMPONENT, Driver
from infra.settings import BooleanSetting, SettingsSection

LOGGING = "log4j2.properties"

EXECUTOR_HEAP_MIB = 512

SECRETS = {
    "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
}
"""Environment variables of the AWS SDK for Iceberg and s3a, so that no Spark property contains a key."""

DRIVER_SECRETS = {**SECRETS, **lineage.EMITTER_SECRETS}
"""Environment variables of drivers: also the lineage service's key."""

MAX_AVRO_VALUE_LENGTH = 2**20
"""Maximum length of an Avro string or byte array (bytes) and of a collection (items). A corrupt record can declare a
length of gigabytes; allocating it would kill the driver."""

Properties = dict[str, str | int | bool]


OWNED = {"spark.master": "lineage-lab:sparkMaster", "spark.app.name": "the job's file name"}
"""Properties that `sparkConf` cannot set, and what sets them instead."""


def parse_conf(text: str) -> dict[str, str]:
    """Return the properties of the setting `sparkConf`.

    Raises:
        ValueError: an entry is not a property, or one that the lab sets otherwise.
    """
    found = {}
    for entry in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = (part.strip() for part in entry.partition("="))
        if not equals or not re.fullmatch(r"spark\.[\w.-]+", key):
            raise ValueError(f"{entry!r} is not spark.KEY=VALUE; separate properties by ';'")
        if key in OWNED:
            raise ValueError(f"{key} is set by {OWNED[key]}")
        if key in found:
            raise ValueError(f"{key} is given twice")
        found[key] = value
    return found


class SparkSettings(SettingsSection):
    """Settings of Spark drivers, of the Spark cluster and of the history server."""

    spark_heap_mib: int = Field(768, ge=512, description="maximum heap of a Spark driver, MiB")
    spark_master: str = Field(
        "", description="master URL of the Spark drivers; empty: local[2], or the lab's cluster with spark: cluster"
    )
    spark_worker_cores: int = Field(2, ge=2, le=1024, description="cores of the Spark worker (spark: cluster)")
    spark_worker_memory_mib: int = Field(2048, ge=1024, description="memory of the Spark worker for executors, MiB")
    spark_history: BooleanSetting = Field(False, description="true: a Spark history server for completed batch jobs")
    spark: Literal["local", "cluster", "kubernetes"] = Field(
        "local",
        description=(
            "local: Spark jobs run inside their drivers; cluster: on a standalone cluster of the lab; kubernetes: in "
            "executor pods (target kubernetes)"
        ),
    )
    spark_executors: int = Field(
        2, ge=1, le=100, description="executor pods of a batch job at most (spark: kubernetes); a streaming job has one"
    )

    spark_driver_host: str = Field(
        "",
        pattern=r"^[A-Za-z0-9._:-]*$",
        description="sparkMaster: host by which its executors reach the drivers, which then listen on all interfaces",
    )
    profile_rows: int = Field(
        0, ge=0, description="rows up to which a table is profiled after each Spark batch job that wrote it; 0: never"
    )
    spark_pandas: BooleanSetting = Field(
        False, description="true: Spark jobs can import pandas and PyArrow, 350 MB; medallion: true includes them"
    )
    spark_conf: str = Field(
        "", description="Spark properties of all drivers, which override the lab's: spark.KEY=VALUE;spark.KEY=VALUE"
    )

    @field_validator("spark_conf")
    @classmethod
    def _valid_properties(cls, value: str) -> str:
        parse_conf(value)
        return value

    @field_validator("spark_master")
    @classmethod
    def _known_master(cls, value: str) -> str:
        if value and not value.startswith(("local", "spark://", "yarn", "k8s://")):
            raise ValueError("must be local[N], spark://HOST:PORT, yarn, k8s://URL, or empty")
        return value


def driver_settings(driver: Driver, site: Site, master: str) -> Properties:
    """Return the content of a driver's properties file; contains no secret."""
    return {
        "spark.app.name": driver.job,
        **_master_properties(driver, site, master),
        "spark.driver.memory": f"{driver.heap_mib}m",
        "spark.driver.host": _driver_host(driver, site),
        "spark.driver.bindAddress": site.interface,
        "spark.driver.defaultJavaOptions": _driver_jvm_properties(driver, site),
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.session.timeZone": "UTC",
        **_catalog_properties(site),
        **s3a(site),
        **agent.properties(driver, site),
    }


def _driver_host(driver: Driver, site: Site) -> str:
    """Return the address by which executors reach the driver; Spark resolves `${env:NAME}`."""
    return f"${{env:{site.own_host_variable}}}" if site.own_host_variable else site.host(driver.program)


def process_environment(site: Site) -> dict[str, str]:
    """Return the environment of every Spark process.

    SPARK_CONF_DIR, the first entry of the class path, is an empty folder: it excludes a user's Spark configuration, and
    the JVM rejects a CDS archive if a folder on the class path contains files.
    """
    return {
        "SPARK_LOCAL_IP": site.interface,
        "SPARK_CONF_DIR": site.class_data(COMPONENT).configuration,
    }


def java_options(driver: Driver, *more: str) -> str:
    """Return JVM options of a driver or its executors; the launcher adds the CDS archive if it is valid."""
    limits = ("string.maxLength", "bytes.maxLength", "collectionItems.maxLength")
    return " ".join(
        [
            *jvm.BASE_OPTIONS,
            "-Xss2m",  # for deeply nested plans
            *(jvm.DELAYED_C2 if driver.streaming else jvm.C1_ONLY),
            *more,
            *(f"-Dorg.apache.avro.limits.{limit}={MAX_AVRO_VALUE_LENGTH}" for limit in limits),
        ]
    )


def s3a(site: Site) -> Properties:
    """Return the settings of Hadoop's S3A file system, used for checkpoints and event logs."""
    provider = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
    return {
        "spark.hadoop.fs.s3a.endpoint": site.address(object_store.NAME, object_store.S3.name).url,
        "spark.hadoop.fs.s3a.endpoint.region": credentials.S3_REGION,
        "spark.hadoop.fs.s3a.path.style.access": True,
        "spark.hadoop.fs.s3a.aws.credentials.provider": provider,
    }


def _master_properties(driver: Driver, site: Site, master: str) -> Properties:
    """Return master and executor properties; a streaming driver, which never releases cores, leaves one to others."""
    if master.startswith("local"):
        return {"spark.master": _with_one_core_less(master) if driver.streaming else master}
    return {
        "spark.master": master,
        "spark.executor.memory": f"{EXECUTOR_HEAP_MIB}m",
        "spark.executor.extraClassPath": site.class_path(COMPONENT),
        "spark.executor.defaultJavaOptions": java_options(driver, *_secure_options(driver, site)),
        **({"spark.cores.max": 1} if driver.streaming else {}),
    }


def _with_one_core_less(master: str) -> str:
    """Return a local master URL with one core less, at least one: `local[4]` -> `local[3]`."""
    found = re.fullmatch(r"local\[(\d+)(.*)\]", master)
    return f"local[{max(1, int(found[1]) - 1)}{found[2]}]" if found else master


def _driver_jvm_properties(driver: Driver, site: Site) -> str:
    return java_options(
        driver,
        f"-Djava.io.tmpdir={site.scratch(driver.program)}",
        *_secure_options(driver, site),
        f"-Dlog4j2.configurationFile={site.file(driver.program, LOGGING)}",
    )


def _secure_options(driver: Driver, site: Site) -> tuple[str, ...]:
    """Return the JVM options of a driver and its executors in a lab with TLS: authority and login."""
    return (*tls.java_options(site), *kafka_access.login_options(driver.program, site))


def login_files(driver: Driver, site: Site) -> dict[str, str]:
    """Return the file by which a driver and its executors log in to a Kafka with TLS, by path; none without."""
    return kafka_access.login_files(driver.program, site, kafka_access.SPARK)


def login_secrets(site: Site) -> dict[str, str]:
    """Return the credential that this file needs: variable -> credential."""
    return kafka_access.login_secrets(site, kafka_access.SPARK)


def _catalog_properties(site: Site) -> Properties:
    name = f"spark.sql.catalog.{CATALOG_NAME}"
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        name: "org.apache.iceberg.spark.SparkCatalog",
        f"{name}.type": "rest",
        f"{name}.uri": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        f"{name}.warehouse": f"{WAREHOUSE_NAMESPACE}/",
        f"{name}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{name}.s3.endpoint": site.address(object_store.NAME, object_store.S3.name).url,
        f"{name}.s3.path-style-access": True,
        f"{name}.client.region": credentials.S3_REGION,
    }
