# SPDX-License-Identifier: Apache-2.0
"""Spark history server: stages and tasks of completed batch jobs, read from their event logs."""

from infra import credentials
from infra.model import Endpoint, Probe, Resource, Service, Site
from infra.namespaces import EVENT_LOG_BUCKET
from infra.services import object_store
from infra.services.definition import ServiceDefinition, WebPage
from infra.services.spark.cluster import LOGGING, daemon, daemon_environment
from infra.services.spark.job import COMPONENT, Driver
from infra.services.spark.logging import LOG4J2_PROPERTIES
from infra.services.spark.settings import SparkSettings, s3a
from infra.settings import Settings

NAME = "spark_history"
WEB = Endpoint("web", 18080, scheme="http", published_as="spark_history")
ENDPOINTS = (WEB,)

LOGS = f"s3a://{EVENT_LOG_BUCKET}/"
HEAP_MIB = 256
UPDATE = "5s"


def event_log(driver: Driver, settings: Settings) -> dict[str, str | int | bool]:
    """Return the event log settings of a driver; none for streaming drivers, whose log would grow without bound."""
    if not settings.section(SparkSettings).spark_history or driver.streaming:
        return {}
    return {"spark.eventLog.enabled": True, "spark.eventLog.dir": LOGS, "spark.eventLog.compress": True}


def needs(driver: Driver, settings: Settings) -> tuple[str, ...]:
    """Return the keys of the parts that a driver needs for its event log."""
    return (f"bucket/{EVENT_LOG_BUCKET}",) if event_log(driver, settings) else ()


def _enabled(settings: Settings) -> bool:
    return settings.section(SparkSettings).spark_history


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return (object_store.bucket(site, EVENT_LOG_BUCKET),)


def _history(site: Site, settings: Settings) -> Service:
    listen = site.listen(NAME, WEB.name)
    history_settings = {
        "spark.history.fs.logDirectory": LOGS,
        "spark.history.ui.port": listen.port,
        "spark.history.fs.update.interval": UPDATE,
        **s3a(site),
    }
    options = [
        f"-D{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in history_settings.items()
    ]
    return Service(
        name=NAME,
        run=daemon("org.apache.spark.deploy.history.HistoryServer"),
        needs=(f"bucket/{EVENT_LOG_BUCKET}",),
        endpoints=ENDPOINTS,
        ready=Probe(WEB.name, "/api/v1/applications"),
        files={LOGGING: LOG4J2_PROPERTIES},
        env={
            **daemon_environment(NAME, site, HEAP_MIB, *options),
            "SPARK_DAEMON_CLASSPATH": site.class_path(COMPONENT),
            "AWS_REGION": credentials.S3_REGION,
        },
        secrets={
            "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
        },
        memory_mib=2 * HEAP_MIB,
    )


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Spark history",
    build=_history,
    endpoints=ENDPOINTS,
    components=(COMPONENT,),
    settings=SparkSettings,
    enabled=_enabled,
    resources=_resources,
    web_page=WebPage(WEB),
    position=210,
)
