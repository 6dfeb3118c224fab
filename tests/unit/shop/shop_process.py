# SPDX-License-Identifier: Apache-2.0
"""The shop as a process, as the lab runs it."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from infra.project import PROJECT, python_path
from tests.unit.shop.postgres_server import PostgresServer


def until(condition: Callable[[], bool], what: str = "condition", seconds: float = 90) -> None:
    """Wait until a condition holds; fail at the timeout."""
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"timeout of {seconds} s waiting for {what}"
        waiter.wait(0.05)


class ShopProcess:
    """`python -m jobs.shop` with these options; its log is a file in `folder`."""

    def __init__(self, server: PostgresServer, folder: Path, *options: str, password: str | None = None) -> None:
        self._log = folder / f"shop-{time.monotonic_ns()}.log"
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PG")},
            "PYTHONPATH": python_path(PROJECT),
            "PYTHONUNBUFFERED": "1",
            "PGPASSWORD": server.password if password is None else password,
        }
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jobs.shop", "--postgres", server.address, *options],
                cwd=PROJECT,
                env=environment,
                stdout=log,
                stderr=log,
            )

    def __enter__(self) -> "ShopProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def text(self) -> str:
        return self._log.read_text()

    def log_matches(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def wait(self) -> int:
        """Wait for the process to exit without a signal and return the exit status."""
        return self.process.wait(60)

    def terminate(self) -> int:
        """Send SIGTERM and return the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)
