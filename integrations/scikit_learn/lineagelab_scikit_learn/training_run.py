# SPDX-License-Identifier: Apache-2.0
"""A training as a run: START, and COMPLETE, FAIL or ABORT."""

from collections.abc import Callable

from lineagelab_common.events import Json
from lineagelab_common.identifiers import ParentRun, now
from lineagelab_common.open_runs import OpenRuns
from lineagelab_common.reported_run import ReportedRun
from lineagelab_scikit_learn.training import WRITER, Trained, Training

_ENGINE = "scikit-learn"


class TrainingRun(ReportedRun):
    """Context that reports one training; call `completed` in it when the model is stored.

    An exception in the context, or no model, is a failed run; Ctrl-C an aborted one. No exception is suppressed.

    Args:
        send: takes each event, such as `Spool(url).add`.
        namespace, job: of the training's job.
        training: what is trained, and on what.
        version: of scikit-learn.
        parent: run that the training is part of.
        open_runs: file by which a later run ends this one if the process is killed.
    """

    def __init__(
        self,
        send: Callable[[Json], None],
        namespace: str,
        job: str,
        training: Training,
        version: str = "",
        parent: ParentRun | None = None,
        open_runs: OpenRuns | None = None,
    ) -> None:
        super().__init__(send, open_runs)
        self._namespace = namespace
        self._job = job
        self._training = training
        self._version = version
        self._parent = parent
        self._trained: Trained | None = None

    def completed(self, trained: Trained) -> None:
        """Take the result of the training, whose model is stored."""
        self._trained = trained

    def _failure(self) -> str:
        return "" if self._trained is not None else "the training ended without a model"

    def _event(self, event_type: str, error: str = "") -> Json:
        facets = WRITER.run_facets(_ENGINE, self._version, self._parent, error, "PYTHON")
        kind = WRITER.facet("jobType", processingType="BATCH", integration="SCIKIT_LEARN", jobType="TRAINING")
        job = {"namespace": self._namespace, "name": self._job, "facets": {"jobType": kind}}
        trained = None if error else self._trained
        inputs, outputs = self._training.inputs(trained), self._training.outputs(trained)
        return WRITER.run_event(event_type, now(), {"runId": self.run_id, "facets": facets}, job, inputs, outputs)
