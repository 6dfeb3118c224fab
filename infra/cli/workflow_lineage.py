# SPDX-License-Identifier: Apache-2.0
"""Runs of a workflow in the lineage: one of the workflow, below it one for each attempt of a step.

The programs of a step get its run as their parent, and the workflow's as the root of the hierarchy.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from infra.namespaces import JOB_NAMESPACE
from lineagelab_common.events import EventWriter, Json
from lineagelab_common.identifiers import PARENT, ROOT_PARENT, ParentRun, new_run_id, now
from lineagelab_common.open_runs import OpenRuns, take_terminal_events
from lineagelab_common.spool import Receiver, Spool

WRITER = EventWriter("urn:lineage-lab:jobs:workflow")

CLOSE_SECONDS = 10.0
"""Time limit of the delivery of events at the end; what is left stays in a file for the next run."""


@dataclass(frozen=True)
class WorkflowRun:
    """Run of a workflow, or of one of its steps, whose job is `WORKFLOW.STEP`."""

    identity: ParentRun

    @property
    def parent(self) -> ParentRun | None:
        """Run of the workflow, for a step; it is the root, too."""
        root = self.identity.root
        return None if root is None else replace(root, root=root)

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables of the programs of a step."""
        return {PARENT: str(self.identity), ROOT_PARENT: str(self.identity.root or self.identity)}

    def event(self, event_type: str, error: str = "") -> Json:
        """Return an event of now; `error` is the reason of a failure."""
        facets: Json = {}
        if self.parent is not None:
            facets["parent"] = WRITER.parent(self.parent)
        if error:
            facets["errorMessage"] = WRITER.error(error, "Python")
        kind = "WORKFLOW" if self.parent is None else "STEP"
        job_type = WRITER.facet("jobType", processingType="NONE", integration="LINEAGE_LAB", jobType=kind)
        job = {"namespace": self.identity.namespace, "name": self.identity.job, "facets": {"jobType": job_type}}
        return WRITER.run_event(event_type, now(), {"runId": self.identity.run_id, "facets": facets}, job, [], [])


class WorkflowLineage:
    """Reporter of one run of a workflow.

    Args:
        name: name of the workflow.
        receiver: receiver of the events.
        folder: folder for events and runs that outlive this process; one process at a time uses it.
    """

    def __init__(self, name: str, receiver: Receiver, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        open_runs = folder / "open-runs.json"
        self._spool = Spool(receiver, folder / "unsent-events.json")
        for event in take_terminal_events(open_runs, "ABORT", "", now()):
            self._spool.add(event)  # of a process that was killed
        self._open_runs = OpenRuns(open_runs)
        self.root = WorkflowRun(ParentRun(JOB_NAMESPACE, name, new_run_id()))

    def start(self) -> None:
        """Report the start of the workflow."""
        self._begin(self.root)

    def start_step(self, step: str) -> WorkflowRun:
        """Report the start of an attempt of a step."""
        top = self.root.identity
        run = WorkflowRun(ParentRun(JOB_NAMESPACE, f"{top.job}.{step}", new_run_id(), root=top))
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
