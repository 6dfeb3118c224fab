# SPDX-License-Identifier: Apache-2.0
"""Files of workflows: `jobs/workflows/NAME.yaml`, the steps of `lab run NAME`. Pure, but for reading a file."""

from collections.abc import Collection
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from infra.errors import LabError
from infra.project import PROJECT

FOLDER = PROJECT / "jobs" / "workflows"

ALL = "all"
QUALITY = "expect"
"""Name of the step that checks tables."""

CRON = r"^[0-9*/,-]+( [0-9A-Za-z*/,#L-]+){4}$"


class Step(BaseModel):
    """Step of a workflow: a task, or a check of tables."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str | None = Field(None, min_length=1)
    expect: tuple[str, ...] | Literal["all"] | None = None
    retries: int = Field(0, ge=0, le=10, strict=True)
    optional: bool = Field(False, strict=True)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.task is None) == (self.expect is None):
            raise ValueError("needs either task or expect")
        if self.expect == ():
            raise ValueError("expect: names no table; write all for every table with a suite")
        if self.expect is not None and self.optional:
            raise ValueError("optional: only a task can be missing")
        return self

    @property
    def name(self) -> str:
        """Name in the lineage and in messages."""
        return self.task or QUALITY


class Workflow(BaseModel):
    """Steps in order; each has a name of its own.

    Attributes:
        steps: what is done.
        schedule: cron expression, in UTC, by which Airflow runs it; `lab run` ignores it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: tuple[Step, ...] = Field(min_length=1)
    schedule: str | None = Field(None, pattern=CRON)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [step.name for step in self.steps]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"step {twice!r} occurs twice")
        return self


def workflow_names(folder: Path = FOLDER) -> list[str]:
    """Return the names of all workflows."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read_workflow(name: str, folder: Path = FOLDER) -> Workflow:
    """Read a workflow.

    Raises:
        LabError: there is no such file, or it is invalid; the message names file, place and cause.
    """
    path = folder / f"{name}.yaml"
    try:
        return Workflow.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise LabError(f"cannot read the workflow {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise LabError(f"{path} is no valid YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "file"
        raise LabError(f"{path}: {place}: {first['msg'].removeprefix('Value error, ')}") from error


def without_missing(workflow: Workflow, tasks: Collection[str]) -> tuple[Workflow, list[str]]:
    """Return a workflow without its optional tasks that the lab does not have, and their names.

    Raises:
        LabError: a task that is not optional is missing.
    """
    missing = [step for step in workflow.steps if step.task is not None and step.task not in tasks]
    if required := [step.name for step in missing if not step.optional]:
        raise LabError(f"the lab has no task {required[0]}; it has: {', '.join(sorted(tasks)) or 'none'}")
    kept = tuple(step for step in workflow.steps if step not in missing)
    if not kept:
        raise LabError(f"the lab has none of the tasks of the workflow: {', '.join(step.name for step in missing)}")
    return Workflow(steps=kept, schedule=workflow.schedule), [step.name for step in missing]
