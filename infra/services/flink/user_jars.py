# SPDX-License-Identifier: Apache-2.0
"""Jars of the user as Flink jobs: `jobs/flink/jars/NAME.jar`, with a job header in `NAME.args` beside it.

    # lab: service                        continuous job; or task: runs to completion on bounded input
    # needs: topic/orders, ...            optional: keys of parts that must exist first
    # cluster: application                optional: a cluster for this job alone, instead of the lab's (session)
    # main: com.example.Orders            optional: main class, if the jar's manifest names none
    # lineage: listener                   optional: listener, or planner for a job of the Table API
    --bootstrap ${KAFKA_BOOTSTRAP}        arguments of the main class (`lineagelab_flink.program_arguments`)

`NAME.columns.json`, if there is one, declares the job's column lineage (`lineagelab_flink.declared_columns`).
"""

import re
from collections.abc import Collection, Mapping

from infra.model import Part
from infra.services.definition import Draft
from infra.services.flink.declared_columns import check_columns
from infra.services.flink.job_name import job_name
from infra.services.flink.jobs import JarJob, jar_service, jar_task, launched_jobs
from infra.services.flink.own_cluster import HEADER_KEY, has_own_cluster, on_cluster
from infra.services.flink.settings import enabled
from infra.services.job_header import HeaderFormat
from infra.user_files import ARGUMENTS_SUFFIX, COLUMNS_SUFFIX, JAR_FOLDER, JAR_SUFFIX, JarFiles, UserFileError

KINDS = ("service", "task")
REPORTERS = ("listener", "planner")

_FORMAT = HeaderFormat(JAR_FOLDER, "#", ("lab", "needs", HEADER_KEY, "main", "lineage"), UserFileError)


def jar_jobs(files: Mapping[str, JarFiles], taken: Collection[str], parts: Collection[str]) -> tuple[JarJob, ...]:
    """Parse the headers of jars.

    Args:
        files: name of the job -> its files.
        taken: names of services and tasks of the lab.
        parts: keys that a job can list in `needs`.

    Raises:
        UserFileError: a file is invalid; the message names the file and, if applicable, the line.
    """
    return tuple(_job(name, files[name], taken, parts) for name in sorted(files))


def _job(name: str, files: JarFiles, taken: Collection[str], parts: Collection[str]) -> JarJob:
    file, jar = f"{name}{ARGUMENTS_SUFFIX}", f"{JAR_FOLDER}/{name}{JAR_SUFFIX}"
    job_name(jar, taken, "the files")
    header = _FORMAT.read(file, files.arguments)
    if header is None:
        raise UserFileError(f"{JAR_FOLDER}/{file}: the first line must be `# lab: service` or `# lab: task`")
    main = header.get("main")
    if main is not None and not re.fullmatch(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*", main.value):
        raise _FORMAT.invalid(file, main.line, f"main: {main.value!r} is no name of a class")
    check_columns(f"{JAR_FOLDER}/{name}{COLUMNS_SUFFIX}", files.columns)
    return JarJob(
        name=name,
        jar=jar,
        arguments=files.arguments,
        columns=files.columns,
        main_class=main.value if main else "",
        by_planner="lineage" in header and _FORMAT.choice(file, header, "lineage", REPORTERS) == "planner",
        continuous=_FORMAT.choice(file, header, "lab", KINDS) == "service",
        needs=_FORMAT.needs(file, header, parts),
        own_cluster=has_own_cluster(file, header, _FORMAT),
    )


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the jobs of the user's jars: tasks, and continuous jobs with their launchers."""
    if not enabled(draft.settings):
        return ()
    found = jar_jobs(draft.files.jars, draft.taken_names, draft.possible_needs)
    launchers = tuple(on_cluster(job, jar_service(job, draft.site), draft) for job in found if job.continuous)
    tasks = tuple(on_cluster(job, jar_task(job, draft.site), draft) for job in found if not job.continuous)
    return (*launchers, *tasks, *launched_jobs(launchers, draft.site))
