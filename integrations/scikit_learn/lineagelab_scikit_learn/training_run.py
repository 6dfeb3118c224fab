# SPDX-License-Identifier: Apache-2.0
"""A training as a run: START, and COMPLETE, FAIL or ABORT."""

from collections.abc import Callable
from types import TracebackType

from lineagelab_common.events import Json
from lineagelab_common.identifiers import ParentRun, new_run_id, now
from lineagelab_common.open_runs import OpenRuns
from lineagelab_scikit_learn.training import WRITER, Trained, Training

_ENGINE = "scikit-learn"


class TrainingRun:
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
        self.run_id = new_run_id()
        self._send = send
        self._namespace = namespace
        self._job = job
        self._training = training
        self._version = version
        self._parent = parent
        self._open_runs = open_runs or OpenRuns(None)
        self._trained: Trained | None = None

    def __enter__(self) -> "TrainingRun":
        """Report the start."""
        event = self._event("START")
        self._open_runs.store(event)
        self._send(event)
        return self

    def completed(self, trained: Trained) -> None:
        """Take the result of the training, whose model is stored."""
        self._trained = trained

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Report the end."""
        if error is not None and not isinstance(error, Exception):
            self._end(self._event("ABORT"))
        elif error is not None:
            self._end(self._event("FAIL", f"{type(error).__name__}: {error}"))
        elif self._trained is None:
            self._end(self._event("FAIL", "the training ended without a model"))
        else:
            self._end(self._event("COMPLETE"))

    def _end(self, event: Json) -> None:
        self._send(event)
        self._open_runs.remove(self.run_id)

    def _event(self, event_type: str, error: str = "") -> Json:
        facets: Json = {}
        if self._version:
            facets["processing_engine"] = WRITER.facet("processing_engine", name=_ENGINE, version=self._version)
        if self._parent is not None:
            facets["parent"] = WRITER.parent(self._parent)
        if error:
            facets["errorMessage"] = WRITER.error(error, "PYTHON")
        kind = WRITER.facet("jobType", processingType="BATCH", integration="SCIKIT_LEARN", jobType="TRAINING")
        job = {"namespace": self._namespace, "name": self._job, "facets": {"jobType": kind}}
        trained = None if error else self._trained
        inputs, outputs = self._training.inputs(trained), self._training.outputs(trained)
        return WRITER.run_event(event_type, now(), {"runId": self.run_id, "facets": facets}, job, inputs, outputs)
