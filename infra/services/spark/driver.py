# SPDX-License-Identifier: Apache-2.0
"""PySpark drivers as services or tasks: launcher, environment, files."""

from infra import credentials
from infra.model import Python, Service, Site, Task
from infra.namespaces import CHECKPOINT_BUCKET, JOB_NAMESPACE, WAREHOUSE_BUCKET
from infra.services import iceberg_catalog, kafka, kafka_access, lineage, schema_registry, tls
from infra.services.properties import render_properties
from infra.services.spark import agent, packages
from infra.services.spark import cluster as spark_cluster
from infra.services.spark import executors as spark_executors
from infra.services.spark import foreign as spark_foreign
from infra.services.spark import history as spark_history
from infra.services.spark.job import COMPONENT, Driver
from infra.services.spark.logging import LOG4J2_PROPERTIES
from infra.services.spark.settings import (
    DRIVER_SECRETS,
    LOGGING,
    SparkSettings,
    driver_settings,
    login_files,
    login_secrets,
    process_environment,
)
from infra.settings import Settings

PROPERTIES = "spark.properties"
LAUNCHER = "lineagelab_spark.launch"
OBSERVER = "lineagelab_spark.observed"
TIMER = "lineagelab_spark.launch_every"

PROFILE_ROWS = "LINEAGE_PROFILE_ROWS"
"""Environment variable of an observed batch job with the rows up to which it profiles its tables."""

STOP_SECONDS = 45
"""Grace period: a streaming driver finishes its batch (10 s), Spark stops, the JVM gets 10 s more, then is killed."""


def driver_service(driver: Driver, site: Site, settings: Settings) -> Service:
    """Return a driver that runs continuously or periodically; it is restarted whenever it exits."""
    return Service(
        name=driver.program,
        run=_driver_program(driver, settings),
        executor=spark_executors.program(driver, site, settings),
        needs=(*_driver_needs(driver, settings), *kafka_access.needs(site, kafka_access.SPARK)),
        files=_driver_files(driver, site, settings),
        env=_driver_environment(driver, site, settings),
        secrets={**DRIVER_SECRETS, **agent.secrets(driver), **login_secrets(site)},
        secret_files=login_files(driver, site),
        memory_mib=driver.memory_mib,
        stop_seconds=STOP_SECONDS,
    )


def driver_task(driver: Driver, site: Site, settings: Settings) -> Task:
    """Return a driver that runs to completion."""
    return Task(
        name=driver.program,
        run=_driver_program(driver, settings),
        executor=spark_executors.program(driver, site, settings),
        needs=(*_driver_needs(driver, settings), *kafka_access.needs(site, kafka_access.SPARK)),
        files=_driver_files(driver, site, settings),
        env=_driver_environment(driver, site, settings),
        secrets={**DRIVER_SECRETS, **agent.secrets(driver), **login_secrets(site)},
        secret_files=login_files(driver, site),
        memory_mib=driver.memory_mib,
        stop_seconds=STOP_SECONDS,
    )


def _driver_program(driver: Driver, settings: Settings) -> Python:
    executor = (spark_executors.MODULE,) if spark_executors.included(settings) else ()
    application = ("--application", driver.job) if driver.has_agent or driver.is_observed else ()
    observe, observer = (("--observe",), (OBSERVER,)) if driver.is_observed else ((), ())
    modules: tuple[str, ...] = (*observer, driver.module)
    launch: tuple[str, ...] = (*application, *observe, driver.module, *driver.arguments)
    launcher = LAUNCHER
    if driver.every:
        launch, modules, launcher = (str(driver.every), *launch), (LAUNCHER, *modules), TIMER
    return Python(
        launcher,
        launch,
        uses=(*modules, *executor),
        reads=driver.packages,
        environment="spark",
        packages=packages.environments(settings),
        components=(COMPONENT, *agent.components(driver)),
        java=True,
    )


def _profile_environment(driver: Driver, settings: Settings) -> dict[str, str]:
    """Return the variable that makes an observed batch job profile its tables at its end."""
    rows = settings.section(SparkSettings).profile_rows
    return {PROFILE_ROWS: str(rows)} if rows and driver.is_observed else {}


def _driver_needs(driver: Driver, settings: Settings) -> tuple[str, ...]:
    common = (iceberg_catalog.NAME, lineage.NAME, f"bucket/{WAREHOUSE_BUCKET}", f"bucket/{CHECKPOINT_BUCKET}")
    optional = (*spark_cluster.needs(settings), *spark_history.needs(driver, settings))
    return tuple(dict.fromkeys((*common, *optional, *driver.needs)))


def _driver_files(driver: Driver, site: Site, settings: Settings) -> dict[str, str]:
    master = spark_cluster.master(site, settings)
    executors = spark_executors.properties(driver, site, settings)
    spark = driver_settings(driver, site, master) | executors | spark_history.event_log(driver, settings)
    return {PROPERTIES: render_properties(spark_foreign.apply(spark, settings)), LOGGING: LOG4J2_PROPERTIES}


def _driver_environment(driver: Driver, site: Site, settings: Settings) -> dict[str, str]:
    scratch = site.scratch(driver.program)
    lineage_url = {"LINEAGE_URL": site.address(lineage.NAME, lineage.API.name).url} if driver.lineage != "off" else {}
    return {
        **process_environment(site),
        "PYSPARK_SUBMIT_ARGS": (
            f"--properties-file {site.file(driver.program, PROPERTIES)} "
            f"--driver-class-path {site.class_path(COMPONENT)} pyspark-shell"
        ),
        "CLASS_DATA": site.class_data(COMPONENT).archive,
        "SPARK_LOCAL_DIRS": scratch,
        "KAFKA_BOOTSTRAP": str(site.address(kafka.NAME, kafka.BROKER.name)),
        **kafka_access.protocol_environment(site),
        "SCHEMA_REGISTRY_URL": schema_registry.confluent_api(site),
        "CHECKPOINTS": f"s3a://{CHECKPOINT_BUCKET}",
        "LINEAGE_OPEN_RUNS": f"{scratch}/open_runs.json",
        "OPENLINEAGE_NAMESPACE": JOB_NAMESPACE,
        "AWS_REGION": credentials.S3_REGION,
        **tls.python_environment(site),
        **agent.environment(driver),
        **lineage_url,
        **_profile_environment(driver, settings),
        **packages.variables(driver, site, settings),
        **driver.env,
    }
