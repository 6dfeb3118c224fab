# SPDX-License-Identifier: Apache-2.0
"""Spark standalone cluster, optional: a master and a worker; otherwise jobs run locally or on a user's cluster."""

from dataclasses import replace

from infra import credentials
from infra.errors import SettingsError
from infra.model import Endpoint, Probe, Python, Service, Site
from infra.services import jvm
from infra.services.definition import ServiceDefinition, WebPage
from infra.services.spark import executors, packages
from infra.services.spark.job import COMPONENT, PACKAGE
from infra.services.spark.logging import LOG4J2_PROPERTIES
from infra.services.spark.settings import SparkSettings, process_environment
from infra.settings import Settings

MASTER = "spark_master"
WORKER = "spark_worker"
RPC = Endpoint("rpc", 7077)
MASTER_WEB = Endpoint("web", 8088, scheme="http", published_as="spark_master")
WORKER_RPC = Endpoint("rpc", 7078)
WORKER_WEB = Endpoint("web", 8089, scheme="http", published_as="spark_worker")
ENDPOINTS = {MASTER: (RPC, MASTER_WEB), WORKER: (WORKER_RPC, WORKER_WEB)}

LOCAL_MASTER = "local[2]"

LOGGING = "log4j2.properties"
RECOVERY = "recovery"
WORK = "work"

HEAP_MIB = 192
"""Maximum heap of the master and of the worker, MiB; each uses about the same amount outside of its heap."""


def included(settings: Settings) -> bool:
    """Return True if the lab has a cluster; a configured master URL takes precedence."""
    return settings.section(SparkSettings).spark == "cluster" and not settings.section(SparkSettings).spark_master


def master(site: Site, settings: Settings) -> str:
    """Return the master URL for drivers."""
    if included(settings):
        return f"spark://{site.address(MASTER, RPC.name)}"
    if executors.included(settings):
        return executors.MASTER
    return settings.section(SparkSettings).spark_master or LOCAL_MASTER


def needs(settings: Settings) -> tuple[str, ...]:
    """Return the keys of the cluster's parts that drivers need."""
    return (WORKER,) if included(settings) else ()


def daemon(main: str, *arguments: str) -> Python:
    """Return a Spark daemon, started by the script of the installed PySpark."""
    module = f"{PACKAGE}.launch_daemon"
    return Python(module, (main, *arguments), environment="spark", components=(COMPONENT,), java=True)


def daemon_environment(name: str, site: Site, heap_mib: int, *options: str) -> dict[str, str]:
    """Return the environment of a Spark daemon: heap, JVM options, logging."""
    logging = f"-Dlog4j2.configurationFile={site.file(name, LOGGING)}"
    return {
        **process_environment(site),
        "SPARK_DAEMON_MEMORY": f"{heap_mib}m",
        "SPARK_DAEMON_JAVA_OPTS": " ".join((*jvm.SERVICE_OPTIONS, *jvm.C1_ONLY, logging, *options)),
    }


def _check(settings: Settings) -> None:
    """Raise SettingsError on Kubernetes, where master and worker cannot listen at the name of their Service."""
    if settings.target == "kubernetes":
        raise SettingsError(
            "lineage-lab:spark is cluster, and the lab's target is kubernetes: set lineage-lab:spark: kubernetes, "
            "whose executors are pods, or local"
        )


def _master(site: Site, settings: Settings) -> Service:
    """Return the master; it persists its state, since drivers would hang after a restart that loses it."""
    reached, web = site.address(MASTER, RPC.name), site.listen(MASTER, MASTER_WEB.name)
    return Service(
        name=MASTER,
        run=daemon(
            "org.apache.spark.deploy.master.Master",
            *("--host", reached.host, "--port", str(reached.port), "--webui-port", str(web.port)),
        ),
        endpoints=ENDPOINTS[MASTER],
        ready=Probe(MASTER_WEB.name, "/json/"),
        files={LOGGING: LOG4J2_PROPERTIES},
        volumes=(RECOVERY,),
        env=daemon_environment(
            MASTER,
            site,
            HEAP_MIB,
            "-Dspark.deploy.recoveryMode=FILESYSTEM",
            f"-Dspark.deploy.recoveryDirectory={site.volume(MASTER, RECOVERY)}",
            "-Dspark.master.rest.enabled=false",
        ),
        memory_mib=2 * HEAP_MIB,
    )


def _worker(site: Site, settings: Settings) -> Service:
    """Return the worker; executors are its children, inherit its environment with the credentials, and stop with it."""
    spark_settings = settings.section(SparkSettings)
    reached, web = site.address(WORKER, WORKER_RPC.name), site.listen(WORKER, WORKER_WEB.name)
    worker = daemon(
        "org.apache.spark.deploy.worker.Worker",
        *("--host", reached.host, "--port", str(reached.port), "--webui-port", str(web.port)),
        *(
            "--cores",
            str(spark_settings.spark_worker_cores),
            "--memory",
            f"{spark_settings.spark_worker_memory_mib}m",
        ),
        *("--work-dir", site.volume(WORKER, WORK), f"spark://{site.address(MASTER, RPC.name)}"),
    )
    return Service(
        name=WORKER,
        run=replace(worker, packages=packages.environments(settings)),
        needs=(MASTER,),
        endpoints=ENDPOINTS[WORKER],
        ready=Probe(WORKER_WEB.name, "/json/"),
        files={LOGGING: LOG4J2_PROPERTIES},
        volumes=(WORK,),
        env={
            **daemon_environment(WORKER, site, HEAP_MIB, "-Dspark.worker.cleanup.enabled=true"),
            "SPARK_LOCAL_DIRS": site.scratch(WORKER),
            "AWS_REGION": credentials.S3_REGION,
        },
        secrets={
            "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
        },
        memory_mib=2 * HEAP_MIB + spark_settings.spark_worker_memory_mib,
    )


DEFINITIONS = (
    ServiceDefinition(
        name=MASTER,
        title="Spark master",
        build=_master,
        endpoints=ENDPOINTS[MASTER],
        components=(COMPONENT,),
        settings=SparkSettings,
        enabled=included,
        check=_check,
        web_page=WebPage(MASTER_WEB),
        position=110,
    ),
    ServiceDefinition(
        name=WORKER,
        title="Spark worker",
        build=_worker,
        endpoints=ENDPOINTS[WORKER],
        components=(COMPONENT,),
        settings=SparkSettings,
        enabled=included,
        web_page=WebPage(WORKER_WEB),
        position=111,
    ),
)
