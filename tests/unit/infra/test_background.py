# SPDX-License-Identifier: Apache-2.0
"""Background processes: start, errors, and identification by a locked file."""

import os
import signal

import psutil
import pytest

from infra.errors import ServiceError
from infra.project import PROJECT
from infra.provider.kind import OperationContext
from infra.targets.kubernetes import background

MODULE = """
import signal, sys
from pathlib import Path
from infra.errors import LabError
from infra.targets.kubernetes.background import detach

folder, mode = Path(sys.argv[1]), sys.argv[2]

def prepare():
    if mode == "fail":
        raise LabError("no cluster")
    if mode == "crash":
        raise SystemExit(5)
    return "prepared"

def serve(text):
    print(text, flush=True)
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()

sys.exit(detach(folder / "lock", folder / "log", prepare, serve))
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts the module in a mode, and returns the path of its lock; the process is killed after the test."""
    (tmp_path / "detached.py").write_text(MODULE)
    monkeypatch.setattr(background, "python_path", lambda _: f"{tmp_path}{os.pathsep}{PROJECT}")

    def run(mode="serve"):
        background.start("detached", str(tmp_path), mode)
        return tmp_path / "lock"

    yield run
    if pid := background.process_id(tmp_path / "lock"):
        os.kill(pid, signal.SIGKILL)


def test_process_outlives_its_starter_and_is_stopped(start, tmp_path):
    lock = start()
    pid = background.process_id(lock)
    assert psutil.Process(pid).is_running()
    assert os.getsid(pid) == pid
    assert (tmp_path / "log").read_text() == "prepared\n"
    background.stop(lock, OperationContext())
    assert background.process_id(lock) is None
    background.stop(lock, OperationContext())  # no effect


def test_second_process_with_the_same_lock_does_not_start(start):
    lock = start()
    with pytest.raises(ServiceError, match="temporarily unavailable"):
        start()
    assert background.process_id(lock)


def test_error_of_the_preparation_is_reported(start, tmp_path):
    with pytest.raises(ServiceError, match="no cluster"):
        start("fail")
    assert background.process_id(tmp_path / "lock") is None


def test_crash_of_the_preparation_is_reported_with_the_log(start, tmp_path):
    with pytest.raises(ServiceError, match=f"it ended at once; see {tmp_path}/log"):
        start("crash")


def test_process_that_ignores_sigterm_is_killed(start, monkeypatch):
    monkeypatch.setattr(background, "STOP_SECONDS", 1)
    lock = start("stubborn")
    background.stop(lock, OperationContext())
    assert background.process_id(lock) is None


def test_lock_file_of_a_killed_process_is_no_process(start):
    lock = start()
    pid = background.process_id(lock)
    os.kill(pid, signal.SIGKILL)
    for _ in OperationContext().poll(10):
        if background.process_id(lock) is None:
            break
    assert background.process_id(lock) is None
    assert lock.read_text() == f"{pid}\n"
