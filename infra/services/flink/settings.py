# SPDX-License-Identifier: Apache-2.0
"""The configuration that all of Flink's JVMs share: where they meet, memory, checkpoints, lineage.

The names of services and endpoints are here, so that whoever speaks to the cluster needs nothing else of it.
"""

import json

from pydantic import Field

from infra import credentials
from infra.model import Endpoint, Site
from infra.namespaces import CHECKPOINT_BUCKET, flink_lineage
from infra.services import lineage, object_store
from infra.services.definition import FULL
from infra.settings import DURATION, Settings, SettingsSection, Switch, seconds

COMPONENT = "flink"
WINDOWS_COMPONENT = "supplier-windows"
PLANNER_COMPONENT = "flink-sql-lineage"

JOBMANAGER = "flink_jobmanager"
TASKMANAGER = "flink_taskmanager"
GATEWAY = "flink_sql_gateway"

# Flink's own port for REST, 8081, is the schema registry's too.
JOBMANAGER_REST = Endpoint("rest", 8084, scheme="http", published_as="flink")
JOBMANAGER_RPC = Endpoint("rpc", 6123)
JOBMANAGER_BLOBS = Endpoint("blobs", 6124)
JOBMANAGER_METRICS = Endpoint("metrics", 9249, scheme="http", published_as="flink_jobmanager_metrics")
TASKMANAGER_RPC = Endpoint("rpc", 6122)
TASKMANAGER_DATA = Endpoint("data", 6121)
TASKMANAGER_METRICS = Endpoint("metrics", 9250, scheme="http", published_as="flink_taskmanager_metrics")
GATEWAY_REST = Endpoint("rest", 8085, scheme="http", published_as="flink_sql_gateway")

CHECKPOINTS = f"s3://{CHECKPOINT_BUCKET}"
"""As Flink's own file system for S3 spells it; Spark's is called s3a."""

CHECKPOINT_FOLDER = f"{CHECKPOINTS}/flink"

CLUSTER_ID = "high-availability.cluster-id"
"""Without high availability Flink makes nothing of it; here it tells one lab's cluster from another's."""

FRAMEWORK_HEAP_MIB = 64
OFF_HEAP_MIB = 64
NETWORK_MIB = 32
MANAGED_MIB = 64

_SHARED_CLASSES_MIB = 192
_OVERHEAD_MIB = 128

Options = dict[str, str | int | bool]

_METRICS: Options = {
    "metrics.reporters": "prometheus",
    "metrics.reporter.prometheus.factory.class": "org.apache.flink.metrics.prometheus.PrometheusReporterFactory",
}
METRICS_PORT = "metrics.reporter.prometheus.port"
"""The one thing in which the JVMs differ."""


class FlinkSettings(SettingsSection):
    """Settings of the Flink cluster."""

    flink_heap_mib: int = Field(384, ge=256, description="largest heap of Flink's TaskManager, MiB")
    flink_slots: int = Field(
        4, ge=2, le=1024, description="slots of the TaskManager: a job takes as many as its parallelism"
    )
    flink_checkpoint_every: str = Field(
        "10s", pattern=DURATION, description="how often Flink's jobs make a checkpoint, and commit to the lake: 5s, 1m"
    )
    flink_metrics: Switch = Field(
        False,
        description="true: Flink's metrics for Prometheus, on ports that every interface can reach: it knows no other",
    )
    flink: Switch = Field(
        True, description="true: a Flink cluster with a SQL gateway, and the jobs that run there; false: nothing of it"
    )


FEATURE = "flink"
"""Name under which the lineage contract requires Flink."""


def enabled(settings: Settings) -> bool:
    """Return True where the lab has a Flink cluster."""
    return settings.profile == FULL and settings.section(FlinkSettings).flink


def flink_settings(site: Site, settings: Settings) -> Options:
    """What `config.yaml` says, on JobManager, TaskManager and gateway alike. Holds no secret."""
    return {
        CLUSTER_ID: cluster_id(site),
        **_places(site),
        **_memory(settings),
        "taskmanager.numberOfTaskSlots": settings.section(FlinkSettings).flink_slots,
        "parallelism.default": 1,
        **_checkpoints(settings),
        **_recovery(),
        **_object_store(site),
        # Nobody has to prove who they are here; to find that out takes a second of each start.
        "security.delegation.tokens.enabled": False,
        **flink_lineage(site.address(lineage.NAME, lineage.API.name).url),
        **(_METRICS if settings.section(FlinkSettings).flink_metrics else {}),
    }


def cluster_id(site: Site) -> str:
    """What tells this lab's cluster from every other that could be met at the same address."""
    return f"/flink of {site.identity}"


def rendered(options: Options) -> str:
    """As YAML: JSON's texts, numbers and truth values are YAML's too."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in options.items())


def direct_memory_mib() -> int:
    """What the TaskManager takes outside its heap by itself: buffers of the network, of the framework, of jobs."""
    return NETWORK_MIB + 2 * OFF_HEAP_MIB


def _places(site: Site) -> Options:
    rest, gateway = site.listen(JOBMANAGER, JOBMANAGER_REST.name), site.listen(GATEWAY, GATEWAY_REST.name)
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
        "taskmanager.host": site.address(TASKMANAGER, TASKMANAGER_RPC.name).host,
        "taskmanager.bind-host": worker.host,
        "taskmanager.rpc.port": str(worker.port),
        "taskmanager.data.port": site.listen(TASKMANAGER, TASKMANAGER_DATA.name).port,
        "sql-gateway.endpoint.rest.address": site.address(GATEWAY, GATEWAY_REST.name).host,
        "sql-gateway.endpoint.rest.bind-address": gateway.host,
        "sql-gateway.endpoint.rest.port": gateway.port,
        "sql-gateway.endpoint.rest.bind-port": str(gateway.port),
    }


def _memory(settings: Settings) -> Options:
    """Every part by itself, as Flink's scripts would have calculated them: a TaskManager refuses to start without."""
    sizes = {
        "framework.heap.size": FRAMEWORK_HEAP_MIB,
        "task.heap.size": settings.section(FlinkSettings).flink_heap_mib - FRAMEWORK_HEAP_MIB,
        "framework.off-heap.size": OFF_HEAP_MIB,
        "task.off-heap.size": OFF_HEAP_MIB,
        "network.min": NETWORK_MIB,
        "network.max": NETWORK_MIB,
        "managed.size": MANAGED_MIB,
        "jvm-metaspace.size": _SHARED_CLASSES_MIB,
        "jvm-overhead.min": _OVERHEAD_MIB,
        "jvm-overhead.max": _OVERHEAD_MIB,
    }
    return {"taskmanager.cpu.cores": 1} | {f"taskmanager.memory.{name}": f"{mib}m" for name, mib in sizes.items()}


def _checkpoints(settings: Settings) -> Options:
    """The newest checkpoint of a job outlives it: a cluster that is lost forgets its jobs, their launchers do not."""
    return {
        "execution.checkpointing.interval": f"{seconds(settings.section(FlinkSettings).flink_checkpoint_every)}s",
        "execution.checkpointing.dir": CHECKPOINT_FOLDER,
        "execution.checkpointing.savepoint-dir": f"{CHECKPOINT_FOLDER}/savepoints",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        # The launcher of a job that is lost looks for the newest one; the last that it saw may be gone by then.
        "execution.checkpointing.num-retained": 3,
        "execution.checkpointing.timeout": "2min",
        # A store that is away for a minute costs checkpoints, and no job.
        "execution.checkpointing.tolerable-failed-checkpoints": 12,
    }


def _recovery() -> Options:
    """A task that fails is tried again a few times; then the job has failed, and its launcher takes over."""
    return {
        "restart-strategy.type": "exponential-delay",
        "restart-strategy.exponential-delay.initial-backoff": "1s",
        "restart-strategy.exponential-delay.max-backoff": "10s",
        "restart-strategy.exponential-delay.backoff-multiplier": "2.0",
        "restart-strategy.exponential-delay.reset-backoff-threshold": "1min",
        "restart-strategy.exponential-delay.attempts-before-reset-backoff": 4,
        "heartbeat.interval": "5s",
        "heartbeat.timeout": "30s",
    }


def _object_store(site: Site) -> Options:
    return {
        "s3.endpoint": site.address(object_store.NAME, object_store.S3.name).url,
        "s3.endpoint.region": credentials.S3_REGION,
        "s3.path-style-access": True,
    }
