# SPDX-License-Identifier: Apache-2.0
"""Flink jobs: each has a launcher, which submits the job, monitors it and reports its lineage."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from infra import credentials
from infra.model import FlinkJob, Part, Python, Service, Site, Task
from infra.namespaces import (
    ARCHIVE_NAMESPACE,
    CHECKPOINT_BUCKET,
    FLINK_JOB_ID_PREFIX,
    JOB_NAMESPACE,
    JOB_SUPPLIER_WINDOWS,
    KAFKA_NAMESPACE,
    TOPIC_ORDERS,
    TOPIC_SUPPLIER_WINDOWS,
    WAREHOUSE_BUCKET,
    WAREHOUSE_NAMESPACE,
)
from infra.project import PROJECT
from infra.security import kafka_login
from infra.services import iceberg_catalog, jvm, kafka, kafka_access, lineage, object_store, schema_registry, tls
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
    PYTHON_ENVIRONMENT,
    TASKMANAGER,
    TRANSPORT_COMPONENTS,
    WINDOWS_COMPONENT,
    cluster_id,
    enabled,
    python_jar,
)
from infra.services.shop import tables as shop_tables
from infra.services.shop.tables import UNLIMITED_RETENTION
from infra.user_files import ARGUMENTS_SUFFIX, PROGRAM_FOLDER, PROGRAM_SUFFIX

SQL_LAUNCHER = "lineagelab_flink.launch_sql"
JAR_LAUNCHER = "lineagelab_flink.launch_jar"
PYTHON_LAUNCHER = "lineagelab_flink.launch_python"
PYTHON_PROGRAM = "lineagelab_flink.python_program"
"""Script that `PYTHON_LAUNCHER` runs with the interpreter of PyFlink."""

WINDOWS_COLUMNS = PROJECT / "jobs" / "flink" / WINDOWS_COMPONENT / "columns.json"
"""Column lineage declared for the Java job."""

COLUMNS_FILE = "columns.json"
DATASET_NAMESPACES = {"kafka": KAFKA_NAMESPACE, "lake": WAREHOUSE_NAMESPACE, "archive": ARCHIVE_NAMESPACE}
"""Alias in the declaration -> namespace."""

PLANNER_MAIN = "dev.lineagelab.flink.sql.Main"
JAR_PLANNER_MAIN = "dev.lineagelab.flink.sql.JarMain"

PLANNER_HEAP_MIB = 256

STATE = "state"
STATE_FILE = "job.json"
UNDELIVERED_EVENTS_FILE = "undelivered.json"

LAUNCHER_MEMORY_MIB = 64
SQL_LAUNCHER_MEMORY_MIB = LAUNCHER_MEMORY_MIB + PLANNER_HEAP_MIB
PYTHON_LAUNCHER_MEMORY_MIB = LAUNCHER_MEMORY_MIB + 2 * (PLANNER_HEAP_MIB + 128)
"""Memory of a launcher, MiB; a SQL launcher briefly runs Flink's planner to extract lineage, a Python launcher the
program with PyFlink twice at once, to submit and to describe its job.
"""

STOP_SECONDS = 60
"""Grace period for a savepoint and the last lineage events; the launcher's own timeout is shorter."""


@dataclass(frozen=True)
class SqlJob:
    """Flink SQL file with a job header.

    Attributes:
        name: name of the job; the file name without suffix.
        text: content of the file.
        continuous: the job runs continuously as a service; otherwise it is a task that runs to completion.
        needs: keys of further parts that must exist first.
        own_cluster: the launcher starts a cluster for this job alone (Flink's application mode).
    """

    name: str
    text: str
    continuous: bool
    needs: tuple[str, ...] = ()
    own_cluster: bool = False


@dataclass(frozen=True)
class JarJob:
    """Jar of a user with a job header.

    Attributes:
        name: name of the job; the file name without suffix.
        jar: path of the jar in the checkout.
        arguments: text of the argument file.
        columns: text of the declared lineage; empty for none.
        main_class: empty for the one that the jar's manifest names.
        by_planner: Flink's planner derives the columns of its job.
        continuous, needs, own_cluster: as of `SqlJob`.
    """

    name: str
    jar: str
    arguments: str
    columns: str
    main_class: str
    by_planner: bool
    continuous: bool
    needs: tuple[str, ...] = ()
    own_cluster: bool = False


@dataclass(frozen=True)
class PythonJob:
    """PyFlink program of a user with a job header.

    Attributes:
        name: name of the job; the file name without suffix.
        arguments: of the program.
        columns: text of the declared lineage; empty for none.
        by_listener: OpenLineage's listener reports what the job reads and writes, and nothing its columns.
        modules: paths in the checkout of files that the program may import.
        continuous, needs, own_cluster: as of `SqlJob`.
    """

    name: str
    arguments: tuple[str, ...]
    columns: str
    by_listener: bool
    modules: tuple[str, ...]
    continuous: bool
    needs: tuple[str, ...] = ()
    own_cluster: bool = False


def jar_launchers(site: Site) -> tuple[Service, ...]:
    """Return the launchers of the lab's Java jobs."""
    return (
        _launcher(
            JOB_SUPPLIER_WINDOWS,
            Python(JAR_LAUNCHER, supplier_windows_arguments(site), components=(WINDOWS_COMPONENT,)),
            site,
            {"FLINK_JOB_JAR": site.built_jar(WINDOWS_COMPONENT)},
            needs=(f"topic/{TOPIC_SUPPLIER_WINDOWS}", *_orders_topic_needs()),
            files={COLUMNS_FILE: WINDOWS_COLUMNS.read_text(encoding="utf-8")},
        ),
    )


def supplier_windows_arguments(site: Site) -> tuple[str, ...]:
    """Return the launcher's arguments: its options, the job's name, arguments of the main class."""
    return (
        *_columns_options(JOB_SUPPLIER_WINDOWS, site),
        JOB_SUPPLIER_WINDOWS,
        *("--name", JOB_SUPPLIER_WINDOWS),
        *("--bootstrap", str(site.address(kafka.NAME, kafka.BROKER.name))),
        *(("--security-protocol", kafka_login.PROTOCOL) if site.tls else ()),
        *("--registry", schema_registry.confluent_api(site)),
        *("--orders", TOPIC_ORDERS),
        *("--windows", TOPIC_SUPPLIER_WINDOWS),
    )


def _columns_options(launcher: str, site: Site) -> tuple[str, ...]:
    return (
        *("--columns", site.file(launcher, COLUMNS_FILE)),
        *(word for pair in DATASET_NAMESPACES.items() for word in ("--dataset-namespace", "=".join(pair))),
    )


def launched_jobs(launchers: tuple[Service, ...], site: Site) -> tuple[FlinkJob, ...]:
    """Return the Flink job of each launcher."""
    session = {
        "rest": site.address(JOBMANAGER, JOBMANAGER_REST.name, "outside").url,
        "cluster": cluster_id(site),
    }
    return tuple(
        FlinkJob(
            name=launcher.name,
            launcher=launcher.key,
            notes=state_file(launcher.name, site),
            needs=(launcher.key,),
            **(session if JOBMANAGER in launcher.needs else {}),
        )
        for launcher in launchers
    )


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the lab's Flink jobs in Java with their launchers, and the topic that they write."""
    if not enabled(draft.settings):
        return ()
    launchers = jar_launchers(draft.site)
    topic = kafka.topic(draft.site, TOPIC_SUPPLIER_WINDOWS, config=UNLIMITED_RETENTION)
    return (*launchers, topic, *launched_jobs(launchers, draft.site))


def state_file(launcher: str, site: Site) -> str:
    """Return the path of the file in which the launcher of a continuous job persists its state."""
    return f"{site.volume(launcher, STATE)}/{STATE_FILE}"


def sql_service(job: SqlJob, site: Site, prelude: Mapping[str, str]) -> Service:
    """Return the launcher of a continuous SQL job; `prelude` are the SQL files without a job header."""
    run, files = _sql_program(job, site, prelude)
    launcher = _launcher(job.name, run, site, _sql_environment(site), (GATEWAY, *job.needs), files)
    return replace(launcher, memory_mib=SQL_LAUNCHER_MEMORY_MIB)


def jar_service(job: JarJob, site: Site) -> Service:
    """Return the launcher of a continuous job of a user's jar."""
    run, files = _jar_program(job, site)
    launcher = _launcher(job.name, run, site, _jar_environment(job, site), job.needs, files)
    return replace(launcher, memory_mib=_jar_launcher_memory_mib(job))


def jar_task(job: JarJob, site: Site) -> Task:
    """Return the task of a user's jar on bounded input."""
    run, files = _jar_program(job, site)
    return _task(job.name, run, site, _jar_environment(job, site), job.needs, files, _jar_launcher_memory_mib(job))


def python_service(job: PythonJob, site: Site) -> Service:
    """Return the launcher of a continuous job of a PyFlink program."""
    run, files = _python_program(job, site)
    launcher = _launcher(job.name, run, site, _python_environment(job, site), job.needs, files)
    listener = flink.listener_config(job.name, site)
    return replace(launcher, memory_mib=PYTHON_LAUNCHER_MEMORY_MIB, secret_files=listener)


def python_task(job: PythonJob, site: Site) -> Task:
    """Return the task of a PyFlink program on bounded input."""
    run, files = _python_program(job, site)
    environment = _python_environment(job, site)
    task = _task(job.name, run, site, environment, job.needs, files, PYTHON_LAUNCHER_MEMORY_MIB)
    return replace(task, secret_files=flink.listener_config(job.name, site))


def sql_task(job: SqlJob, site: Site, prelude: Mapping[str, str]) -> Task:
    """Return the task of a SQL job on bounded input."""
    run, files = _sql_program(job, site, prelude)
    needs = (GATEWAY, *job.needs)
    return _task(job.name, run, site, _sql_environment(site), needs, files, SQL_LAUNCHER_MEMORY_MIB)


def _launcher(
    name: str,
    run: Python,
    site: Site,
    environment: Mapping[str, str],
    needs: tuple[str, ...],
    files: Mapping[str, str] | None = None,
) -> Service:
    """Return a launcher; it exits with status 0, and is not restarted, after a user has cancelled its job."""
    return Service(
        name=name,
        run=run,
        needs=tuple(dict.fromkeys((*_common_needs(), *needs))),
        files=files or {},
        volumes=(STATE,),
        env={**_launcher_environment(name, site, site.volume(name, STATE)), **environment},
        secrets=flink.SECRETS | lineage.EMITTER_SECRETS,
        memory_mib=LAUNCHER_MEMORY_MIB,
        restart="on_failure",
        stop_seconds=STOP_SECONDS,
    )


def _task(
    name: str,
    run: Python,
    site: Site,
    environment: Mapping[str, str],
    needs: tuple[str, ...],
    files: Mapping[str, str],
    memory_mib: int,
) -> Task:
    """Return the launcher of a job that runs to completion."""
    return Task(
        name=name,
        run=run,
        needs=tuple(dict.fromkeys((*_common_needs(), *needs))),
        files=files,
        env={**_launcher_environment(name, site, site.scratch(name)), **environment},
        secrets=flink.SECRETS | lineage.EMITTER_SECRETS,
        memory_mib=memory_mib,
        stop_seconds=STOP_SECONDS,
    )


def _jar_program(job: JarJob, site: Site) -> tuple[Python, dict[str, str]]:
    """Return the program and the files of the launcher of a user's jar."""
    arguments_file = f"{job.name}{ARGUMENTS_SUFFIX}"
    arguments = (
        *("--arguments", site.file(job.name, arguments_file)),
        *(("--main", job.main_class) if job.main_class else ()),
        *(_columns_options(job.name, site) if job.columns else ()),
        job.name,
    )
    files = {arguments_file: job.arguments, **({COLUMNS_FILE: job.columns} if job.columns else {})}
    components = (COMPONENT, PLANNER_COMPONENT) if job.by_planner else ()
    return Python(JAR_LAUNCHER, arguments, reads=(job.jar,), components=components, java=job.by_planner), files


def _jar_launcher_memory_mib(job: JarJob) -> int:
    return SQL_LAUNCHER_MEMORY_MIB if job.by_planner else LAUNCHER_MEMORY_MIB


def _jar_environment(job: JarJob, site: Site) -> dict[str, str]:
    command = (*_planner_jvm(site), *flink.MODULE_OPTIONS, JAR_PLANNER_MAIN)
    return {
        "FLINK_JOB_JAR": site.project_file(job.jar),
        **({"FLINK_JAR_LINEAGE": shlex.join(command)} if job.by_planner else {}),
        "ICEBERG_CATALOG_URL": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
    }


def _python_program(job: PythonJob, site: Site) -> tuple[Python, dict[str, str]]:
    """Return the program and the files of the launcher of a PyFlink program."""
    file = f"{PROGRAM_FOLDER}/{job.name}{PROGRAM_SUFFIX}"
    columns = _columns_options(job.name, site) if job.columns else ()
    listener = ("--listener",) if job.by_listener else ()
    modules = (word for path in job.modules for word in ("--module", site.project_file(path)))
    run = Python(
        PYTHON_LAUNCHER,
        (*columns, *listener, *modules, site.project_file(file), *job.arguments),
        uses=(PYTHON_PROGRAM,),
        reads=(file, *job.modules),
        components=(COMPONENT, PLANNER_COMPONENT, *TRANSPORT_COMPONENTS),
        packages=(PYTHON_ENVIRONMENT,),
        java=True,
    )
    return run, {COLUMNS_FILE: job.columns} if job.columns else {}


def _python_environment(job: PythonJob, site: Site) -> dict[str, str]:
    return {
        "FLINK_PYTHON": site.python(PYTHON_ENVIRONMENT),
        "FLINK_PYTHON_GATEWAY": shlex.join(_python_gateway_command(site)),
        "ICEBERG_CATALOG_URL": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        # The program's JVM reports the job's datasets, unless its launcher does.
        **flink.listener_environment(job.name, site),
    }


def _sql_program(job: SqlJob, site: Site, prelude: Mapping[str, str]) -> tuple[Python, dict[str, str]]:
    """Return the program and the files of a SQL launcher, which restarts when a file changes."""
    file = f"{job.name}.sql"
    components = (COMPONENT, PLANNER_COMPONENT)
    run = Python(SQL_LAUNCHER, (site.file(job.name, file),), components=components, java=True)
    return run, {**prelude, file: job.text}


def _common_needs() -> tuple[str, ...]:
    buckets = (f"bucket/{CHECKPOINT_BUCKET}", f"bucket/{WAREHOUSE_BUCKET}")
    return (JOBMANAGER, TASKMANAGER, lineage.NAME, *buckets)


def _orders_topic_needs() -> tuple[str, ...]:
    """Return what readers of the orders topic need: the topic and the subject of its values."""
    return (f"topic/{TOPIC_ORDERS}", f"subject/{shop_tables.subject_name(TOPIC_ORDERS)}")


def _launcher_environment(name: str, site: Site, state_folder: str) -> dict[str, str]:
    """Return the environment of every launcher; `state_folder` is where it persists its state."""
    return {
        "FLINK_JOB_ID_PREFIX": FLINK_JOB_ID_PREFIX,
        "FLINK_URL": site.address(JOBMANAGER, JOBMANAGER_REST.name).url,
        "KAFKA_BOOTSTRAP": str(site.address(kafka.NAME, kafka.BROKER.name)),
        **kafka_access.protocol_environment(site),
        "SCHEMA_REGISTRY_URL": schema_registry.confluent_api(site),
        "S3_ENDPOINT": site.address(object_store.NAME, object_store.S3.name).url,
        "AWS_REGION": credentials.S3_REGION,
        "CHECKPOINTS": CHECKPOINTS,
        "LINEAGE_URL": site.address(lineage.NAME, lineage.API.name).url,
        "OPENLINEAGE_NAMESPACE": JOB_NAMESPACE,
        "LINEAGE_OPEN_RUNS": f"{state_folder}/{UNDELIVERED_EVENTS_FILE}",
        "FLINK_STATE": f"{state_folder}/{STATE_FILE}",
        **tls.python_environment(site),
    }


def _sql_environment(site: Site) -> dict[str, str]:
    return {
        "FLINK_SQL_GATEWAY_URL": site.address(GATEWAY, GATEWAY_REST.name).url,
        "ICEBERG_CATALOG_URL": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        "FLINK_SQL_LINEAGE": shlex.join(_planner_command(site)),
    }


def _planner_command(site: Site) -> tuple[str, ...]:
    """Return the command that extracts lineage from a script with Flink's planner, without a cluster."""
    return (*_planner_jvm(site), PLANNER_MAIN)


def _python_gateway_command(site: Site) -> tuple[str, ...]:
    """Return the command of a JVM with Flink's planner that PyFlink controls, without a main class."""
    # The transports are for OpenLineage's listener, which reports jobs where they are submitted.
    class_path = (*map(site.class_path, TRANSPORT_COMPONENTS), python_jar(site))
    return (*_planner_jvm(site, *class_path), *flink.MODULE_OPTIONS)


def _planner_jvm(site: Site, *more: str) -> tuple[str, ...]:
    class_path = (site.class_path(COMPONENT), site.class_path(PLANNER_COMPONENT), *more)
    return (
        *(site.java(), f"-Xmx{PLANNER_HEAP_MIB}m", *jvm.SERVICE_OPTIONS, *jvm.C1_ONLY, *tls.java_options(site)),
        *("-cp", ":".join(class_path)),
    )
