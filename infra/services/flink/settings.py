# SPDX-License-Identifier: Apache-2.0
"""Configuration shared by Flink's JVMs: addresses, memory, checkpoints, lineage.

Names of services and endpoints are defined here, so that clients of the cluster import only this module.
"""

import json

from pydantic import Field

from infra import credentials
from infra.model import Endpoint, Site
from infra.namespaces import CHECKPOINT_BUCKET, flink_lineage_settings
from infra.project import PROJECT
from infra.services import lineage, object_store
from infra.services.definition import FULL
from infra.settings import DURATION, BooleanSetting, Settings, SettingsSection, duration_seconds

COMPONENT = "flink"
GUARD_COMPONENT = "rest-guard"
TRANSPORT_COMPONENTS = ("flink-lineage-transport", lineage.SPOOL_COMPONENT)
"""Transports of OpenLineage's listener, which is in every JVM that submits or runs jobs."""

WINDOWS_COMPONENT = "supplier-windows"
PLANNER_COMPONENT = "flink-sql-lineage"
PYTHON_ENVIRONMENT = "pyflink"


JOBMANAGER = "flink_jobmanager"
TASKMANAGER = "flink_taskmanager"
GATEWAY = "flink_sql_gateway"

# Flink's default REST port, 8081, is taken by the schema registry.
JOBMANAGER_REST = Endpoint("rest", 8084, scheme="http", published_as="flink")
JOBMANAGER_RPC = Endpoint("rpc", 6123)
JOBMANAGER_BLOBS = Endpoint("blobs", 6124)
JOBMANAGER_METRICS = Endpoint("metrics", 9249, scheme="http", published_as="flink_jobmanager_metrics")
TASKMANAGER_RPC = Endpoint("rpc", 6122)
TASKMANAGER_DATA = Endpoint("data", 6121)
TASKMANAGER_METRICS = Endpoint("metrics", 9250, scheme="http", published_as="flink_taskmanager_metrics")
GATEWAY_REST = Endpoint("rest", 8085, scheme="http", published_as="flink_sql_gateway")

CHECKPOINTS = f"s3://{CHECKPOINT_BUCKET}"
"""Root of checkpoints; Flink's S3 file system uses the scheme s3, Spark's uses s3a."""

CHECKPOINT_FOLDER = f"{CHECKPOINTS}/flink"

CLUSTER_ID = "high-availability.cluster-id"
"""Option that identifies this lab's cluster; Flink itself only uses it with high availability."""

FRAMEWORK_HEAP_MIB = 64
OFF_HEAP_MIB = 64
NETWORK_MIB = 32
MANAGED_MIB = 64
METASPACE_MIB = 192
JVM_OVERHEAD_MIB = 128
"""Memory components of the TaskManager, MiB; `OFF_HEAP_MIB` applies to framework and tasks each."""

Options = dict[str, str | int | bool]

SLOT_WAITING: Options = {
    # After this time the JobManager rejects requests for missing slots at once: the retries of a job would be over
    # within 15 s, before a restarted TaskManager has registered. Flink's default is slot.request.timeout, 5 min;
    # Pekko's timers reject more than 248 days.
    "resourcemanager.standalone.start-up-time": "200 d",
}
"""Jobs wait for slots, up to slot.request.timeout for each attempt: of a restarted TaskManager, or of jobs that end."""

_METRICS: Options = {
    "metrics.reporters": "prometheus",
    "metrics.reporter.prometheus.factory.class": "org.apache.flink.metrics.prometheus.PrometheusReporterFactory",
}
METRICS_PORT = "metrics.reporter.prometheus.port"
"""Option for the metrics port, the only one that differs between the JVMs."""


class FlinkSettings(SettingsSection):
    """Settings of the Flink cluster."""

    flink_heap_mib: int = Field(384, ge=256, description="maximum heap of Flink's TaskManager, MiB")
    flink_taskmanagers: int = Field(
        1, ge=1, le=64, description="TaskManagers of Flink; more than one with target kubernetes"
    )
    flink_slots: int = Field(
        4, ge=2, le=1024, description="task slots of the TaskManager; a job occupies as many as its parallelism"
    )
    flink_checkpoint_every: str = Field(
        "10s", pattern=DURATION, description="interval of Flink checkpoints and of commits to the lake: 5s, 1m"
    )
    flink_metrics: BooleanSetting = Field(
        False,
        description="true: Prometheus metrics of Flink; Flink serves these on all network interfaces",
    )
    flink: BooleanSetting = Field(
        True, description="true: a Flink cluster with SQL gateway, and the jobs that run on it; false: no Flink"
    )
    flink_python: BooleanSetting = Field(False, description="true: PyFlink programs run on the Flink cluster")


FEATURE = "flink"
"""Name of the Flink feature in the lineage contract (`requires`)."""


def enabled(settings: Settings) -> bool:
    """Return True if the lab has a Flink cluster."""
    return settings.profile == FULL and settings.section(FlinkSettings).flink


def python_jar(site: Site) -> str:
    """Return the path of Flink's Python jar."""
    requirement = (PROJECT / "requirements" / f"{PYTHON_ENVIRONMENT}.in").read_text(encoding="utf-8")
    version = requirement.rpartition("==")[2].strip()
    return f"{python_jar_folder(site)}/flink-python-{version}.jar"


def python_jar_folder(site: Site) -> str:
    """Return the folder of Flink's Python jar. PyFlink's environment has it: all labs have the component."""
    return f"{site.python_packages(PYTHON_ENVIRONMENT)}/pyflink/opt"


def python_included(settings: Settings) -> bool:
    """Return True if PyFlink programs can run on the cluster."""
    return enabled(settings) and settings.section(FlinkSettings).flink_python


def flink_settings(site: Site, settings: Settings) -> Options:
    """Return the options of `config.yaml` for JobManager, TaskManager and gateway; contains no secret."""
    return {
        CLUSTER_ID: cluster_id(site),
        **_addresses(site),
        **_common_options(site, settings),
        **(_METRICS if settings.section(FlinkSettings).flink_metrics else {}),
    }


def application_settings(site: Site, settings: Settings) -> Options:
    """Return the options of a cluster that a launcher starts for one job, without addresses; contains no secret."""
    # With Flink's default, *, any page in the user's browser could read the job's id.
    return {"web.access-control-allow-origin": "http://127.0.0.1", **_common_options(site, settings)}


def _common_options(site: Site, settings: Settings) -> Options:
    return {
        **_memory(settings),
        "taskmanager.numberOfTaskSlots": settings.section(FlinkSettings).flink_slots,
        "parallelism.default": 1,
        **_checkpoints(settings),
        **_recovery(),
        **_object_store(site),
        # Without authentication there are no delegation tokens; detecting that takes 1 s of every start.
        "security.delegation.tokens.enabled": False,
        **flink_lineage_settings(site.address(lineage.NAME, lineage.API.name).url),
    }


def cluster_id(site: Site) -> str:
    """Return the id of this lab's cluster, which distinguishes it from other clusters at the same address."""
    return f"/flink of {site.identity}"


def render_yaml(options: Options) -> str:
    """Render options as YAML; JSON scalars are valid YAML."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in options.items())


def direct_memory_mib() -> int:
    """Return the direct memory of the TaskManager, MiB: buffers of the network, of the framework and of tasks."""
    return NETWORK_MIB + 2 * OFF_HEAP_MIB


def _addresses(site: Site) -> Options:
    rest, gateway = site.listen(JOBMANAGER, JOBMANAGER_REST.name), site.listen(GATEWAY, GATEWAY_REST.name)
    taskmanager = site.address(TASKMANAGER, TASKMANAGER_RPC.name).host
    manager, worker = site.listen(JOBMANAGER, JOBMANAGER_RPC.name), site.listen(TASKMANAGER, TASKMANAGER_RPC.name)
    return {
        "jobmanager.rpc.address": site.address(JOBMANAGER, JOBMANAGER_RPC.name).host,
        "jobmanager.rpc.port": manager.port,
        "jobmanager.bind-host": manager.host,
        "blob.server.port": str(site.listen(JOBMANAGER, JOBMANAGER_BLOBS.name).port),
        "rest.address": site.address(JOBMANAGER, JOBMANAGER_REST.name).host,
        "rest.port": rest.port,
        "rest.bind-port": str(rest.port),
        "rest.bind-address": rest.host,
        # Of JobManager and gateway. With Flink's default, *, any page in the user's browser could read job and jar ids.
        "web.access-control-allow-origin": site.address(JOBMANAGER, JOBMANAGER_REST.name).url,
        # Several TaskManagers register with the address of their network interface, Flink's default.
        **({} if site.own_host_variable else {"taskmanager.host": taskmanager}),
        "taskmanager.bind-host": worker.host,
        "taskmanager.rpc.port": str(worker.port),
        "taskmanager.data.port": site.listen(TASKMANAGER, TASKMANAGER_DATA.name).port,
        "sql-gateway.endpoint.rest.address": site.address(GATEWAY, GATEWAY_REST.name).host,
        "sql-gateway.endpoint.rest.bind-address": gateway.host,
        "sql-gateway.endpoint.rest.port": gateway.port,
        "sql-gateway.endpoint.rest.bind-port": str(gateway.port),
    }


def _memory(settings: Settings) -> Options:
    """Return all memory components, which Flink's scripts would compute; a TaskManager does not start without them."""
    sizes = {
        "framework.heap.size": FRAMEWORK_HEAP_MIB,
        "task.heap.size": settings.section(FlinkSettings).flink_heap_mib - FRAMEWORK_HEAP_MIB,
        "framework.off-heap.size": OFF_HEAP_MIB,
        "task.off-heap.size": OFF_HEAP_MIB,
        "network.min": NETWORK_MIB,
        "network.max": NETWORK_MIB,
        "managed.size": MANAGED_MIB,
        "jvm-metaspace.size": METASPACE_MIB,
        "jvm-overhead.min": JVM_OVERHEAD_MIB,
        "jvm-overhead.max": JVM_OVERHEAD_MIB,
    }
    return {"taskmanager.cpu.cores": 1} | {f"taskmanager.memory.{name}": f"{mib}m" for name, mib in sizes.items()}


def _checkpoints(settings: Settings) -> Options:
    """Return checkpoint options; checkpoints are retained, so that launchers can recover jobs of a lost cluster."""
    interval = duration_seconds(settings.section(FlinkSettings).flink_checkpoint_every)
    return {
        "execution.checkpointing.interval": f"{interval}s",
        "execution.checkpointing.dir": CHECKPOINT_FOLDER,
        "execution.checkpointing.savepoint-dir": f"{CHECKPOINT_FOLDER}/savepoints",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        # Launchers search for the newest checkpoint; the last one that they recorded may have been deleted.
        "execution.checkpointing.num-retained": 3,
        "execution.checkpointing.timeout": "2min",
        # A short outage of the object store fails checkpoints, but no job.
        "execution.checkpointing.tolerable-failed-checkpoints": 12,
    }


def _recovery() -> Options:
    """Return restart options: failed tasks are retried with backoff; then the job fails and its launcher takes over."""
    return {
        "restart-strategy.type": "exponential-delay",
        "restart-strategy.exponential-delay.initial-backoff": "1s",
        "restart-strategy.exponential-delay.max-backoff": "10s",
        "restart-strategy.exponential-delay.backoff-multiplier": "2.0",
        "restart-strategy.exponential-delay.reset-backoff-threshold": "1min",
        "restart-strategy.exponential-delay.attempts-before-reset-backoff": 4,
        "heartbeat.interval": "5s",
        "heartbeat.timeout": "30s",
        **SLOT_WAITING,
    }


def _object_store(site: Site) -> Options:
    return {
        "s3.endpoint": site.address(object_store.NAME, object_store.S3.name).url,
        "s3.endpoint.region": credentials.S3_REGION,
        "s3.path-style-access": True,
    }
