# SPDX-License-Identifier: Apache-2.0
"""A real lab for the smoke tests, driven by its own command, looked at with other people's clients."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import httpx
import pyarrow
import pytest

from infra import credentials
from infra.cli.stack_file import stack_settings
from infra.project import PROJECT, stack_root
from infra.settings import Settings
from infra.targets.local.supervisor import Supervisor
from tests.smoke.places import Places
from tests.stack_files import SMOKE, stack_file

LOCAL_GRAPH = pytest.StashKey[dict]()
"""In the session's stash: the graph export of a local lab whose pipeline has run once."""


@dataclass(frozen=True)
class Ended:
    """How a `lab` command ended, and what it printed."""

    status: int
    text: str


class LabUnderTest:
    """A lab in a stack of its own."""

    def __init__(self, stack: str = SMOKE) -> None:
        self.stack = stack
        self.root: Path = stack_root(stack)

    @contextmanager
    def configured(self, keep: bool = False) -> Iterator[Self]:
        """Provide the stack's configuration without a lab; remove both on exit.

        Args:
            keep: leave lab and configuration file on exit.
        """
        with stack_file(self.stack, keep=keep):
            self.lab("reset")
            try:
                yield self
            finally:
                if not keep:
                    self.lab("reset")

    def command(self, *words: str) -> dict[str, Any]:
        """`bin/lab WORDS --stack STACK` as `subprocess` takes it, as a user would run it, output and errors in one."""
        return {
            "args": [str(PROJECT / "bin" / "lab"), *words, "--stack", self.stack],
            "cwd": PROJECT,
            "env": {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "LINEAGE_LAB_STACK"}},
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
        }

    def lab(self, *words: str, seconds: int = 600) -> Ended:
        """Runs `bin/lab WORDS --stack STACK`."""
        done = subprocess.run(**self.command(*words), timeout=seconds, check=False)
        print(done.stdout, file=sys.stderr)  # shown by pytest where the test fails
        return Ended(done.returncode, done.stdout)

    @cached_property
    def environment(self) -> dict[str, str]:
        """The variables of `lab.env`."""
        return credentials.read(self.root / "lab.env")

    @property
    def supervisor(self) -> Supervisor:
        return Supervisor(self.root)

    @cached_property
    def places(self) -> Places:
        """What the pipeline has where."""
        return Places(self.environment)

    def table(self, name: str) -> pyarrow.Table:
        """All rows of a table of the lake."""
        return self.places.table(name)

    def ids(self, table: str) -> Counter:
        """How often each order is in a table."""
        return Counter(self.table(table).column("order_id").to_pylist())

    def api(self, path: str, **query: object) -> dict:
        """An answer of the lineage service."""
        url = self.environment["LAB_LINEAGE"] + path
        return httpx.get(url, params=query, timeout=20).raise_for_status().json()

    def graph(self) -> dict:
        """The canonical export."""
        return self.api("/api/v1/graph")

    @cached_property
    def settings(self) -> Settings:
        """The stack's."""
        return stack_settings(self.stack)
