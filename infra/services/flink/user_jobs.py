# SPDX-License-Identifier: Apache-2.0
"""Flink SQL jobs, of the lab and of the user: files in `jobs/flink/sql` with a job header.

    -- lab: service                        continuous job; or task: runs to completion on bounded input
    -- needs: topic/orders, ...            optional: keys of parts that must exist first
    -- cluster: application                optional: a cluster for this job alone, instead of the lab's (session)

A file without header (`infra.services.job_header`) is not a job; launchers get it as prelude next to their own file.
"""

from collections.abc import Collection, Mapping

from infra.model import Part
from infra.services.definition import Draft
from infra.services.flink.job_name import job_name
from infra.services.flink.jobs import SqlJob, launched_jobs, sql_service, sql_task
from infra.services.flink.own_cluster import HEADER_KEY, has_own_cluster, on_cluster
from infra.services.flink.settings import enabled
from infra.services.job_header import Entry, HeaderFormat
from infra.user_files import FLINK_FOLDER, UserFileError

KINDS = ("service", "task")
KEYS = ("lab", "needs", HEADER_KEY)

_FORMAT = HeaderFormat(FLINK_FOLDER, "--", KEYS, UserFileError)


def sql_jobs(
    files: Mapping[str, str], taken: Collection[str], parts: Collection[str]
) -> tuple[tuple[SqlJob, ...], dict[str, str]]:
    """Parse SQL files into jobs and prelude files (file name -> text).

    Args:
        files: file name, `NAME.sql` -> its text.
        taken: names of services and tasks of the lab.
        parts: keys that a job can list in `needs`.

    Raises:
        UserFileError: a file is invalid; the message names the file and, if applicable, the line.
    """
    headers = {file: _FORMAT.read(file, files[file]) for file in sorted(files)}
    jobs = [_job(file, files[file], header, taken, parts) for file, header in headers.items() if header is not None]
    return tuple(jobs), {file: files[file] for file, header in headers.items() if header is None}


def has_header(text: str) -> bool:
    """Return True for the text of a job, False for a prelude; a header with mistakes is one."""
    return _FORMAT.marks(text)


def _job(file: str, text: str, header: Mapping[str, Entry], taken: Collection[str], parts: Collection[str]) -> SqlJob:
    name = job_name(f"{FLINK_FOLDER}/{file}", taken)
    continuous = _FORMAT.choice(file, header, "lab", KINDS) == "service"
    needs = _FORMAT.needs(file, header, parts)
    return SqlJob(name, text, continuous, needs, has_own_cluster(file, header, _FORMAT))


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the SQL jobs of lab and user: tasks, and continuous jobs with their launchers."""
    if not enabled(draft.settings):
        return ()
    site = draft.site
    found, prelude = sql_jobs(draft.files.flink, draft.taken_names, draft.possible_needs)
    launchers = tuple(on_cluster(job, sql_service(job, site, prelude), draft) for job in found if job.continuous)
    tasks = tuple(on_cluster(job, sql_task(job, site, prelude), draft) for job in found if not job.continuous)
    return (*launchers, *tasks, *launched_jobs(launchers, site))
