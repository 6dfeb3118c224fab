# SPDX-License-Identifier: Apache-2.0
"""Event that signal handlers set."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from infra.project import PROJECT, python_path
from lineagelab_common.stop_signal import StopSignal

STORM = """
import random, signal
from lineagelab_common.stop_signal import StopSignal
for _ in range(3000):
    stop = StopSignal()
    signal.signal(signal.SIGALRM, lambda *_: stop.set())
    signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0002, 0.0012))
    while not stop.wait(0.00001):
        pass
print("all returned")
"""
"""A handler interrupts `wait` at any of its instructions. With `threading.Event`, one in about a hundred deadlocks."""


def test_handler_may_interrupt_a_wait_at_any_instruction():
    storm = subprocess.run(
        [sys.executable, "-c", STORM],
        env={"PYTHONPATH": python_path(PROJECT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert storm.stdout == "all returned\n", storm.stderr


def test_wait_returns_at_its_timeout_or_once_set():
    stop = StopSignal()
    assert not stop.wait(0)
    assert not stop.wait(0.01)
    threading.Timer(0.05, stop.set).start()
    assert stop.wait(60)
    assert stop.is_set()
    assert stop.wait()


def test_set_releases_all_threads():
    stop = StopSignal()
    returned: list[bool] = []
    threads = [threading.Thread(target=lambda: returned.append(stop.wait(60))) for _ in range(5)]
    for thread in threads:
        thread.start()
    stop.set()
    stop.set()
    for thread in threads:
        thread.join(60)
    assert returned == [True] * 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_installed_event_is_set_by_signals(number):
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    stop = StopSignal()
    try:
        stop.install()
        threading.Timer(0.05, lambda: os.kill(os.getpid(), number)).start()
        started = time.monotonic()
        assert stop.wait(60)
        assert time.monotonic() - started < 60
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def test_request_to_stop_is_final():
    with pytest.raises(NotImplementedError):
        StopSignal().clear()
