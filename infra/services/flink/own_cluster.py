# SPDX-License-Identifier: Apache-2.0
"""Jobs in Flink's application mode: the launcher starts a JobManager and a TaskManager for its job alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from infra.model import Python, Service, Task
from infra.services import kafka_access
from infra.services.definition import Draft
from infra.services.flink import cluster as flink
from infra.services.flink.jobs import JarJob, PythonJob, SqlJob
from infra.services.flink.settings import (
    CHECKPOINT_FOLDER,
    COMPONENT,
    GATEWAY,
    JOBMANAGER,
    PYTHON_ENVIRONMENT,
    TASKMANAGER,
    application_settings,
    python_included,
    python_jar_folder,
)
from infra.services.job_header import Entry, HeaderFormat

Launcher = TypeVar("Launcher", bound=Service | Task)

HEADER_KEY = "cluster"
"""Key of a job header."""

APPLICATION, SESSION = "application", "session"

_SESSION_VARIABLES = ("FLINK_URL", "FLINK_SQL_GATEWAY_URL")
_SESSION_SERVICES = (JOBMANAGER, TASKMANAGER, GATEWAY)


def has_own_cluster(file: str, header: Mapping[str, Entry], header_format: HeaderFormat) -> bool:
    """Return whether a job header demands a cluster for its job alone.

    Raises:
        LabError: the value of the key is unknown.
    """
    if HEADER_KEY not in header:
        return False
    return header_format.choice(file, header, HEADER_KEY, (SESSION, APPLICATION)) == APPLICATION


def on_cluster(job: SqlJob | JarJob | PythonJob, launcher: Launcher, draft: Draft) -> Launcher:
    """Return the launcher of a job, with what it needs to start a cluster for that job if it has one of its own."""
    if not job.own_cluster:
        return launcher
    site, settings = draft.site, draft.settings
    name, run = launcher.name, launcher.run
    assert isinstance(run, Python), "launchers are written in Python"
    jobmanager, taskmanager = flink.own_cluster_commands(name, site, settings)
    packages = (PYTHON_ENVIRONMENT,) if python_included(settings) else ()
    worker_mib = flink.PYTHON_WORKER_MIB if python_included(settings) else 0
    return replace(
        launcher,
        run=replace(
            run,
            components=tuple(dict.fromkeys((*run.components, COMPONENT, *flink.OWN_COMPONENTS))),
            packages=tuple(dict.fromkeys((*run.packages, *packages))),
            java=True,
        ),
        needs=(
            *(need for need in launcher.needs if need not in _SESSION_SERVICES),
            *kafka_access.needs(site, kafka_access.FLINK),
        ),
        files={**launcher.files, **flink.config_files(application_settings(site, settings))},
        env={
            **{name: value for name, value in launcher.env.items() if name not in _SESSION_VARIABLES},
            "FLINK_JOBMANAGER": jobmanager,
            "FLINK_TASKMANAGER": taskmanager,
            "FLINK_CHECKPOINTS": CHECKPOINT_FOLDER,
            **flink.jvm_environment(site),
            # Where Flink looks for its Python jar, though it is on the class path.
            **({"FLINK_OPT_DIR": python_jar_folder(site)} if isinstance(job, PythonJob) else {}),
            **flink.listener_environment(name, site),
        },
        secrets={**launcher.secrets, **kafka_access.login_secrets(site, kafka_access.FLINK)},
        secret_files={
            **launcher.secret_files,
            **flink.listener_config(name, site),
            **kafka_access.login_files(name, site, kafka_access.FLINK),
        },
        memory_mib=launcher.memory_mib
        + (flink.HEAP_MIB + flink.NON_HEAP_MIB)
        + flink.taskmanager_memory_mib(settings)
        + worker_mib,
    )
