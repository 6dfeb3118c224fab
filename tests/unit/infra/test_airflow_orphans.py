# SPDX-License-Identifier: Apache-2.0
"""Processes that a killed process of Airflow has left, with real ones."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from jobs.airflow.orphans import COMMAND, end_orphans

WAIT = "print('ready', flush=True); time.sleep(600)"
SLEEPER = f"import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit('stopped')); {WAIT}"
DEAF = f"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAIT}"


@contextmanager
def started(home, command, code=SLEEPER, group=None):
    """Start a process in a group of its own, or in that of this process."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "AIRFLOW_HOME": str(home), COMMAND: command},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=group,
    )
    with process:
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            process.kill()


def test_orphans_of_the_same_command_and_lab_are_ended(tmp_path):
    with started(tmp_path, "scheduler", group=0) as first, started(tmp_path, "scheduler", group=0) as second:
        assert set(end_orphans(str(tmp_path), "scheduler")) == {first.pid, second.pid}
        assert [first.stdout.read(), second.stdout.read()] == [b"stopped\n"] * 2
    assert end_orphans(str(tmp_path), "scheduler") == []


def test_one_that_ignores_the_signal_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("jobs.airflow.orphans.GRACE_SECONDS", 0.5)
    with started(tmp_path, "scheduler", DEAF, group=0) as deaf:
        assert end_orphans(str(tmp_path), "scheduler") == [deaf.pid]
        assert deaf.stdout.read() == b""  # at the end of the process


@pytest.mark.parametrize(
    ("home", "command", "group"),
    [("other", "scheduler", 0), ("mine", "api-server", 0), ("mine", "scheduler", None)],
    ids=["another lab", "another command", "the same process group"],
)
def test_others_stay(tmp_path, home, command, group):
    with started(tmp_path / home, command, group=group) as other:
        assert end_orphans(str(tmp_path / "mine"), "scheduler") == []
        assert other.poll() is None
