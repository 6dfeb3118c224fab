# SPDX-License-Identifier: Apache-2.0
"""User-defined Spark jobs: PySpark files in `jobs/spark` with a job header.

    # lab: task                              or service
    # needs: topic/orders, schema_registry   optional: keys of parts that must exist first
    # memory: 1200 MiB                       optional: memory of the driver, default from the settings
    # lineage: own                           optional: agent, both, own or off (`infra.services.spark.job.Driver`)

A file without header (`infra.services.job_header`) is an ordinary module.
"""

import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from infra.model import Part
from infra.services.definition import FULL, Draft
from infra.services.job_header import Entry, HeaderFormat
from infra.services.spark.driver import driver_service, driver_task
from infra.services.spark.job import NON_HEAP_MIB, Driver
from infra.services.spark.settings import SparkSettings
from infra.settings import Settings
from infra.user_files import SPARK_FOLDER, SPARK_SUFFIX, UserFileError

MIN_HEAP_MIB = 512
MIN_MEMORY_MIB = MIN_HEAP_MIB + NON_HEAP_MIB
"""Minimum memory of a driver, MiB; Spark rejects a smaller heap."""

KINDS = ("task", "service")
LINEAGE_EMITTERS: Mapping[str, Literal["agent", "both", "own", "off"]] = {
    "agent": "agent",
    "both": "both",
    "own": "own",
    "off": "off",
}
KEYS = ("lab", "needs", "memory", "lineage")

_MEMORY = re.compile(r"(\d+) MiB")


@dataclass(frozen=True)
class UserJob:
    """Driver of a user file; `continuous` distinguishes a service from a task."""

    driver: Driver
    continuous: bool


_FORMAT = HeaderFormat(SPARK_FOLDER, "#", KEYS, UserFileError)


def user_jobs(
    files: Mapping[str, str], settings: Settings, taken: Collection[str], parts: Collection[str]
) -> tuple[UserJob, ...]:
    """Parse job files.

    Args:
        files: file name, `NAME.py` -> its text. Files without a header are ignored.
        settings: settings of the stack.
        taken: names of services and tasks of the lab.
        parts: keys that a job can list in `needs`.

    Raises:
        UserFileError: a file is invalid; the message names the file and, if applicable, the line.
    """
    headers = {file: _FORMAT.read(file, files[file]) for file in sorted(files)}
    return tuple(
        _user_job(file, header, settings, taken, parts) for file, header in headers.items() if header is not None
    )


def _user_job(
    file: str, header: Mapping[str, Entry], settings: Settings, taken: Collection[str], parts: Collection[str]
) -> UserJob:
    name = file.removesuffix(SPARK_SUFFIX)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserFileError(
            f"{SPARK_FOLDER}/{file}: the file name is the job's name, and a module's; use a lower-case letter, then "
            "lower-case letters, digits and '_' only, and no Python keyword"
        )
    if name in taken:
        raise UserFileError(f"{SPARK_FOLDER}/{file}: the lab already has a part {name}; rename the file")
    continuous = _FORMAT.choice(file, header, "lab", KINDS) == "service"
    emitter = _FORMAT.choice(file, header, "lineage", tuple(LINEAGE_EMITTERS)) if "lineage" in header else "own"
    driver = Driver(
        name,
        _heap_mib(file, header.get("memory"), settings),
        streaming=continuous,
        needs=_FORMAT.needs(file, header, parts),
        lineage=LINEAGE_EMITTERS[emitter],
    )
    return UserJob(driver, continuous)


def _heap_mib(file: str, entry: Entry | None, settings: Settings) -> int:
    if entry is None:
        return settings.section(SparkSettings).spark_heap_mib
    found = _MEMORY.fullmatch(entry.value)
    if not found or int(found[1]) < MIN_MEMORY_MIB:
        raise _FORMAT.invalid(file, entry.line, f"memory: expected at least {MIN_MEMORY_MIB} MiB, not {entry.value!r}")
    return int(found[1]) - NON_HEAP_MIB


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the user's Spark jobs."""
    if draft.settings.profile != FULL:
        return ()
    found = user_jobs(draft.files.spark, draft.settings, draft.taken_names, draft.possible_needs)
    return tuple(
        (driver_service if job.continuous else driver_task)(
            replace(job.driver, packages=draft.files.packages), draft.site, draft.settings
        )
        for job in found
    )
