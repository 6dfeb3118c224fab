# SPDX-License-Identifier: Apache-2.0
"""Flink's jobs: for each one a launcher, which submits it, sees to it and speaks of it, and the job itself."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from infra import credentials
from infra.model import FlinkJob, Part, Python, Service, Site, Task
from infra.namespaces import (
    ARCHIVE,
    CHECKPOINT_BUCKET,
    JOB_SUPPLIER_WINDOWS,
    JOBS,
    KAFKA,
    TOPIC_ORDERS,
    TOPIC_SUPPLIER_WINDOWS,
    WAREHOUSE,
    WAREHOUSE_BUCKET,
)
from infra.project import PROJECT
from infra.services import iceberg_catalog, jvm, kafka, lineage, object_store, schema_registry
from infra.services.definition import Draft
from infra.services.flink import cluster as flink
from infra.services.flink.settings import (
    CHECKPOINTS,
    COMPONENT,
    GATEWAY,
    GATEWAY_REST,
    JOBMANAGER,
    JOBMANAGER_REST,
    PLANNER_COMPONENT,
    TASKMANAGER,
    WINDOWS_COMPONENT,
    cluster_id,
    enabled,
)
from infra.services.shop import tables as shop_tables
from infra.services.shop.tables import UNLIMITED_RETENTION
from infra.settings import Settings

SQL_LAUNCHER = "lineagelab_flink.launch_sql"
JAR_LAUNCHER = "lineagelab_flink.launch_jar"

WINDOWS_COLUMNS = PROJECT / "jobs" / "flink" / WINDOWS_COMPONENT / "columns.json"
"""Column lineage that the job in Java declares."""

COLUMNS_FILE = "columns.json"
DATASET_NAMESPACES = {"kafka": KAFKA, "lake": WAREHOUSE, "archive": ARCHIVE}
"""Aliases in such a declaration -> namespaces."""

PLANNER_MAIN = "dev.lineagelab.flink.sql.Main"

PLANNER_HEAP_MIB = 256

STATE = "state"
STATE_FILE = "job.json"
OPEN_RUNS_FILE = "untold.json"

MEMORY_MIB = 64
SQL_MEMORY_MIB = MEMORY_MIB + PLANNER_HEAP_MIB
"""Of a launcher, and of one that has Flink's planner read its SQL for a moment."""

STOP_SECONDS = 60
"""A savepoint, and the last events; the launcher gives up before that."""


@dataclass(frozen=True)
class SqlJob:
    """A file of SQL that is a job.

    Attributes:
        name: of the file and of the job.
        text: what the file says.
        stays: it runs on, rather than to its end.
        needs: keys of the parts that must be there first, beside what every job needs.
    """

    name: str
    text: str
    stays: bool
    needs: tuple[str, ...] = ()


def services(site: Site, settings: Settings) -> tuple[Service, ...]:
    """The launchers of the kit's jobs in Java."""
    return (
        _launcher(
            JOB_SUPPLIER_WINDOWS,
            Python(JAR_LAUNCHER, supplier_windows_arguments(site), components=(WINDOWS_COMPONENT,)),
            site,
            {"FLINK_JOB_JAR": site.built_jar(WINDOWS_COMPONENT)},
            needs=(f"topic/{TOPIC_SUPPLIER_WINDOWS}", *_orders()),
            files={COLUMNS_FILE: WINDOWS_COLUMNS.read_text(encoding="utf-8")},
        ),
    )


def supplier_windows_arguments(site: Site) -> tuple[str, ...]:
    """Arguments of the launcher: its options, the job's name, arguments of the jar's main class."""
    return (
        *("--columns", site.file(JOB_SUPPLIER_WINDOWS, COLUMNS_FILE)),
        *(word for pair in DATASET_NAMESPACES.items() for word in ("--dataset-namespace", "=".join(pair))),
        JOB_SUPPLIER_WINDOWS,
        *("--name", JOB_SUPPLIER_WINDOWS),
        *("--bootstrap", str(site.address(kafka.NAME, kafka.BROKER.name))),
        *("--registry", _registry(site)),
        *("--orders", TOPIC_ORDERS),
        *("--windows", TOPIC_SUPPLIER_WINDOWS),
    )


def jobs(launchers: tuple[Service, ...], site: Site) -> tuple[FlinkJob, ...]:
    """Return the jobs that launchers keep running."""
    rest = site.address(JOBMANAGER, JOBMANAGER_REST.name, "outside").url
    return tuple(
        FlinkJob(
            name=launcher.name,
            launcher=launcher.key,
            notes=state_file(launcher.name, site),
            rest=rest,
            cluster=cluster_id(site),
            needs=(launcher.key,),
        )
        for launcher in launchers
    )


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the lab's Flink jobs in Java with their launchers, and the topic that they write."""
    if not enabled(draft.settings):
        return ()
    launchers = services(draft.site, draft.settings)
    topic = kafka.topic(draft.site, TOPIC_SUPPLIER_WINDOWS, config=UNLIMITED_RETENTION)
    return (*launchers, topic, *jobs(launchers, draft.site))


def state_file(launcher: str, site: Site) -> str:
    """The path of the file in which the launcher of a job that runs on keeps what it must not forget."""
    return f"{site.volume(launcher, STATE)}/{STATE_FILE}"


def sql_service(job: SqlJob, site: Site, prelude: Mapping[str, str]) -> Service:
    """The launcher of a SQL job that runs on. `prelude` are files that stand beside the job's own."""
    run, files = _sql(job, site, prelude)
    launcher = _launcher(job.name, run, site, _sql_environment(site), (GATEWAY, *job.needs), files)
    return replace(launcher, memory_mib=SQL_MEMORY_MIB)


def sql_task(job: SqlJob, site: Site, prelude: Mapping[str, str]) -> Task:
    """A SQL job that reads what is there and ends."""
    run, files = _sql(job, site, prelude)
    environment = {**_environment(job.name, site, site.scratch(job.name)), **_sql_environment(site)}
    return Task(
        name=job.name,
        run=run,
        needs=tuple(dict.fromkeys((*_everybody(), GATEWAY, *job.needs))),
        files=files,
        env=environment,
        secrets=flink.SECRETS,
        memory_mib=SQL_MEMORY_MIB,
        stop_seconds=STOP_SECONDS,
    )


def _launcher(
    name: str,
    run: Python,
    site: Site,
    more: Mapping[str, str],
    needs: tuple[str, ...],
    files: Mapping[str, str] | None = None,
) -> Service:
    """It ends well when somebody else has cancelled its job, and then stays away: the user wanted that."""
    return Service(
        name=name,
        run=run,
        needs=tuple(dict.fromkeys((*_everybody(), *needs))),
        files=files or {},
        volumes=(STATE,),
        env={**_environment(name, site, site.volume(name, STATE)), **more},
        secrets=flink.SECRETS,
        memory_mib=MEMORY_MIB,
        restart="on_failure",
        stop_seconds=STOP_SECONDS,
    )


def _sql(job: SqlJob, site: Site, prelude: Mapping[str, str]) -> tuple[Python, dict[str, str]]:
    """The files are the launcher's own, so that it starts anew when one of them changes."""
    file = f"{job.name}.sql"
    components = (COMPONENT, PLANNER_COMPONENT)
    run = Python(SQL_LAUNCHER, (site.file(job.name, file),), components=components, java=True)
    return run, {**prelude, file: job.text}


def _everybody() -> tuple[str, ...]:
    buckets = (f"bucket/{CHECKPOINT_BUCKET}", f"bucket/{WAREHOUSE_BUCKET}")
    return (JOBMANAGER, TASKMANAGER, lineage.NAME, *buckets)


def _orders() -> tuple[str, ...]:
    """What the readers of orders need: the topic, and the schema that its records have."""
    return (f"topic/{TOPIC_ORDERS}", f"subject/{shop_tables.subject_name(TOPIC_ORDERS)}")


def _environment(name: str, site: Site, kept: str) -> dict[str, str]:
    """What every launcher is told. `kept` is the folder for what it must not forget."""
    return {
        "FLINK_URL": site.address(JOBMANAGER, JOBMANAGER_REST.name).url,
        "KAFKA_BOOTSTRAP": str(site.address(kafka.NAME, kafka.BROKER.name)),
        "SCHEMA_REGISTRY_URL": _registry(site),
        "S3_ENDPOINT": site.address(object_store.NAME, object_store.S3.name).url,
        "AWS_REGION": credentials.S3_REGION,
        "CHECKPOINTS": CHECKPOINTS,
        "LINEAGE_URL": site.address(lineage.NAME, lineage.API.name).url,
        "OPENLINEAGE_NAMESPACE": JOBS,
        "LINEAGE_OPEN_RUNS": f"{kept}/{OPEN_RUNS_FILE}",
        "FLINK_STATE": f"{kept}/{STATE_FILE}",
    }


def _registry(site: Site) -> str:
    return site.address(schema_registry.NAME, schema_registry.API.name).url + schema_registry.CONFLUENT_API


def _sql_environment(site: Site) -> dict[str, str]:
    return {
        "FLINK_SQL_GATEWAY_URL": site.address(GATEWAY, GATEWAY_REST.name).url,
        "ICEBERG_CATALOG_URL": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        "FLINK_SQL_LINEAGE": shlex.join(_planner(site)),
    }


def _planner(site: Site) -> tuple[str, ...]:
    """The command that reads the lineage of a script: Flink's planner on the cluster's own jars, without a cluster."""
    return (
        *(site.java(), f"-Xmx{PLANNER_HEAP_MIB}m", *jvm.LEAN_SERVICE, *jvm.QUICK_COMPILER),
        *("-cp", f"{site.class_path(COMPONENT)}:{site.class_path(PLANNER_COMPONENT)}", PLANNER_MAIN),
    )
