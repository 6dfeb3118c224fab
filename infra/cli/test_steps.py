# SPDX-License-Identifier: Apache-2.0
"""Steps of `lab test`: commands that run one after another in lanes, and lanes that run side by side."""

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

STOP_SECONDS = 180
"""Time that a step gets to tear down its labs when it is stopped."""


@dataclass(frozen=True)
class Step:
    """A command that checks something.

    Attributes:
        name: prefix of its output lines.
        words: its command line.
        environment: variables to add.
        reports: JUnit XML files that it writes, or folders of them. A step without any counts as one test.
    """

    name: str
    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    reports: Sequence[Path] = ()

    def variables(self) -> dict[str, str]:
        """Return the environment of its process."""
        return {**os.environ, "PYTHONPATH": python_path(PROJECT), **self.environment}


@dataclass(frozen=True)
class Result:
    """Outcome of a step."""

    step: Step
    status: int
    started: float
    """Seconds since the epoch: a report that is older is of an earlier run."""
    seconds: float


Lane = Sequence[Step]
Stage = Sequence[Lane]


def run_step(step: Step) -> None:
    """Run a step with this process's output.

    Raises:
        LabError: it failed.
    """
    out.print(f"[bold]{step.name}[/bold]")
    result = subprocess.run(step.words, cwd=PROJECT, env=step.variables(), check=False)
    if result.returncode != 0:
        raise LabError(f"{step.name} failed (exit status {result.returncode}), see above")


class StepRunner:
    """Runs stages one after another, the lanes of each side by side. A failure does not stop the other steps."""

    def __init__(self, stop_at: float | None = None) -> None:
        """Prepare a run.

        Args:
            stop_at: seconds since the epoch at which running steps are stopped and no other is started.
        """
        self._stop_at = stop_at
        self._processes: set[subprocess.Popen[str]] = set()
        self._printing = threading.Lock()
        self._is_stopped = False

    def run(self, stages: Sequence[Stage]) -> list[Result]:
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
                    self._stop()
                    raise
        return results

    def _run_lane(self, lane: Lane, width: int) -> list[Result]:
        return [self._run_step(step, f"{step.name:{width}} | ") for step in lane]

    def _run_step(self, step: Step, prefix: str) -> Result:
        if self._is_stopped or self._seconds_left() == 0:
            self._print(f"{prefix}not started: the time was over")
            return Result(step, 1, time.time(), 0)
        started = time.time()
        with subprocess.Popen(
            step.words,
            cwd=PROJECT,
            env=step.variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is passed on once, so that labs are taken down
        ) as process:
            self._processes.add(process)
            timers = self._stop_timers(process)
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
        return Result(step, status, started, seconds)

    def _stop_timers(self, process: subprocess.Popen[str]) -> list[threading.Timer]:
        """Start timers that interrupt a process at the end of the time, and kill it where that does not help."""
        if self._stop_at is None:
            return []
        left = self._seconds_left()
        timers = [
            threading.Timer(left, process.send_signal, [signal.SIGINT]),
            threading.Timer(left + STOP_SECONDS, _kill, [process]),
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        return timers

    def _seconds_left(self) -> float:
        return float("inf") if self._stop_at is None else max(0.0, self._stop_at - time.time())

    def _stop(self) -> None:
        self._is_stopped = True
        for process in list(self._processes):
            process.send_signal(signal.SIGINT)

    def _print(self, line: str) -> None:
        with self._printing:
            print(line, flush=True)


def _accept_interrupts() -> None:
    """Undo an ignored SIGINT, which a shell gives to background commands and every step would inherit."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a step with all that it has started in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
