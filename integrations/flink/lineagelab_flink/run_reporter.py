# SPDX-License-Identifier: Apache-2.0
"""Speaks of a job to the lineage service: gathers what an event needs, and puts the event into the outbox.

Whatever is not known is left out of an event. Nothing here raises because of it: lineage stops no job.
"""

import logging
import time

from lineagelab_common.spool import Spool
from lineagelab_flink import run_events, statistics
from lineagelab_flink.errors import FlinkError, root_cause
from lineagelab_flink.job_definition import Definition, Inquiry
from lineagelab_flink.launcher_state import Described, Notebook
from lineagelab_flink.lifecycle import Event, Memory, Say
from lineagelab_flink.rest import Rest
from lineagelab_flink.run_events import Failure, FlinkRun, Saying, Window
from lineagelab_flink.statistics import Figures

CAUSE_SECONDS = 8.0
"""For Flink to say why a job has failed: it answers for 3 s what was true before."""

BETWEEN_QUESTIONS = 0.5

_PATIENCE = {Say.START: 10.0, **dict.fromkeys((Say.COMPLETE, Say.FAIL, Say.ABORT), 60.0)}
"""Seconds for which an event waits until it is known what the job reads and writes. It has RUNNING ones in between."""

log = logging.getLogger(__name__)


class Speaker:
    """Says how the runs of one job go."""

    def __init__(
        self, namespace: str, definition: Definition, rest: Rest, spool: Spool, notebook: Notebook, inquiry: Inquiry
    ) -> None:
        self._namespace = namespace
        self._definition = definition
        self._rest = rest
        self._spool = spool
        self._notebook = notebook
        self._inquiry = inquiry
        self._figures: tuple[float, Figures] | None = None
        self._last_event = 0

    def say(self, action: Event, *, hurry: bool) -> None:
        """Puts an event into the outbox. In a hurry it does not wait to learn more.

        Raises:
            OSError: it cannot be kept.
        """
        job = action.of
        if job.started is None:
            return  # it was never seen: there is no run
        if action.what is Say.START:
            self._get_to_know(job)
        self.learn(0.0 if hurry else _PATIENCE.get(action.what, 0.0))
        run = FlinkRun(
            namespace=self._namespace,
            name=self._definition.name,
            job_id=job.job_id,
            started=job.started,
            processing=self._notebook.kept.processing,
            job_type=self._definition.job_type,
            version=self._notebook.kept.version,
            restored=job.restored,
        )
        self._last_event = max(self._last_event + 1, time.time_ns() // 10**6)
        saying = Saying(
            what=action.what,
            at=action.at if action.at is not None else self._last_event,
            why=action.why,
            window=self._window(action.what, job.job_id),
            failure=self._failure(job.job_id) if action.what is Say.FAIL else None,
        )
        known = self._notebook.kept.described
        described = known if known.definition == job.definition else Described()
        self._spool.add(run_events.event(run, described, saying))
        if action.what is not Say.RUNNING:
            log.info("%s of job %s%s", action.what, job.job_id, f": {action.why}" if action.why else "")
        if saying.failure is not None:
            log.error("job %s has failed: %s", job.job_id, saying.failure.message)

    def _get_to_know(self, job: Memory) -> None:
        """At the start of a run: what is asked of the cluster while it can be asked."""
        try:
            version, kind = self._rest.version(), str(self._rest.job(job.job_id).get("job-type", "STREAMING"))
            self._notebook.keep(version=version, processing=kind)
        except FlinkError as error:
            log.debug("the kind of the job is not known: %s", error)

    def learn(self, seconds: float) -> bool:
        """Takes over what was found out about the job, after at most so long; whether that is new."""
        found = self._inquiry.answer(seconds)
        if found is None or found == self._notebook.kept.described:
            return False
        self._notebook.keep(described=found)
        return True

    def _window(self, what: Say, job_id: str) -> Window | None:
        if what is Say.START:
            self._figures = (time.monotonic(), Figures(read={}, written={}))
            return None
        try:
            after = statistics.gather(self._rest, job_id)
        except FlinkError as error:
            log.debug("how job %s goes is not known: %s", job_id, error)
            return None
        now = time.monotonic()
        began, before = self._figures or (now, Figures())
        self._figures = (now, after)
        return Window(now - began, before, after)

    def _failure(self, job_id: str) -> Failure:
        deadline = time.monotonic() + CAUSE_SECONDS
        while True:
            try:
                said = self._rest.exceptions(job_id)
            except FlinkError as error:
                return Failure(f"Flink does not say why: {error}")
            trace = run_events.trace_of(said)
            if trace or time.monotonic() > deadline:
                return run_events.failure_of(said, root_cause(trace))
            time.sleep(BETWEEN_QUESTIONS)
