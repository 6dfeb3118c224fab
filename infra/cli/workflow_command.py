# SPDX-License-Identifier: Apache-2.0
"""`lab run WORKFLOW`: a workflow on a running lab."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from infra import credentials
from infra.cli.console import out
from infra.cli.query import check_tables
from infra.cli.stack import Stack
from infra.cli.tasks import run_task
from infra.cli.workflow import run_workflow
from infra.cli.workflow_file import ALL, Step, read_workflow, without_missing
from infra.cli.workflow_lineage import WorkflowLineage
from infra.errors import LabError, ServiceError
from infra.project import ENVIRONMENT_FILE
from lineagelab_common.client import KEY_VARIABLE, LineageClient
from lineagelab_common.file_lock import locked
from lineagelab_common.identifiers import ParentRun


def run_named_workflow(lab: Stack, name: str, parent: ParentRun | None = None) -> None:
    """Run a workflow of `jobs/workflows` to its end and print what it does; `parent` is the run that started it.

    Raises:
        LabError: the workflow is invalid, the lab lacks one of its tasks, or it is running already.
        ServiceError: a step failed.
    """
    runtime = lab.runtime
    tasks = [state.name for state in runtime.states() if not runtime.is_service(state.name)]
    workflow, missing = without_missing(read_workflow(name), tasks)
    for task in missing:
        out.print(f"{task} is left out: this lab has no such task")
    variables = credentials.read(lab.root / ENVIRONMENT_FILE)
    client = LineageClient(variables["OPENLINEAGE_URL"], key=variables.get(KEY_VARIABLE, ""))

    def run_step(step: Step, further: Mapping[str, str]) -> None:
        out.print(f"== {step.name}", style="bold", markup=False)
        if step.task is not None:
            run_task(runtime, step.task, lambda line: out.print(line, markup=False), further)
            return
        tables = () if step.expect == ALL or step.expect is None else step.expect
        if status := check_tables(lab, tables, further):
            reason = "a rule is broken" if status == 1 else "a table could not be checked"
            raise ServiceError(f"{step.name} failed (exit status {status}): {reason}")

    folder = lab.root / "workflows" / name
    with only_one(name, folder):
        lineage = WorkflowLineage(name, client, folder, parent)
        try:
            results = run_workflow(workflow, lineage, run_step, lambda line: out.print(line, markup=False))
        finally:
            lineage.close()
    for result in results:
        again = f", {result.attempts} attempts" if result.attempts > 1 else ""
        out.print(f"{result.name} took {result.seconds:.1f} s{again}", markup=False)


@contextmanager
def only_one(name: str, folder: Path) -> Iterator[None]:
    """Hold the lock of a workflow. Raises LabError if another process holds it; one that was killed does not."""
    try:
        file = locked(folder / "lock")
    except BlockingIOError as error:
        raise LabError(f"the workflow {name} is running already") from error
    with file:
        yield
