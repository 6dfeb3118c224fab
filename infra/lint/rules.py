# SPDX-License-Identifier: Apache-2.0
"""Rules of `lab lint`: job files against the jobs and datasets of a lineage contract. Pure functions."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from infra.lint.connector_names import TOPICS, names_of_connector
from infra.lint.named_datasets import NamedDataset, Use
from infra.lint.spark_names import names_of_needs, names_of_python
from infra.lint.sql_names import names_of_sql
from infra.model import Connector
from infra.services.flink.jobs import JarJob, PythonJob, SqlJob
from infra.services.spark.user_jobs import UserJob
from infra.user_files import UserFileError
from lineage.checks.contract import Contract, Dataset
from lineage.checks.contract.model import JobRow


class Rule(StrEnum):
    """Rule that a file breaks."""

    INVALID = "invalid-file"
    NO_JOB = "job-not-in-contract"
    NO_FILE = "job-without-file"
    NOT_DECLARED = "dataset-not-in-contract"
    NOT_NAMED = "dataset-not-in-file"


@dataclass(frozen=True)
class Violation:
    """Violation of a rule; `file` is a path in the checkout, `line` counts from 1, 0 for the whole file."""

    file: str
    line: int
    rule: Rule
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text} [{self.rule}]" if place else f"{self.text} [{self.rule}]"


@dataclass(frozen=True)
class JobFile:
    """A job file that could be parsed.

    Attributes:
        path: in the checkout.
        job: name of its job, or first part of the names of its parts (`supplier_stats.append.table`).
        named: datasets that it names.
        names_all: Use -> True if the file names every dataset that its job uses in that way.
    """

    path: str
    job: str
    named: tuple[NamedDataset, ...]
    names_all: frozenset[Use] = frozenset()


AnyJob = Connector | SqlJob | JarJob | PythonJob | UserJob
"""Job of one of the user's files."""

Parse = Callable[[Mapping[str, str]], Sequence[AnyJob]]
"""Parses files by name, as the lab does. Raises UserFileError."""


def read_files(
    folder: str, files: Mapping[str, str], parse: Parse, shared: Collection[str], known: Collection[Dataset]
) -> tuple[list[JobFile], list[Violation]]:
    """Parse each file of a folder alone, so that one mistake does not hide another.

    Args:
        folder: in the checkout.
        files: file name -> text.
        parse: parser of the folder's files.
        shared: files that every job needs, such as a prelude.
        known: datasets of the contract.
    """
    found: list[JobFile] = []
    violations: list[Violation] = []
    for name in sorted(files):
        path = f"{folder}/{name}"
        try:
            for job in parse({name: files[name]}):
                prelude = "\n".join(files[each] for each in sorted(shared) if each != name)
                found.append(_job_file(path, job, files[name], prelude, known))
        except UserFileError as error:
            text = str(error).removeprefix(path).lstrip(":, ")
            violations.append(Violation(path, 0, Rule.INVALID, text))
        except SyntaxError as error:
            violations.append(Violation(path, error.lineno or 0, Rule.INVALID, f"not Python: {error.msg}"))
    return found, violations


def _job_file(path: str, job: AnyJob, text: str, prelude: str, known: Collection[Dataset]) -> JobFile:
    if isinstance(job, Connector):
        complete = frozenset({Use.READ}) if TOPICS in job.config else frozenset()
        return JobFile(path, job.name, tuple(names_of_connector(job.config)), complete)
    if isinstance(job, SqlJob):
        lines = prelude.count("\n") + 1 if prelude else 0
        named = (
            NamedDataset(each.dataset, each.use, each.line - lines)
            for each in names_of_sql(f"{prelude}\n{text}" if prelude else text)
        )
        return JobFile(path, job.name, tuple(named), frozenset({Use.READ, Use.WRITTEN}))
    if isinstance(job, JarJob):
        return JobFile(path, job.name, tuple(names_of_needs(job.needs)))
    if isinstance(job, PythonJob):
        return JobFile(path, job.name, (*names_of_needs(job.needs), *names_of_python(text, known)))
    needs = names_of_needs(job.driver.needs)
    return JobFile(path, job.driver.job, (*needs, *names_of_python(text, known)))


def violations_of(
    files: Iterable[JobFile], contract: Contract, features: frozenset[str], parts: Collection[str]
) -> Iterator[Violation]:
    """Yield what the files and the contract disagree on.

    Args:
        files: job files.
        contract: the contract; rows that require other features than `features` are not looked for.
        parts: names of all connectors, services and tasks of the lab, which run the jobs of the contract.
    """
    for file in files:
        if rows := [row for row in contract.jobs if _is_run_by(row.name, file.job)]:
            yield from _compare(file, rows)
        else:
            text = f"the job {file.job} is not in the contract; add what it reads and writes"
            yield Violation(file.path, 0, Rule.NO_JOB, text)
    for row in contract.jobs:
        if row.requires <= features and not any(_is_run_by(row.name, part) for part in parts):
            text = f"no file and no part of the lab runs the job {row.name} of the contract"
            yield Violation("", 0, Rule.NO_FILE, text)


def _is_run_by(job: str, part: str) -> bool:
    """Return True if a job is that of a part, or of a write or model of it: `supplier_stats.append.table`."""
    return job == part or job.startswith(f"{part}.")


def _compare(file: JobFile, rows: Sequence[JobRow]) -> Iterator[Violation]:
    declared = {
        Use.READ: {item.dataset for row in rows for item in row.inputs},
        Use.WRITTEN: {item.dataset for row in rows for item in row.outputs},
    }
    declared[Use.UNKNOWN] = declared[Use.READ] | declared[Use.WRITTEN]
    reported = set()
    for each in file.named:
        if each.dataset not in declared[each.use] and (each.use, each.dataset) not in reported:
            reported.add((each.use, each.dataset))
            text = f"{each.use} {each.dataset}, which the contract does not say of {file.job}"
            yield Violation(file.path, each.line, Rule.NOT_DECLARED, text)
    for use in sorted(file.names_all):
        named = {each.dataset for each in file.named if each.use is use}
        for dataset in sorted(declared[use] - named):
            text = f"the contract says that {file.job} {use} {dataset}; the file does not name it"
            yield Violation(file.path, 0, Rule.NOT_NAMED, text)


def render_json(violations: Iterable[Violation]) -> str:
    """Render `[{"file", "line", "rule", "text"}]`; `line` is null for a whole file."""
    rows = [{"file": v.file or None, "line": v.line or None, "rule": v.rule, "text": v.text} for v in violations]
    return json.dumps(rows, indent=2) + "\n"
