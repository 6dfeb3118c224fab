# SPDX-License-Identifier: Apache-2.0
"""Flink's application mode: a JobManager that runs one program, and a TaskManager, as child processes of a launcher.

Both listen on loopback, on free ports. They end with the launcher, also when it is killed (Linux): its next start
restores the job from the newest checkpoint.
"""

import logging
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from lineagelab_common.death_signal import die_with_parent
from lineagelab_flink.cluster import CHECKPOINT_FOLDER
from lineagelab_flink.errors import FlinkError, root_cause
from lineagelab_flink.job_definition import ApplicationProgram, JobDefinition
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.rest import FlinkClient
from lineagelab_flink.run_events import stack_trace_of

JOBMANAGER_VARIABLE, TASKMANAGER_VARIABLE = "FLINK_JOBMANAGER", "FLINK_TASKMANAGER"
CHECKPOINTS_VARIABLE = "FLINK_CHECKPOINTS"

START_SECONDS = 300.0
"""Time limit for the program to submit its job, on a busy machine."""

END_SECONDS = 10.0
"""Time in which a process ends after SIGTERM; the listener of lineage in the JobManager delivers its last events."""

TASKMANAGER_PAUSE = 5.0
"""Least seconds between two starts of a TaskManager that keeps ending."""

POLL_SECONDS = 0.2

CAUSE_SECONDS = 8.0
"""Time limit for the cause of a failed program: Flink caches responses for 3 s."""

FATAL_ERRORS = (b"Fatal error occurred in the cluster entrypoint", b"Could not create application program")
"""What a JobManager logs before the error that ends it."""

MAX_TRACE_LINES = 1000

ENDED_BY_SIGNAL = frozenset(128 + number for number in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM))
"""Exit codes of a JVM, or of a shell around it, after a signal."""

FAILED_PROGRAM = "(application driver)"
"""Name of the job that stands for a program that failed before it submitted one."""

_LOOPBACK = "127.0.0.1"

log = logging.getLogger(__name__)


class ApplicationCluster:
    """Cluster of one job; `start` may be called again after its end.

    Args:
        jobmanager: command that takes the arguments of Flink's `StandaloneApplicationClusterEntryPoint`.
        taskmanager: command that takes those of its `TaskManagerRunner`.
        checkpoints: folder below which each job has one for its checkpoints.
        folder: for temporary files.
    """

    def __init__(self, jobmanager: Sequence[str], taskmanager: Sequence[str], checkpoints: str, folder: Path) -> None:
        self.client = FlinkClient(f"http://{_LOOPBACK}:0")
        self._commands = {"JobManager": jobmanager, "TaskManager": taskmanager}
        self._checkpoints = checkpoints
        self.folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._output: JobManagerOutput | None = None
        self._options: dict[str, str] = {}
        self._taskmanager_started = 0.0

    @classmethod
    def of(cls, environment: Mapping[str, str], folder: Path) -> "ApplicationCluster":
        """Return the cluster that the environment describes.

        Raises:
            ValueError: a variable is missing, or contradicts another one.
        """
        required = (JOBMANAGER_VARIABLE, TASKMANAGER_VARIABLE, CHECKPOINTS_VARIABLE)
        missing = [name for name in required if not environment.get(name)]
        if missing:
            raise ValueError(f"application mode needs the environment variables {', '.join(missing)}, too")
        if environment.get("FLINK_URL"):
            raise ValueError(f"set either FLINK_URL, for a session cluster, or {JOBMANAGER_VARIABLE}, not both")
        jobmanager, taskmanager = (shlex.split(environment[name]) for name in required[:2])
        return cls(jobmanager, taskmanager, environment[CHECKPOINTS_VARIABLE], folder)

    def has_no_jobs(self) -> bool:
        jobmanager = self._processes.get("JobManager")
        return jobmanager is None or jobmanager.poll() is not None

    def take_failure(self) -> str:
        output, jobmanager = self._output, self._processes.get("JobManager")
        if output is None or jobmanager is None:
            return ""
        exit_code = jobmanager.poll() or 0
        # A signal is a loss of the cluster: the program has not failed.
        if exit_code <= 0 or exit_code in ENDED_BY_SIGNAL:
            return ""
        self._output = None
        return output.failure(exit_code)

    def restart_taskmanager(self) -> None:
        taskmanager = self._processes.get("TaskManager")
        is_due = time.monotonic() - self._taskmanager_started >= TASKMANAGER_PAUSE
        if taskmanager is not None and taskmanager.poll() is not None and is_due and not self.has_no_jobs():
            log.warning("the TaskManager ended with exit code %d; starting it again", taskmanager.returncode)
            self._launch("TaskManager", ())

    def checkpoint_folder(self) -> str:
        return self._checkpoints

    def start(self, program: ApplicationProgram, name: str, job_id: str, restore: str, parameters: str) -> None:
        """Start the cluster, after the end of a former one, with a program, and wait until it has submitted its job.

        Args:
            program: to run.
            name, job_id: of its job.
            restore, parameters: as of `JobDefinition.submit`.

        Raises:
            FlinkError: the program failed, or has not submitted its job in time. The cluster has ended.
        """
        self.stop()
        self._options = self._addresses()
        self.client.move_to(f"http://{_LOOPBACK}:{self._options['rest.port']}")
        log.info("starting a cluster at %s", self.client.url)
        try:
            self._launch("JobManager", self._entry_point(program, name, job_id, restore, parameters))
            self._launch("TaskManager", ())
            self._await_job(name, job_id)
        except FlinkError:
            self.stop()
            raise

    def stop(self) -> None:
        """End the processes."""
        for process in self._processes.values():
            process.terminate()
        deadline = time.monotonic() + END_SECONDS
        for process in self._processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()

    def close(self) -> None:
        self.stop()
        self.client.close()

    def _addresses(self) -> dict[str, str]:
        rpc, rest = free_ports(2)
        return {
            "jobmanager.rpc.address": _LOOPBACK,
            "jobmanager.rpc.port": str(rpc),
            "jobmanager.bind-host": _LOOPBACK,
            "blob.server.port": "0",
            "rest.address": _LOOPBACK,
            "rest.bind-address": _LOOPBACK,
            "rest.port": str(rest),
            "rest.bind-port": str(rest),
            "taskmanager.host": _LOOPBACK,
            "taskmanager.bind-host": _LOOPBACK,
            "taskmanager.rpc.port": "0",
            "taskmanager.data.port": "0",
            "io.tmp.dirs": str(self.folder),
            "user.artifacts.base-dir": str(self.folder),
            # The launcher restores a lost job itself.
            "high-availability.type": "NONE",
        }

    def _entry_point(
        self, program: ApplicationProgram, name: str, job_id: str, restore: str, parameters: str
    ) -> tuple[str, ...]:
        """Return the arguments of the JobManager. The last option before `--` is none with a list, as `--jars` is."""
        options = {
            **program.configuration,
            CHECKPOINT_FOLDER: self._checkpoints,
            "pipeline.name": name,
            "pipeline.global-job-parameters": parameters,
            # The launcher reads how the job has ended, and stops the cluster then.
            "execution.shutdown-on-application-finish": "false",
            "execution.submit-failed-job-on-application-error": "true",
            **({"execution.state-recovery.claim-mode": "CLAIM"} if restore else {}),
        }
        return (
            *program.options,
            *_dynamic(options),
            *(("--fromSavepoint", restore) if restore else ()),
            *("--job-id", job_id),
            *("--", *program.arguments),
        )

    def _launch(self, what: str, arguments: Sequence[str]) -> None:
        command = [*self._commands[what], *_dynamic(self._options), *arguments]
        try:
            self._processes[what] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if what == "JobManager" else None,
                stderr=subprocess.STDOUT,
                # A signal to the group of this process must not end the cluster before the job has its savepoint.
                start_new_session=True,
                preexec_fn=die_with_parent(os.getpid()),
            )
        except OSError as error:
            raise FlinkError(f"cannot run the {what}, {command[0]}: {error}") from error
        if what == "JobManager":
            self._output = JobManagerOutput(self._processes[what])
        else:
            self._taskmanager_started = time.monotonic()

    def _await_job(self, name: str, job_id: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            jobmanager = self._processes["JobManager"]
            if jobmanager.poll() is not None:
                cause = self.take_failure() or f"the JobManager ended with exit code {jobmanager.returncode}"
                raise FlinkError(f"{name}: {cause}")
            found = self._name_of(job_id)
            if found == FAILED_PROGRAM:
                raise FlinkError(f"{name}: the program failed: {self._cause(job_id)}")
            if found:
                return
            time.sleep(POLL_SECONDS)
        raise FlinkError(f"{name}: the program did not submit its job within {START_SECONDS:g} s")

    def _name_of(self, job_id: str) -> str:
        """Return the name of a job; empty if the JobManager does not know it, or is starting."""
        try:
            return next((name for name, job in self.client.jobs() if job.job_id == job_id), "")
        except FlinkError as error:
            log.debug("%s", error)
            return ""

    def _cause(self, job_id: str) -> str:
        deadline = time.monotonic() + CAUSE_SECONDS
        while not (trace := stack_trace_of(self.client.exceptions(job_id))) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return root_cause(trace)


class JobManagerOutput:
    """Output of a JobManager, which is copied to standard output and searched for the error that ended the JobManager.

    A program that fails after it has submitted its job ends the JobManager, and with it the job.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None, "the output is piped"
        self._stream = process.stdout
        self._fatal: list[str] | None = None
        self._thread = threading.Thread(target=self._copy, name="output of the JobManager", daemon=True)
        self._thread.start()

    def failure(self, exit_code: int) -> str:
        """Return why the JobManager, which has ended, has done so."""
        self._thread.join(END_SECONDS)
        cause = f": {root_cause(chr(10).join(self._fatal))}" if self._fatal else "; its log says why"
        return f"the JobManager ended with exit code {exit_code}{cause}"

    def _copy(self) -> None:
        with self._stream:
            for line in self._stream:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
                if any(message in line for message in FATAL_ERRORS):
                    self._fatal = []
                elif self._fatal is not None and len(self._fatal) < MAX_TRACE_LINES:
                    self._fatal.append(line.decode(errors="replace").rstrip())


class ApplicationJob:
    """A job that is submitted with a cluster of its own."""

    def __init__(self, definition: JobDefinition, cluster: ApplicationCluster) -> None:
        self.name = definition.name
        self.identity = definition.identity
        self.job_type = definition.job_type
        self.names_datasets = definition.names_datasets
        self._definition = definition
        self._cluster = cluster

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Start the cluster, which submits the job. Raises FlinkError."""
        program = self._definition.application(self._cluster.folder)
        self._cluster.start(program, self.name, job_id, restore, parameters)

    def application(self, folder: Path) -> ApplicationProgram:
        return self._definition.application(folder)

    def describe(self) -> JobLineage:
        return self._definition.describe()


def free_ports(count: int) -> list[int]:
    """Return ports of loopback on which nothing listens."""
    with ExitStack() as stack:
        return list(_bound_ports(count, stack))


def _bound_ports(count: int, stack: ExitStack) -> Iterator[int]:
    for _ in range(count):
        server = stack.enter_context(closing(socket.socket()))
        server.bind((_LOOPBACK, 0))
        yield server.getsockname()[1]


def _dynamic(options: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for key, value in options.items() for word in ("-D", f"{key}={value}"))
