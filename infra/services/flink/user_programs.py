# SPDX-License-Identifier: Apache-2.0
"""PyFlink programs of the user as Flink jobs: `jobs/flink/python/NAME.py` with a job header.

    # lab: service                          continuous job; or task: runs to completion on bounded input
    # needs: topic/orders, ...              optional: keys of parts that must exist first
    # cluster: application                  optional: a cluster for this job alone, instead of the lab's (session)
    # arguments: --to ${KAFKA_BOOTSTRAP}    optional: words for `sys.argv`, with placeholders of Flink SQL files
    # lineage: planner                      optional: planner or listener (`lineagelab_flink.launch_python`)

`NAME.columns.json`, if there is one, declares the job's column lineage (`lineagelab_flink.declared_columns`). A file
without header (`infra.services.job_header`) is a module that all programs may import.
"""

import shlex
from collections.abc import Collection, Mapping

from infra.model import Part
from infra.services.definition import Draft
from infra.services.flink.declared_columns import check_columns
from infra.services.flink.job_name import job_name
from infra.services.flink.jobs import PythonJob, launched_jobs, python_service, python_task
from infra.services.flink.own_cluster import HEADER_KEY, has_own_cluster, on_cluster
from infra.services.flink.settings import enabled, python_included
from infra.services.job_header import Entry, HeaderFormat
from infra.user_files import COLUMNS_SUFFIX, PROGRAM_FOLDER, PROGRAM_SUFFIX, ProgramFiles, UserFileError

KINDS = ("service", "task")
REPORTERS = ("planner", "listener")

_FORMAT = HeaderFormat(PROGRAM_FOLDER, "#", ("lab", "needs", HEADER_KEY, "arguments", "lineage"), UserFileError)


def python_jobs(
    files: Mapping[str, ProgramFiles], taken: Collection[str], parts: Collection[str]
) -> tuple[PythonJob, ...]:
    """Parse the headers of programs.

    Args:
        files: file name without suffix -> the program's files. Those without a header are modules.
        taken: names of services and tasks of the lab.
        parts: keys that a job can list in `needs`.

    Raises:
        UserFileError: a file is invalid; the message names the file and, if applicable, the line.
    """
    headers = {name: _FORMAT.read(f"{name}{PROGRAM_SUFFIX}", files[name].text) for name in sorted(files)}
    modules = tuple(f"{PROGRAM_FOLDER}/{name}{PROGRAM_SUFFIX}" for name, header in headers.items() if header is None)
    return tuple(
        _job(name, header, files[name], modules, taken, parts) for name, header in headers.items() if header is not None
    )


def _job(
    name: str,
    header: Mapping[str, Entry],
    files: ProgramFiles,
    modules: tuple[str, ...],
    taken: Collection[str],
    parts: Collection[str],
) -> PythonJob:
    file = f"{name}{PROGRAM_SUFFIX}"
    job_name(f"{PROGRAM_FOLDER}/{file}", taken)
    check_columns(f"{PROGRAM_FOLDER}/{name}{COLUMNS_SUFFIX}", files.columns)
    reporter = _FORMAT.choice(file, header, "lineage", REPORTERS) if "lineage" in header else "planner"
    return PythonJob(
        name=name,
        arguments=_words(file, header.get("arguments")),
        columns=files.columns,
        by_listener=reporter == "listener",
        modules=modules,
        continuous=_FORMAT.choice(file, header, "lab", KINDS) == "service",
        needs=_FORMAT.needs(file, header, parts),
        own_cluster=has_own_cluster(file, header, _FORMAT),
    )


def _words(file: str, entry: Entry | None) -> tuple[str, ...]:
    if entry is None:
        return ()
    try:
        return tuple(shlex.split(entry.value))
    except ValueError as error:
        raise _FORMAT.invalid(file, entry.line, f"arguments: {str(error).lower()}: {entry.value}") from error


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the jobs of the user's programs: tasks, and continuous jobs with their launchers.

    Raises:
        UserFileError: a program is invalid, or the lab has no PyFlink to run it.
    """
    if not enabled(draft.settings):
        return ()
    found = python_jobs(draft.files.programs, draft.taken_names, draft.possible_needs)
    if found and not python_included(draft.settings):
        raise UserFileError(
            f"{PROGRAM_FOLDER}/{found[0].name}{PROGRAM_SUFFIX} needs PyFlink, which this lab does not have: set "
            "lineage-lab:flinkPython: true, or remove the file"
        )
    launchers = tuple(on_cluster(job, python_service(job, draft.site), draft) for job in found if job.continuous)
    tasks = tuple(on_cluster(job, python_task(job, draft.site), draft) for job in found if not job.continuous)
    return (*launchers, *tasks, *launched_jobs(launchers, draft.site))
