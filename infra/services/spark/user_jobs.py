# SPDX-License-Identifier: Apache-2.0
"""Spark jobs of the user's own: a PySpark file in `jobs/spark` whose first lines say what it is.

    # lab: task                              or service
    # needs: topic/orders, schema_registry   optional: what must be there first
    # memory: 1200 MiB                       optional: what it takes, a driver's default if not given
    # lineage: agent                         optional: agent, both, own or off (`infra.services.spark.job.Driver`)

A file without such a header (`infra.services.job_header`) is a module like any other.
"""

import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from infra.model import Part
from infra.services.definition import FULL, Draft
from infra.services.job_header import Entry, Format
from infra.services.spark.driver import as_service, as_task
from infra.services.spark.job import BESIDE_HEAP_MIB, Driver
from infra.services.spark.settings import SparkSettings
from infra.settings import Settings
from infra.user_files import SPARK_FOLDER, SPARK_SUFFIX, UserFileError

LEAST_HEAP_MIB = 512
LEAST_MEMORY_MIB = LEAST_HEAP_MIB + BESIDE_HEAP_MIB
"""Spark itself refuses a smaller heap."""

KINDS = ("task", "service")
SPEAKERS: Mapping[str, Literal["agent", "both", "own", "off"]] = {
    "agent": "agent",
    "both": "both",
    "own": "own",
    "off": "off",
}
KEYS = ("lab", "needs", "memory", "lineage")

_MEMORY = re.compile(r"(\d+) MiB")


@dataclass(frozen=True)
class OwnJob:
    """What a file's header says."""

    driver: Driver
    stays: bool


_FORMAT = Format(SPARK_FOLDER, "#", KEYS, UserFileError)


def own_jobs(
    files: Mapping[str, str], settings: Settings, taken: Collection[str], parts: Collection[str]
) -> tuple[OwnJob, ...]:
    """The jobs that files describe.

    Args:
        files: a file's name, `NAME.py`, -> its text. Those without a header are passed over.
        settings: the stack's.
        taken: names that services and tasks of the lab have.
        parts: keys of everything that a job may need.

    Raises:
        UserFileError: naming the file, and the line where it is about one.
    """
    headers = {file: _FORMAT.read(file, files[file]) for file in sorted(files)}
    return tuple(
        _own_job(file, header, settings, taken, parts) for file, header in headers.items() if header is not None
    )


def _own_job(
    file: str, header: Mapping[str, Entry], settings: Settings, taken: Collection[str], parts: Collection[str]
) -> OwnJob:
    name = file.removesuffix(SPARK_SUFFIX)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserFileError(
            f"{SPARK_FOLDER}/{file}: the file's name is the job's, and a module's: a small letter, then small letters, "
            "digits and '_', and no word of Python's"
        )
    if name in taken:
        raise UserFileError(f"{SPARK_FOLDER}/{file}: the lab has a {name} already: give the file another name")
    kind = _FORMAT.choice(file, header, "lab", KINDS)
    stays = kind == "service"
    speaker = _FORMAT.choice(file, header, "lineage", tuple(SPEAKERS)) if "lineage" in header else ""
    driver = Driver(
        name,
        _heap_mib(file, header.get("memory"), settings),
        streaming=stays,
        needs=_FORMAT.needs(file, header, parts),
        lineage=SPEAKERS[speaker] if speaker else ("own" if stays else "agent"),
    )
    return OwnJob(driver, stays)


def _heap_mib(file: str, entry: Entry | None, settings: Settings) -> int:
    if entry is None:
        return settings.section(SparkSettings).spark_heap_mib
    found = _MEMORY.fullmatch(entry.value)
    if not found or int(found[1]) < LEAST_MEMORY_MIB:
        raise _FORMAT.refusal(
            file, entry.line, f"memory: {LEAST_MEMORY_MIB} MiB or more is expected, not {entry.value!r}"
        )
    return int(found[1]) - BESIDE_HEAP_MIB


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the user's Spark jobs."""
    if draft.settings.profile != FULL:
        return ()
    found = own_jobs(draft.files.spark, draft.settings, draft.taken_names, draft.possible_needs)
    return tuple((as_service if job.stays else as_task)(job.driver, draft.site, draft.settings) for job in found)
