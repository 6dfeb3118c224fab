# SPDX-License-Identifier: Apache-2.0
"""The PySpark jobs: each a driver that runs to its end when it is asked to."""

from infra import credentials
from infra.model import Python, Site, Task
from infra.namespaces import CATALOG, JOB_ORDERS_ETL, JOB_SUPPLIER_STATS, TOPIC_ORDERS, WAREHOUSE, spark_lineage
from infra.services import iceberg_catalog, kafka, lineage, object_store, schema_registry
from infra.services.properties import properties
from infra.settings import Settings
from jobs.spark import log_settings

PROPERTIES = "spark.properties"
LOGGING = "log4j2.properties"
COMPONENT = "spark"
LONGEST_AVRO_VALUE = 2**20
"""Bytes, and items. A record that announces a string of a gigabyte is broken; believed, it kills the driver."""

LEAN_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss2m -XX:-UsePerfData"
"""A batch job of this size is over before the optimising compiler has paid for itself."""


def jobs(site: Site, settings: Settings) -> tuple[Task, ...]:
    """The batch jobs, in the order in which the data flows."""
    return (
        _job(JOB_ORDERS_ETL, (f"topic/{TOPIC_ORDERS}", schema_registry.NAME), site, settings),
        _job(JOB_SUPPLIER_STATS, (), site, settings),
    )


def _job(name: str, needs: tuple[str, ...], site: Site, settings: Settings) -> Task:
    submit = (
        f"--properties-file {site.file(name, PROPERTIES)} "
        f"--driver-class-path {site.class_path(COMPONENT)} pyspark-shell"
    )
    return Task(
        name=name,
        run=Python(f"jobs.spark.{name}", environment="spark"),
        needs=(iceberg_catalog.NAME, lineage.NAME, *needs),
        files={PROPERTIES: properties(_settings(name, site, settings)), LOGGING: log_settings()},
        env={
            "PYSPARK_SUBMIT_ARGS": submit,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": site.scratch(name),
            "KAFKA_BOOTSTRAP": str(site.address(kafka.NAME, kafka.BROKER.name)),
            "SCHEMA_REGISTRY_URL": (
                site.address(schema_registry.NAME, schema_registry.API.name).url + schema_registry.CONFLUENT_API
            ),
            "LINEAGE_URL": site.address(lineage.NAME, lineage.API.name).url,
            "AWS_REGION": credentials.S3_REGION,
        },
        secrets={
            "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
        },
        memory_mib=settings.spark_heap_mib + 400,
    )


def _settings(name: str, site: Site, settings: Settings) -> dict[str, str | int | bool]:
    catalog = f"spark.sql.catalog.{CATALOG}"
    return {
        "spark.app.name": name,
        "spark.master": settings.spark_master,
        "spark.driver.memory": f"{settings.spark_heap_mib}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.defaultJavaOptions": _java_options(name, site),
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "rest",
        f"{catalog}.uri": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        f"{catalog}.warehouse": f"{WAREHOUSE}/",
        f"{catalog}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{catalog}.s3.endpoint": site.address(object_store.NAME, object_store.S3.name).url,
        f"{catalog}.s3.path-style-access": True,
        f"{catalog}.client.region": credentials.S3_REGION,
        **spark_lineage(site.address(lineage.NAME, lineage.API.name).url),
    }


def _java_options(name: str, site: Site) -> str:
    limits = ("string.maxLength", "bytes.maxLength", "collectionItems.maxLength")
    return " ".join(
        [
            LEAN_JVM,
            f"-Djava.io.tmpdir={site.scratch(name)}",
            f"-Dlog4j2.configurationFile={site.file(name, LOGGING)}",
            *(f"-Dorg.apache.avro.limits.{limit}={LONGEST_AVRO_VALUE}" for limit in limits),
        ]
    )
