# SPDX-License-Identifier: Apache-2.0
"""Flink SQL jobs: a file in `jobs/flink/sql` whose first lines say what it is. The kit's own are no different.

    -- lab: service                        runs on; or task, which reads what is there and ends
    -- needs: topic/orders, ...            optional: what must be there first

A file without such a header (`infra.services.job_header`) is no job; the launcher may find it beside the job's.
"""

import re
from collections.abc import Collection, Mapping

from infra.model import Part
from infra.services.definition import Draft
from infra.services.flink.jobs import SqlJob, jobs, sql_service, sql_task
from infra.services.flink.settings import enabled
from infra.services.job_header import Entry, Format
from infra.user_files import FLINK_FOLDER, FLINK_SUFFIX, UserFileError

KINDS = ("service", "task")
KEYS = ("lab", "needs")


_FORMAT = Format(FLINK_FOLDER, "--", KEYS, UserFileError)


def sql_jobs(
    files: Mapping[str, str], taken: Collection[str], parts: Collection[str]
) -> tuple[tuple[SqlJob, ...], dict[str, str]]:
    """The jobs that files describe, and the files that are none.

    Args:
        files: a file's name, `NAME.sql`, -> its text.
        taken: names that services and tasks of the lab have.
        parts: keys of everything that a job may need.

    Raises:
        UserFileError: naming the file, and the line where it is about one.
    """
    headers = {file: _FORMAT.read(file, files[file]) for file in sorted(files)}
    jobs = [_job(file, files[file], header, taken, parts) for file, header in headers.items() if header is not None]
    return tuple(jobs), {file: files[file] for file, header in headers.items() if header is None}


def _job(file: str, text: str, header: Mapping[str, Entry], taken: Collection[str], parts: Collection[str]) -> SqlJob:
    name = file.removesuffix(FLINK_SUFFIX)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UserFileError(
            f"{FLINK_FOLDER}/{file}: the file's name is the job's: a small letter, then small letters, digits and '_'"
        )
    if name in taken:
        raise UserFileError(f"{FLINK_FOLDER}/{file}: the lab has a {name} already: give the file another name")
    stays = _FORMAT.choice(file, header, "lab", KINDS) == "service"
    return SqlJob(name, text, stays, _FORMAT.needs(file, header, parts))


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the jobs in Flink SQL, the lab's own among them, and the launchers of those that run continuously."""
    if not enabled(draft.settings):
        return ()
    site = draft.site
    found, prelude = sql_jobs(draft.files.flink, draft.taken_names, draft.possible_needs)
    launchers = tuple(sql_service(job, site, prelude) for job in found if job.stays)
    tasks = tuple(sql_task(job, site, prelude) for job in found if not job.stays)
    return (*launchers, *tasks, *jobs(launchers, site))
