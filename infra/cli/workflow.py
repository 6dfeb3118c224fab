# SPDX-License-Identifier: Apache-2.0
"""Execution of a workflow: its steps in order, with retries, each a run in the lineage."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from infra.cli.workflow_file import Step, Workflow
from infra.cli.workflow_lineage import WorkflowLineage
from infra.errors import LabError, ServiceError

RunStep = Callable[[Step, Mapping[str, str]], None]
"""Runs a step to its end with further environment variables; raises LabError if it fails."""


@dataclass(frozen=True)
class StepResult:
    """Ended step: attempts that it took, and the seconds of all of them."""

    name: str
    attempts: int
    seconds: float


def run_workflow(
    workflow: Workflow, lineage: WorkflowLineage, run_step: RunStep, report: Callable[[str], None]
) -> list[StepResult]:
    """Run a workflow to its end.

    Args:
        workflow: steps to run, without those that the lab does not have.
        lineage: reporter, which this function starts and the caller closes.
        run_step: runs one step.
        report: receives a line of text for each failed attempt.

    Raises:
        ServiceError: a step failed; the ones after it did not run.
        KeyboardInterrupt: after Ctrl-C; the runs are reported as aborted.
    """
    lineage.start()
    results: list[StepResult] = []
    try:
        for step in workflow.steps:
            results.append(_run_with_retries(step, lineage, run_step, report))
    except LabError as error:
        lineage.end(lineage.root, "FAIL", f"step {workflow.steps[len(results)].name} failed")
        left = ", ".join(step.name for step in workflow.steps[len(results) + 1 :])
        raise ServiceError(f"{error}\nnot run: {left}" if left else str(error)) from error
    except BaseException:
        lineage.end(lineage.root, "ABORT")
        raise
    lineage.end(lineage.root, "COMPLETE")
    return results


def _run_with_retries(
    step: Step, lineage: WorkflowLineage, run_step: RunStep, report: Callable[[str], None]
) -> StepResult:
    started = time.monotonic()
    for attempt in range(1, step.retries + 2):
        run = lineage.start_step(step.name)
        try:
            run_step(step, run.variables)
        except LabError as error:
            lineage.end(run, "FAIL", str(error))
            if attempt > step.retries:
                raise
            report(f"{step.name} failed, attempt {attempt} of {step.retries + 1}: {error}")
        except BaseException:
            lineage.end(run, "ABORT")
            raise
        else:
            lineage.end(run, "COMPLETE")
            return StepResult(step.name, attempt, time.monotonic() - started)
    raise AssertionError("the last attempt returns or raises")
