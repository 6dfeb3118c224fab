# SPDX-License-Identifier: Apache-2.0
"""Launcher processes with a driver of the test, and waiting for what they do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.namespaces import JOB_NAMESPACE
from infra.project import PROJECT, python_path
from tests.stack.polling import HANGING_SECONDS


class Launchers:
    """Starts launchers of a driver in `folder`, which report to the lineage service at `url`."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self.started: list[subprocess.Popen[str]] = []

    def start(
        self, source: str, *words: str, module: str = "lineagelab_spark.launch", **environment: str
    ) -> "subprocess.Popen[str]":
        """Start a launcher with options; `source` is the text of its driver's module."""
        (self._folder / "driver.py").write_text(source)
        process = subprocess.Popen(
            [sys.executable, "-m", module, *words, "driver"],
            env={
                **os.environ,
                "PYTHONPATH": f"{python_path(PROJECT)}{os.pathsep}{self._folder}",
                "LINEAGE_URL": self._url,
                "OPENLINEAGE_NAMESPACE": JOB_NAMESPACE,
                "LINEAGE_OPEN_RUNS": str(self._folder / "open_runs.json"),
                "READY": str(self._folder / "ready"),
                # The bytecode cache distinguishes sources by second and length only.
                "PYTHONDONTWRITEBYTECODE": "1",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process


@contextmanager
def launchers(folder: Path, url: str) -> Iterator[Launchers]:
    """Provide launchers; those that still run at the end are killed."""
    made = Launchers(folder, url)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: "subprocess.Popen[str]", seconds: float = HANGING_SECONDS) -> tuple[int, str, str]:
    """Wait for a launcher to exit and return (exit code, output, errors)."""
    out, errors = process.communicate(timeout=seconds)
    return process.returncode, out, errors
