# SPDX-License-Identifier: Apache-2.0
"""Sees to one Flink job: submits it, watches it, speaks of it, and brings it back. `lifecycle` decides, this does."""

import logging
import os
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from lineagelab_common.identifiers import DEFAULT_NAMESPACE
from lineagelab_common.spool import Spool
from lineagelab_flink import checkpoints, lifecycle, statistics
from lineagelab_flink.errors import FlinkAwayError, FlinkError
from lineagelab_flink.job_definition import Definition, Inquiry
from lineagelab_flink.launcher_state import Notebook
from lineagelab_flink.lifecycle import Event, Launch, Leave, Note, Pace, Phase, Stop, Submit, View
from lineagelab_flink.rest import Rest
from lineagelab_flink.run_reporter import Speaker

POLL_SECONDS = 1.0
STOPPING_POLL_SECONDS = 0.2
CHECKPOINT_SECONDS = 3.0
"""Between two looks at the newest checkpoint. The cluster keeps the last three."""

LAST_WORDS_SECONDS = 30.0
"""For the lineage service, when a job has ended by itself. Whoever asks the launcher to stop waits less."""

ASKED_LAST_WORDS_SECONDS = 5.0

MAX_SPOOL_BYTES = 4 * 2**20
"""Size limit of waiting events, which are rewritten to disk with each change."""

LINEAGE_TIMEOUT = 5.0
"""Seconds for the connection, and for each part of a response."""

MARK = "lineage-lab.definition"
"""The parameter by which a job tells which definition it has, and that it is a launcher's."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where a launcher finds the cluster, and keeps what it must not forget."""

    flink: str
    lineage: str
    namespace: str
    state: Path
    spool: Path

    @classmethod
    def of(cls, environment: Mapping[str, str], scratch: Path) -> "Place":
        """As the environment says it.

        Raises:
            KeyError: something is missing in it.
        """
        return cls(
            environment["FLINK_URL"],
            environment.get("LINEAGE_URL", ""),
            environment.get("OPENLINEAGE_NAMESPACE") or DEFAULT_NAMESPACE,
            Path(environment.get("FLINK_STATE") or scratch / "state.json"),
            Path(environment.get("LINEAGE_OPEN_RUNS") or scratch / "untold.json"),
        )


class Launcher:
    """One job's launcher. With `once`, a failure ends it."""

    def __init__(self, definition: Definition, place: Place, stop: threading.Event, *, once: bool) -> None:
        self._definition = definition
        self._once = once
        self._stop = stop
        self._rest = Rest(place.flink)
        self._spool = Spool(place.lineage, place.spool, max_bytes=MAX_SPOOL_BYTES, timeout=LINEAGE_TIMEOUT)
        self._notebook = Notebook(place.state)
        self._pace = Pace()
        self._last_note = ""
        self._looked = 0.0
        self._has_savepoint = False
        self._inquiry = Inquiry(definition)
        self._speaker = Speaker(place.namespace, definition, self._rest, self._spool, self._notebook, self._inquiry)

    def run(self) -> bool:
        """Sees to the job until it is over, or until it is stopped because the launcher is; whether that went well."""
        try:
            while (leave := self._turn()) is None:
                if self._stop.is_set():
                    time.sleep(STOPPING_POLL_SECONDS)  # Flink is cancelling the job
                else:
                    self._stop.wait(POLL_SECONDS)
            return not leave.failed
        finally:
            self._rest.close()
            asked = self._stop.is_set()
            never = threading.Event()
            seconds = ASKED_LAST_WORDS_SECONDS if asked else LAST_WORDS_SECONDS
            self._spool.close(seconds, never if asked else self._stop)

    def _turn(self) -> Leave | None:
        """One look and what follows from it; None where there is to be another."""
        view = self._view()
        launch = self._launch()
        if view is not None and view.own is not None:
            self._look_at_checkpoints(view.own.is_over)
            launch = self._launch()
        if launch.memory.phase is Phase.OPEN and self._asks(launch.memory.definition) and self._speaker.learn(0.0):
            launch = replace(launch, pace=replace(self._pace, running=launch.now))
        after, self._pace, actions = lifecycle.step(launch, view)
        for action in actions:
            if isinstance(action, Event):
                self._speaker.say(action, hurry=launch.stop)
                # A pause counts from when all is said, which may take a while.
                spent, launch = time.monotonic() - launch.now, replace(launch, now=time.monotonic())
                self._pace = replace(self._pace, submit=self._pace.submit + spent)
        self._notebook.keep(memory=after)
        if not actions and view is not None:
            self._last_note = ""
        for action in actions:
            if isinstance(action, Note):
                self._note(action.text)
            elif isinstance(action, Submit) and not self._submit():
                return Leave(failed=True)
            elif isinstance(action, Stop):
                self._stop_job(after.job_id)
        return next((action for action in actions if isinstance(action, Leave)), None)

    def _launch(self) -> Launch:
        return Launch(
            memory=self._notebook.kept.memory,
            pace=self._pace,
            definition=self._definition.identity,
            stop=self._stop.is_set(),
            now=time.monotonic(),
            new_id=os.urandom(16).hex(),
            once=self._once,
        )

    def _view(self) -> View | None:
        """What the cluster shows; None where it does not answer."""
        try:
            jobs = self._rest.jobs()
            known = self._notebook.kept.memory.job_id
            own = next((job for _, job in jobs if known and job.job_id == known), None)
            others = [job for name, job in jobs if name == self._definition.name and not job.is_over and job is not own]
            if own is not None or not others:
                return View(own)
            return View(None, others[0], self._rest.mark(others[0].job_id, MARK))
        except FlinkError as error:
            log.debug("%s", error)
            return None

    def _look_at_checkpoints(self, at_once: bool) -> None:
        """Remembers the newest checkpoint of the job. Nothing is newer than the savepoint with which it was stopped."""
        now = time.monotonic()
        if self._has_savepoint or (not at_once and now - self._looked < CHECKPOINT_SECONDS):
            return
        asked = self._notebook.kept.memory.asked
        self._looked = now
        try:
            found = statistics.newest(self._rest.checkpoints(self._notebook.kept.memory.job_id))
        except FlinkError as error:
            log.debug("the newest checkpoint is not known: %s", error)
            return
        if found is None or (asked and not found.get("is_savepoint")):
            return  # Flink answers for 3 s what was true before: it may not know of the savepoint yet
        if str(found["external_path"]) != self._notebook.kept.memory.restore:
            self._notebook.keep(memory=replace(self._notebook.kept.memory, restore=str(found["external_path"])))

    def _asks(self, definition: str) -> bool:
        """Sees to it that somebody finds out what a job reads and writes; whether anybody has to."""
        if definition == self._notebook.kept.described.definition or definition != self._definition.identity:
            return False
        self._inquiry.begin()
        return True

    def _submit(self) -> bool:
        """Whether there is hope, should it have come to nothing."""
        remembered = self._notebook.kept.memory
        self._has_savepoint = False
        self._asks(remembered.definition)
        restore = remembered.restored
        try:
            restore = checkpoints.newest(restore)
            if restore != remembered.restored:
                self._notebook.keep(memory=replace(remembered, restored=restore))
            log.info("submits job %s%s", remembered.job_id, f", which goes on from {restore}" if restore else "")
            self._definition.submit(remembered.job_id, restore, f"{MARK}:{self._definition.identity}")
            self._notebook.keep(problem="")
        except FlinkError as error:
            after, self._pace = lifecycle.refused(self._launch())
            self._notebook.keep(memory=after, problem=str(error))
            hope = not self._once or isinstance(error, FlinkAwayError)
            again = f". It is tried again in {lifecycle.pause(after.failures):.0f} s" if hope else ""
            log.error("%s%s", error, again)
            return hope
        return True

    def _stop_job(self, job_id: str) -> None:
        """With a savepoint where there can be one; the next look sees what came of it."""
        try:
            savepoint = self._rest.cancel_with_savepoint(job_id)
            self._notebook.keep(memory=replace(self._notebook.kept.memory, restore=savepoint))
            self._has_savepoint = True
            log.info("job %s is cancelled; the next one goes on from %s", job_id, savepoint)
        except FlinkAwayError as error:
            log.warning("%s. It is asked once more when it does", error)
            self._notebook.keep(memory=replace(self._notebook.kept.memory, asked=False))
        except FlinkError as error:
            log.warning("%s. It is cancelled without", error)
            self._cancel(job_id)

    def _cancel(self, job_id: str) -> None:
        try:
            self._rest.cancel(job_id)
        except FlinkError as error:
            log.debug("job %s is over already, or the cluster is: %s", job_id, error)

    def _note(self, text: str) -> None:
        if text != self._last_note:
            log.warning("%s: %s", self._definition.name, text)
        self._last_note = text


def run(definition: Definition, place: Place, *, once: bool = False) -> int:
    """Runs a launcher until its job is over or SIGTERM or SIGINT asks it to stop; returns the exit code.

    Args:
        definition: of the job.
        place: of the cluster.
        once: a job that fails ends the launcher, with exit code 1.

    Raises:
        OSError: what must not be forgotten cannot be kept.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    log.info("sees to %s, definition %s", definition.name, definition.identity)
    return 0 if Launcher(definition, place, stop, once=once).run() else 1
