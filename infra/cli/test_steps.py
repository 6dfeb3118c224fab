# SPDX-License-Identifier: Apache-2.0
"""Steps of `lab test`: commands in lanes; the lanes of a stage run in parallel."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from infra.cli.console import out
from infra.errors import LabError
from infra.project import PROJECT, python_path

SHUTDOWN_TIMEOUT = 180
"""Seconds that an interrupted step has to remove its labs before it is killed."""


@dataclass(frozen=True)
class Step:
    """Command of a test run.

    Attributes:
        name: name of the step, and prefix of its output lines.
        command: command line.
        environment: environment variables to add to those of this process.
        reports: JUnit XML files that it writes, or folders of them. A step without reports counts as one test.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    reports: Sequence[Path] = ()

    def process_environment(self) -> dict[str, str]:
        """Return all environment variables of its process."""
        return {**os.environ, "PYTHONPATH": python_path(PROJECT), **self.environment}


@dataclass(frozen=True)
class StepResult:
    """Outcome of a step.

    Attributes:
        step: the step.
        status: exit status.
        started: start time in seconds since the epoch; older reports belong to an earlier run.
        seconds: duration.
    """

    step: Step
    status: int
    started: float
    seconds: float


Lane = Sequence[Step]
Stage = Sequence[Lane]


def run_step(step: Step) -> None:
    """Run a step that inherits the output of this process.

    Raises:
        LabError: the step failed.
    """
    out.print(f"[bold]{step.name}[/bold]")
    result = subprocess.run(step.command, cwd=PROJECT, env=step.process_environment(), check=False)
    if result.returncode != 0:
        raise LabError(f"{step.name} failed (exit status {result.returncode}); see its output above")


class StepRunner:
    """Runs stages one after another, and the lanes of a stage in parallel; a failure does not stop other steps."""

    def __init__(self, stop_at: float | None = None) -> None:
        """Create a runner.

        Args:
            stop_at: seconds since the epoch at which running steps are interrupted and no further step starts.
        """
        self._stop_at = stop_at
        self._processes: set[subprocess.Popen[str]] = set()
        self._print_lock = threading.Lock()
        self._interrupted = False

    def run(self, stages: Sequence[Stage]) -> list[StepResult]:
        """Run all stages; return the results in the order of the steps."""
        _accept_interrupts()
        results = []
        for stage in stages:
            width = max(len(step.name) for lane in stage for step in lane)
            with ThreadPoolExecutor(len(stage)) as pool:
                lanes = [pool.submit(self._run_lane, lane, width) for lane in stage]
                try:
                    results += [result for lane in lanes for result in lane.result()]
                except BaseException:
                    self._interrupt_steps()
                    raise
        return results

    def _run_lane(self, lane: Lane, width: int) -> list[StepResult]:
        return [self._run_step(step, f"{step.name:{width}} | ") for step in lane]

    def _run_step(self, step: Step, prefix: str) -> StepResult:
        if self._interrupted or self._seconds_left() == 0:
            self._print(f"{prefix}not started: interrupted, or the deadline has passed")
            return StepResult(step, 1, time.time(), 0)
        started = time.time()
        with subprocess.Popen(
            step.command,
            cwd=PROJECT,
            env=step.process_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C does not reach the step: it is interrupted once and removes its labs
        ) as process:
            self._processes.add(process)
            timers = self._start_timers(process)
            assert process.stdout is not None
            for line in process.stdout:
                self._print(prefix + line.rstrip())
            status = process.wait()
            for timer in timers:
                timer.cancel()
            self._processes.discard(process)
        seconds = time.time() - started
        outcome = "passed" if status == 0 else f"FAILED (exit status {status})"
        self._print(f"{prefix}{outcome} in {seconds:.0f} s")
        return StepResult(step, status, started, seconds)

    def _start_timers(self, process: subprocess.Popen[str]) -> list[threading.Timer]:
        """Start timers that interrupt a process at the deadline, and kill it after the shutdown timeout."""
        if self._stop_at is None:
            return []
        left = self._seconds_left()
        timers = [
            threading.Timer(left, process.send_signal, [signal.SIGINT]),
            threading.Timer(left + SHUTDOWN_TIMEOUT, _kill_process_group, [process]),
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        return timers

    def _seconds_left(self) -> float:
        return float("inf") if self._stop_at is None else max(0.0, self._stop_at - time.time())

    def _interrupt_steps(self) -> None:
        self._interrupted = True
        for process in list(self._processes):
            process.send_signal(signal.SIGINT)

    def _print(self, line: str) -> None:
        with self._print_lock:
            print(line, flush=True)


def _accept_interrupts() -> None:
    """Handle SIGINT even if this process inherited it as ignored, as background commands of a shell do."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _kill_process_group(process: subprocess.Popen[str]) -> None:
    """Kill all processes of a step, which has its own process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
