# SPDX-License-Identifier: Apache-2.0
"""Runs of a workflow in the lineage: one of the workflow, below it one for each attempt of a step.

The programs of a step get its run as their parent, and the first run of the hierarchy as its root: the workflow's, or
that of the scheduler that started the command.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from infra.namespaces import JOB_NAMESPACE
from lineagelab_common.events import EventWriter, Json
from lineagelab_common.identifiers import ParentRun, new_run_id, now, parent_variables
from lineagelab_common.open_runs import OpenRuns, take_terminal_events
from lineagelab_common.spool import Receiver, Spool

WRITER = EventWriter("urn:lineage-lab:jobs:workflow")

CLOSE_SECONDS = 10.0
"""Time limit of the delivery of events at the end; what is left stays in a file for the next run."""


@dataclass(frozen=True)
class WorkflowRun:
    """Run of a workflow, or of one of its steps, whose job is `WORKFLOW.STEP`.

    Attributes:
        kind: `WORKFLOW` or `STEP`.
        identity: the run, with the root of its hierarchy; None if it is the root itself.
        parent: run of the workflow, for a step; for a workflow, that of the program that started it, if it has one.
    """

    kind: str
    identity: ParentRun
    parent: ParentRun | None

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables of the programs of a step."""
        return parent_variables(self.identity)

    def event(self, event_type: str, error: str = "") -> Json:
        """Return an event of now; `error` is the reason of a failure."""
        facets: Json = {}
        if self.parent is not None:
            facets["parent"] = WRITER.parent(self.parent)
        if error:
            facets["errorMessage"] = WRITER.error(error, "Python")
        job_type = WRITER.facet("jobType", processingType="NONE", integration="LINEAGE_LAB", jobType=self.kind)
        job = {"namespace": self.identity.namespace, "name": self.identity.job, "facets": {"jobType": job_type}}
        return WRITER.run_event(event_type, now(), {"runId": self.identity.run_id, "facets": facets}, job, [], [])


class WorkflowLineage:
    """Reporter of one run of a workflow.

    Args:
        name: name of the workflow.
        receiver: receiver of the events.
        folder: folder for events and runs that outlive this process; one process at a time uses it.
        parent: run of the program that started the workflow, if it has one.
    """

    def __init__(self, name: str, receiver: Receiver, folder: Path, parent: ParentRun | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        open_runs = folder / "open-runs.json"
        self._spool = Spool(receiver, folder / "unsent-events.json")
        for event in take_terminal_events(open_runs, "ABORT", "", now()):
            self._spool.add(event)  # of a process that was killed
        self._open_runs = OpenRuns(open_runs)
        root = None if parent is None else parent.root or parent
        identity = ParentRun(JOB_NAMESPACE, name, new_run_id(), root=root)
        self.root = WorkflowRun("WORKFLOW", identity, None if parent is None else replace(parent, root=root))

    def start(self) -> None:
        """Report the start of the workflow."""
        self._begin(self.root)

    def start_step(self, step: str) -> WorkflowRun:
        """Report the start of an attempt of a step."""
        workflow = self.root.identity
        root = workflow.root or workflow
        identity = ParentRun(JOB_NAMESPACE, f"{workflow.job}.{step}", new_run_id(), root=root)
        run = WorkflowRun("STEP", identity, replace(workflow, root=root))
        self._begin(run)
        return run

    def end(self, run: WorkflowRun, event_type: str, error: str = "") -> None:
        """Report the end of a run: COMPLETE, FAIL or ABORT."""
        event = run.event(event_type, error)
        self._open_runs.store_terminal_event(event)
        self._spool.add(event, lambda: self._open_runs.remove(run.identity.run_id))

    def close(self) -> None:
        """Wait for the delivery of the events."""
        self._spool.close(CLOSE_SECONDS)

    def _begin(self, run: WorkflowRun) -> None:
        event = run.event("START")
        self._open_runs.store(event)
        self._spool.add(event)
