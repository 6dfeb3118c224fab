# SPDX-License-Identifier: Apache-2.0
"""Injection of faults into a running lab of local processes."""

import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import psutil

from tests.chaos.faults import SMALL_DISKS, Fault, Kind
from tests.smoke.lab_under_test import LabUnderTest

RECOVERY_SECONDS = 180
"""Limit for a service to have a process again, and for a REST interface to respond."""

CLOCK_STEP = "+10m"
"""Step of a process's clock, in the syntax of libfaketime."""

CLOCK_LIBRARIES = ("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1")
SMALL_DISK_MIB = 2048
BALLAST = ".ballast"

RECONFIGURED_OPTION = "errors.retry.delay.max.ms"
"""Option of a connector that a fault changes. It alters no data, but restarts the connector's tasks."""


def clock_library() -> str | None:
    """Return the path of libfaketime; None if it is not installed."""
    return next((path for path in CLOCK_LIBRARIES if Path(path).exists()), None)


def wait_until(condition: Callable[[], object], what: str, seconds: float = RECOVERY_SECONDS) -> None:
    """Poll a condition until it is true.

    Raises:
        AssertionError: it was false for `seconds`.
    """
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"{what}: timed out after {seconds:.0f} s"
        waiter.wait(0.2)


@contextmanager
def small_disks(lab: LabUnderTest) -> Iterator[None]:
    """Move the volumes of `SMALL_DISKS` to file systems of `SMALL_DISK_MIB` in loop files, and unmount them on exit.

    Requires root and a running lab; each service is stopped while its data move.

    Raises:
        subprocess.CalledProcessError: this machine cannot mount loop files.
    """
    with ExitStack() as mounted:
        for service, volume in SMALL_DISKS:
            _mount(lab, service, Path(lab.supervisor.volume_location(service, volume)), mounted)
        yield


def can_mount(folder: Path) -> bool:
    """Return True if this process can mount a loop file."""
    folder.mkdir(parents=True, exist_ok=True)
    image, target = folder / "probe.img", folder / "probe"
    try:
        _make_file_system(image, 8)
        target.mkdir(exist_ok=True)
        subprocess.run(["mount", "-o", "loop", image, target], check=True, capture_output=True)
        subprocess.run(["umount", target], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        image.unlink(missing_ok=True)
    return True


class Injector:
    """Injects faults into one lab."""

    def __init__(self, lab: LabUnderTest) -> None:
        self._lab = lab
        self._injections: dict[Kind, Callable[[Fault], str]] = {
            Kind.KILL: self._kill,
            Kind.FREEZE: self._freeze,
            Kind.RESTART: self._restart,
            Kind.OUTAGE: self._outage,
            Kind.DISK_FULL: self._fill_disk,
            Kind.CLOCK_STEP: self._step_clock,
            Kind.CANCEL: self._cancel,
            Kind.RECONFIGURE: self._reconfigure,
        }

    def inject(self, fault: Fault) -> str:
        """Inject a fault and return what was done. After it the target has a process, ready or not.

        Raises:
            AssertionError: a service did not get a new process, or a REST interface did not respond in time.
        """
        return self._injections[fault.kind](fault)

    def _pid(self, service: str) -> int:
        """Return the process id of a service; waits for one that is starting."""
        wait_until(lambda: self._lab.supervisor.require_state(service).pid, f"{service}: start")
        return self._lab.supervisor.require_state(service).pid

    def _wait_for_new_process(self, service: str, before: int) -> None:
        wait_until(
            lambda: self._lab.supervisor.require_state(service).pid not in {0, before}, f"{service}: new process"
        )

    def _kill(self, fault: Fault) -> str:
        before = self._pid(fault.target)
        with suppress(psutil.NoSuchProcess):  # exited already, still starting after the previous fault
            psutil.Process(before).kill()
        self._wait_for_new_process(fault.target, before)
        return f"SIGKILL to process {before}"

    def _freeze(self, fault: Fault) -> str:
        stopped = []
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._pid(fault.target))
            stopped = [root, *root.children(recursive=True)]
        for process in stopped:
            _signal(process, signal.SIGSTOP)
        threading.Event().wait(fault.seconds)
        for process in stopped:
            _signal(process, signal.SIGCONT)
        return f"SIGSTOP and SIGCONT to {len(stopped)} processes"

    def _restart(self, fault: Fault) -> str:
        before = self._pid(fault.target)
        self._lab.supervisor.stop(fault.target)
        self._lab.supervisor.run(fault.target)
        self._wait_for_new_process(fault.target, before)
        return "stopped with SIGTERM, started at once"

    def _outage(self, fault: Fault) -> str:
        self._pid(fault.target)
        self._lab.supervisor.stop(fault.target)
        threading.Event().wait(fault.seconds)
        self._lab.supervisor.run(fault.target)
        return "stopped with SIGTERM, started later"

    def _fill_disk(self, fault: Fault) -> str:
        folder = Path(self._lab.supervisor.volume_location(fault.target, dict(SMALL_DISKS)[fault.target]))
        ballast, written = folder / BALLAST, 0
        with suppress(OSError), ballast.open("wb") as file:  # ends when the file system is full
            while True:
                written += file.write(bytes(2**20))
        threading.Event().wait(fault.seconds)
        ballast.unlink()
        return f"file system full after {written // 2**20} MiB"

    def _step_clock(self, fault: Fault) -> str:
        script = self._lab.root / "services" / fault.target / "run"
        original = script.read_text(encoding="utf-8")
        first, rest = original.split("\n", 1)
        step = f"export LD_PRELOAD={clock_library()} FAKETIME={CLOCK_STEP} FAKETIME_DONT_FAKE_MONOTONIC=1"
        try:
            script.write_text(f"{first}\n{step}\n{rest}", encoding="utf-8")
            self._restart(fault)
            threading.Event().wait(fault.seconds)
        finally:
            script.write_text(original, encoding="utf-8")
        self._restart(fault)
        return f"restarted with a clock at {CLOCK_STEP}, then with the machine's"

    def _cancel(self, fault: Fault) -> str:
        """Cancel a Flink job as a user of Flink's page does, and start its launcher again."""
        flink, cancelled = self._lab.environment["LAB_FLINK"], []

        def cancel() -> bool:
            try:
                for job in _get(f"{flink}/jobs/overview")["jobs"]:
                    if job["name"] == fault.target and job["state"] in {"RUNNING", "RESTARTING", "CREATED"}:
                        httpx.patch(f"{flink}/jobs/{job['jid']}?mode=cancel", timeout=60).raise_for_status()
                        cancelled.append(job["jid"])
            except httpx.HTTPError:
                return False  # the JobManager is starting
            return True

        wait_until(cancel, "Flink's REST interface")
        if not cancelled:
            return "no job was running"
        wait_until(lambda: not self._lab.supervisor.require_state(fault.target).running, f"{fault.target}: end")
        self._lab.supervisor.run(fault.target)
        return f"cancelled job {', '.join(cancelled)}, started again"

    def _reconfigure(self, fault: Fault) -> str:
        url = f"{self._lab.environment['LAB_CONNECT']}/connectors/{fault.target}/config"
        changed: list[int] = []

        def put() -> bool:
            try:
                config = _get(url)
                delay = int(config.get(RECONFIGURED_OPTION, 5000)) + 1
                httpx.put(url, json=config | {RECONFIGURED_OPTION: str(delay)}, timeout=60).raise_for_status()
            except httpx.HTTPError:
                return False  # the worker is starting or rebalancing
            changed.append(delay)
            return True

        wait_until(put, "Kafka Connect's REST interface")
        return f"{RECONFIGURED_OPTION} is {changed[-1]}"


def _get(url: str) -> dict:
    return httpx.get(url, timeout=60, trust_env=False).raise_for_status().json()


def _signal(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess):  # ended on its own
        process.send_signal(number)


def _make_file_system(image: Path, mib: int) -> None:
    with image.open("wb") as file:
        file.truncate(mib * 2**20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)


def _mount(lab: LabUnderTest, service: str, folder: Path, mounted: ExitStack) -> None:
    image, copy = folder.with_suffix(".img"), folder.with_suffix(".copy")
    _make_file_system(image, SMALL_DISK_MIB)
    lab.supervisor.stop(service)
    folder.rename(copy)
    folder.mkdir(mode=copy.stat().st_mode & 0o777)
    subprocess.run(["mount", "-o", "loop", image, folder], check=True, capture_output=True)
    mounted.callback(_unmount, lab, service, folder, image)
    (folder / "lost+found").rmdir()  # Kafka rejects folders in its log directory that are no partitions
    shutil.copytree(copy, folder, dirs_exist_ok=True, symlinks=True)
    shutil.rmtree(copy)
    lab.supervisor.run(service)


def _unmount(lab: LabUnderTest, service: str, folder: Path, image: Path) -> None:
    if lab.supervisor.exists():
        lab.supervisor.stop(service)
    subprocess.run(["umount", folder], check=True, capture_output=True)
    image.unlink()
