# SPDX-License-Identifier: Apache-2.0
"""Flink session cluster: one JobManager, one TaskManager and the SQL gateway.

The JVMs start without Flink's scripts and share one configuration file.
"""

import json
import shlex
from pathlib import PurePosixPath

from infra import credentials
from infra.model import Endpoint, Java, Probe, Service, Site
from infra.namespaces import (
    CHECKPOINT_BUCKET,
    FLINK_JOB_ID_PREFIX,
    FLINK_LINEAGE_TRANSPORT,
    SPOOL_TRANSPORT,
    WAREHOUSE_BUCKET,
)
from infra.services import jvm, kafka_access, lineage, tls
from infra.services.definition import ServiceDefinition, WebPage, require_kubernetes
from infra.services.flink.settings import (
    COMPONENT,
    FEATURE,
    GATEWAY,
    GATEWAY_REST,
    GUARD_COMPONENT,
    JOBMANAGER,
    JOBMANAGER_BLOBS,
    JOBMANAGER_METRICS,
    JOBMANAGER_REST,
    JOBMANAGER_RPC,
    METRICS_PORT,
    PLANNER_COMPONENT,
    PYTHON_ENVIRONMENT,
    TASKMANAGER,
    TASKMANAGER_DATA,
    TASKMANAGER_METRICS,
    TASKMANAGER_RPC,
    TRANSPORT_COMPONENTS,
    WINDOWS_COMPONENT,
    FlinkSettings,
    Options,
    direct_memory_mib,
    enabled,
    flink_settings,
    python_included,
    python_jar,
    render_yaml,
)
from infra.settings import Settings

ENDPOINTS: dict[str, tuple[Endpoint, ...]] = {
    JOBMANAGER: (JOBMANAGER_REST, JOBMANAGER_RPC, JOBMANAGER_BLOBS, JOBMANAGER_METRICS),
    TASKMANAGER: (TASKMANAGER_RPC, TASKMANAGER_DATA, TASKMANAGER_METRICS),
    GATEWAY: (GATEWAY_REST,),
}

_METRICS = {JOBMANAGER: JOBMANAGER_METRICS, TASKMANAGER: TASKMANAGER_METRICS}

CONFIG = "config.yaml"
"""Name of Flink's configuration file in its configuration folder."""

LOGGING = "log4j2.properties"

HEAP_MIB = 256
"""Maximum heap of the JobManager and of the gateway, MiB; they plan jobs and process no rows."""

NON_HEAP_MIB = 160
"""Memory of such a JVM outside of its heap, MiB; mostly metaspace."""

CLASS_PATH = "lib/*:planner/*"

PYTHON_WORKER_MIB = 256
"""Memory of the processes in which Python functions of a job run, MiB."""

SESSION_MAIN = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
APPLICATION_MAIN = "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
TASKMANAGER_MAIN = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"

OWN_COMPONENTS = (GUARD_COMPONENT, *TRANSPORT_COMPONENTS)
"""Components of the project on the class path; also on that of the TaskManager, which has no REST server: one image."""

SECRETS = {
    "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
}
"""Environment variables of the AWS SDKs for checkpoints and Iceberg, so that no setting and no SQL contains a key."""

LISTENER_CONFIG = "openlineage.yml"
"""File of the OpenLineage listener with its key; JSON is YAML. The listener (1.53) reads no other variables."""

_OPENED_PACKAGES = ("lang", "net", "io", "nio", "lang.reflect", "text", "time", "util", "util.concurrent")
_OPENED_CONCURRENCY_PACKAGES = ("util.concurrent.atomic", "util.concurrent.locks")
MODULE_OPTIONS = (
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in (*_OPENED_PACKAGES, *_OPENED_CONCURRENCY_PACKAGES)),
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    *(
        f"--add-exports=jdk.compiler/com.sun.tools.javac.{name}=ALL-UNNAMED"
        for name in ("api", "file", "parser", "tree", "util")
    ),
)
"""Access to JDK internals that Flink requires on Java 17, as in its default configuration."""


def _jobmanager(site: Site, settings: Settings) -> Service:
    service = Service(
        name=JOBMANAGER,
        run=_java_program(
            *(JOBMANAGER, SESSION_MAIN, site),
            *(settings, HEAP_MIB, *jvm.C1_ONLY),
        ),
        needs=(f"bucket/{CHECKPOINT_BUCKET}", lineage.NAME, *kafka_access.needs(site, kafka_access.FLINK)),
        endpoints=_service_endpoints(JOBMANAGER, settings),
        ready=Probe(JOBMANAGER_REST.name, "/overview"),
        files=_config_files(site, settings),
        env=jvm_environment(site) | listener_environment(JOBMANAGER, site),
        secrets=SECRETS | lineage.EMITTER_SECRETS,
        secret_files=listener_config(JOBMANAGER, site),
        memory_mib=HEAP_MIB + NON_HEAP_MIB,
    )
    return kafka_access.with_login(service, site, kafka_access.FLINK)


def _taskmanager(site: Site, settings: Settings) -> Service:
    """Return the TaskManager, ready when it listens; it registers shortly after, and jobs wait for its slots."""
    service = Service(
        name=TASKMANAGER,
        run=_java_program(
            *(TASKMANAGER, TASKMANAGER_MAIN, site),
            *(settings, settings.section(FlinkSettings).flink_heap_mib),
            *taskmanager_options(),
        ),
        needs=(JOBMANAGER, f"bucket/{WAREHOUSE_BUCKET}"),
        endpoints=_service_endpoints(TASKMANAGER, settings),
        ready=Probe(TASKMANAGER_DATA.name),
        files=_config_files(site, settings),
        replicas=settings.section(FlinkSettings).flink_taskmanagers,
        env=jvm_environment(site),
        secrets=SECRETS,
        memory_mib=taskmanager_memory_mib(settings) + (PYTHON_WORKER_MIB if python_included(settings) else 0),
    )
    return kafka_access.with_login(service, site, kafka_access.FLINK)


def taskmanager_options() -> tuple[str, ...]:
    """Return the JVM options of a TaskManager beside those of all."""
    return (*jvm.DELAYED_C2, f"-XX:MaxDirectMemorySize={direct_memory_mib()}m")


def taskmanager_memory_mib(settings: Settings) -> int:
    """Return the memory of a TaskManager, MiB, without that of Python functions."""
    return settings.section(FlinkSettings).flink_heap_mib + direct_memory_mib() + NON_HEAP_MIB


def _gateway(site: Site, settings: Settings) -> Service:
    service = Service(
        name=GATEWAY,
        run=_java_program(
            *(GATEWAY, "org.apache.flink.table.gateway.SqlGateway", site),
            *(settings, HEAP_MIB, *jvm.C1_ONLY),
        ),
        needs=(JOBMANAGER,),
        endpoints=_service_endpoints(GATEWAY, settings),
        ready=Probe(GATEWAY_REST.name, "/v1/info"),
        files=_config_files(site, settings),
        env={
            **jvm_environment(site),
            **listener_environment(GATEWAY, site),
            "FLINK_CONF_DIR": _config_folder(GATEWAY, site),
        },
        secrets=SECRETS | lineage.EMITTER_SECRETS,
        secret_files=listener_config(GATEWAY, site),
        memory_mib=HEAP_MIB + NON_HEAP_MIB,
    )
    return kafka_access.with_login(service, site, kafka_access.FLINK)


def _java_program(name: str, main: str, site: Site, settings: Settings, heap_mib: int, *options: str) -> Java:
    """Return the JVM of a service; the gateway has no `--configDir` option (it reads FLINK_CONF_DIR) and no metrics."""
    arguments: tuple[str, ...] = () if name == GATEWAY else ("--configDir", _config_folder(name, site))
    if settings.section(FlinkSettings).flink_metrics and name in _METRICS:
        arguments += ("-D", f"{METRICS_PORT}={site.listen(name, _METRICS[name].name).port}")
    # For all jobs, and not shipped with each: programs that set `pipeline.jars` would replace it.
    python, packages = ((python_jar(site),), (PYTHON_ENVIRONMENT,)) if python_included(settings) else ((), ())
    logging = f"-Dlog4j2.configurationFile={site.file(name, LOGGING)}"
    return Java(
        COMPONENT,
        main,
        heap_mib,
        arguments,
        (*jvm.SERVICE_OPTIONS, *options, *tls.java_options(site), *MODULE_OPTIONS, logging),
        class_path=":".join((CLASS_PATH, *python, *map(site.class_path, OWN_COMPONENTS))),
        components=OWN_COMPONENTS,
        packages=packages,
    )


def _service_endpoints(name: str, settings: Settings) -> tuple[Endpoint, ...]:
    """Return the endpoints of a service; those for metrics only if metrics are enabled."""
    unused = () if settings.section(FlinkSettings).flink_metrics else tuple(_METRICS.values())
    return tuple(endpoint for endpoint in ENDPOINTS[name] if endpoint not in unused)


def _config_files(site: Site, settings: Settings) -> dict[str, str]:
    return config_files(flink_settings(site, settings))


def config_files(options: Options) -> dict[str, str]:
    """Return the files in a configuration folder of Flink."""
    return {CONFIG: render_yaml(options), LOGGING: _LOGGING}


def _config_folder(name: str, site: Site) -> str:
    return str(PurePosixPath(site.file(name, CONFIG)).parent)


def own_cluster_commands(name: str, site: Site, settings: Settings) -> tuple[str, str]:
    """Return the commands by which a launcher starts JobManager and TaskManager of its job (`application_cluster`)."""
    python = (python_jar(site),) if python_included(settings) else ()
    class_path = (f"{site.component(COMPONENT)}/{entry}" for entry in CLASS_PATH.split(":"))
    common = (
        *(*jvm.SERVICE_OPTIONS, *tls.java_options(site), *MODULE_OPTIONS),
        *kafka_access.login_options(name, site),
        f"-Djava.io.tmpdir={site.scratch(name)}",
        f"-Dlog4j2.configurationFile={site.file(name, LOGGING)}",
        *("-cp", ":".join((*class_path, *python, *map(site.class_path, OWN_COMPONENTS)))),
    )
    folder = ("--configDir", _config_folder(name, site))
    heap_mib = settings.section(FlinkSettings).flink_heap_mib
    jobmanager = (site.java(), f"-Xmx{HEAP_MIB}m", *jvm.C1_ONLY, *common, APPLICATION_MAIN, *folder)
    taskmanager = (site.java(), f"-Xmx{heap_mib}m", *taskmanager_options(), *common, TASKMANAGER_MAIN, *folder)
    return shlex.join(jobmanager), shlex.join(taskmanager)


def listener_environment(name: str, site: Site) -> dict[str, str]:
    """Return the environment by which the JVMs of a service find `listener_config`."""
    return {"OPENLINEAGE_CONFIG": f"{site.scratch(name)}/{LISTENER_CONFIG}"}


def listener_config(name: str, site: Site) -> dict[str, str]:
    """Return the file that adds the key, and the folder for events, to the transport of Flink's configuration."""
    url = site.address(lineage.NAME, lineage.API.name).url
    key = {"type": "api_key", "apiKey": "$LINEAGE_API_KEY"}
    http = {"type": "http", "url": url, "timeoutInMillis": 2000, "auth": key}
    spool = {"type": SPOOL_TRANSPORT, "directory": lineage.unsent_events(site, name), "transport": http}
    transport = {"type": FLINK_LINEAGE_TRANSPORT, "jobIdPrefix": FLINK_JOB_ID_PREFIX, "transport": spool}
    return {listener_environment(name, site)["OPENLINEAGE_CONFIG"]: json.dumps({"transport": transport})}


def jvm_environment(site: Site) -> dict[str, str]:
    """Return the environment of a JVM of Flink that runs or plans jobs."""
    return {
        "FLINK_PLUGINS_DIR": f"{site.component(COMPONENT)}/plugins",
        "AWS_REGION": credentials.S3_REGION,
        # The checkpoint file system bundles AWS SDK v1, which logs a deprecation warning at every start.
        "AWS_JAVA_V1_DISABLE_DEPRECATION_ANNOUNCEMENT": "true",
    }


_LOGGING = """rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %m (%c{1})%n
logger.jobs.name=org.apache.flink.runtime.executiongraph.ExecutionGraph
logger.jobs.level=info
logger.dispatcher.name=org.apache.flink.runtime.dispatcher.StandaloneDispatcher
logger.dispatcher.level=info
logger.hadoop.name=org.apache.hadoop.util.NativeCodeLoader
logger.hadoop.level=error
logger.hadoopconf.name=org.apache.flink.runtime.util.HadoopUtils
logger.hadoopconf.level=error
logger.metrics.name=org.apache.flink.metrics.MetricGroup
logger.metrics.level=error
logger.web.name=org.apache.flink.runtime.webmonitor.WebMonitorUtils
logger.web.level=error
"""


def _check_taskmanagers(settings: Settings) -> None:
    require_kubernetes(settings, "flinkTaskmanagers", settings.section(FlinkSettings).flink_taskmanagers)


DEFINITIONS = (
    ServiceDefinition(
        name=JOBMANAGER,
        title="Flink",
        build=_jobmanager,
        endpoints=ENDPOINTS[JOBMANAGER],
        components=(COMPONENT, *OWN_COMPONENTS, WINDOWS_COMPONENT, PLANNER_COMPONENT),
        settings=FlinkSettings,
        enabled=enabled,
        feature=FEATURE,
        web_page=WebPage(JOBMANAGER_REST),
        position=200,
    ),
    ServiceDefinition(
        name=TASKMANAGER,
        build=_taskmanager,
        endpoints=ENDPOINTS[TASKMANAGER],
        components=(COMPONENT, *OWN_COMPONENTS),
        settings=FlinkSettings,
        enabled=enabled,
        check=_check_taskmanagers,
        position=201,
    ),
    ServiceDefinition(
        name=GATEWAY,
        title="Flink SQL gateway",
        build=_gateway,
        endpoints=ENDPOINTS[GATEWAY],
        components=(COMPONENT, *OWN_COMPONENTS),
        settings=FlinkSettings,
        enabled=enabled,
        web_page=WebPage(GATEWAY_REST, "/v1/info"),
        position=202,
    ),
)
