# SPDX-License-Identifier: Apache-2.0
"""Real lab for the smoke tests, run through the `lab` command and read with independent clients."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import httpx
import psutil
import pyarrow
import pytest

from infra import credentials
from infra.cli.stack_file import stack_settings
from infra.project import PROJECT, stack_root
from infra.settings import Settings
from infra.targets.local.supervisor import ROOT_VARIABLE, Supervisor
from tests.smoke.hostile_environment import HostileEnvironment
from tests.smoke.stores import PipelineStores
from tests.stack.polling import until
from tests.stack_files import SMOKE, path_of, stack_file

LOCAL_GRAPH = pytest.StashKey[dict]()
"""In the session's stash: the graph export of a local lab whose pipeline has run once."""


@dataclass(frozen=True)
class CommandResult:
    """Exit status and output of a `lab` command."""

    status: int
    text: str


class LabUnderTest:
    """Lab in a separate stack."""

    def __init__(self, stack: str = SMOKE, user: HostileEnvironment | None = None) -> None:
        self.stack = stack
        self.user = user or HostileEnvironment(PROJECT / "bin" / "lab", PROJECT, {})
        self.root: Path = stack_root(stack)

    @contextmanager
    def configured(self, keep: bool = False, config: Mapping[str, str] | None = None) -> Iterator[Self]:
        """Provide the stack's configuration without a lab; remove both on exit.

        Args:
            keep: leave lab and configuration file on exit.
            config: configuration, as for `stack_file`.
        """
        with stack_file(self.stack, config, keep):
            self.lab("reset")
            try:
                yield self
            finally:
                if not keep:
                    self.lab("reset")

    def command(self, *words: str) -> dict[str, Any]:
        """Return the arguments of `subprocess` for `bin/lab WORDS --stack STACK`; standard error goes to the output."""
        return {
            "args": [str(self.user.program), *words, "--stack", self.stack],
            "cwd": self.user.folder,
            "env": {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "LINEAGE_LAB_STACK"}}
            | self.user.variables,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
        }

    def lab(self, *words: str, seconds: int = 600) -> CommandResult:
        """Run `bin/lab WORDS --stack STACK`."""
        completed = subprocess.run(**self.command(*words), timeout=seconds, check=False)
        print(completed.stdout, file=sys.stderr)  # shown by pytest where the test fails
        return CommandResult(completed.returncode, completed.stdout)

    @contextmanager
    def running_shop(self) -> Iterator[None]:
        """Run the shop; stop it on exit, also if a test fails, as the next ones wait for the delivery of all rows."""
        started = self.lab("start", "shop")
        try:
            assert started.status == 0, started.text
            until(lambda: self.supervisor.require_state("shop").running)
            yield
        finally:
            stopped = self.lab("stop", "shop")
        assert stopped.status == 0, stopped.text

    @contextmanager
    def with_settings(self, **settings: str) -> Iterator[None]:
        """Add settings to the running lab, and remove them and their services on exit; the shop is stopped in both.

        The lineage is not compared with the contract: earlier tests may have added a column to the shop.
        """
        file = path_of(self.stack)
        configured = file.read_text()
        lines = "".join(f"  lineage-lab:{key}: '{value}'\n" for key, value in settings.items())
        try:
            file.write_text(configured.replace("config:\n", f"config:\n{lines}", 1))
            self._apply_settings()
            yield
        finally:
            file.write_text(configured)
            self._apply_settings()

    def _apply_settings(self) -> None:
        vars(self).pop("environment", None)
        vars(self).pop("settings", None)
        changed = self.lab("up", "--no-pipeline")
        stopped = self.lab("stop", "shop")
        assert (changed.status, stopped.status) == (0, 0), changed.text + stopped.text

    @cached_property
    def environment(self) -> dict[str, str]:
        """Variables of `lab.env`."""
        return credentials.read(self.root / "lab.env")

    def log(self, service: str) -> str:
        """Return the log of a service."""
        return (self.root / "services" / service / "log").read_text()

    @property
    def supervisor(self) -> Supervisor:
        return Supervisor(self.root)

    @cached_property
    def stores(self) -> PipelineStores:
        """Clients of the lab's stores."""
        return PipelineStores(self.environment)

    def table(self, name: str) -> pyarrow.Table:
        """Return all rows of a table of the lake."""
        return self.stores.table(name)

    def order_counts(self, table: str) -> Counter:
        """Return the number of rows per order id in a table of the lake."""
        return Counter(self.table(table).column("order_id").to_pylist())

    def processes(self) -> list[psutil.Process]:
        """Return the running processes of the lab; `info` has `environ` and `cmdline`."""
        found = psutil.process_iter(["environ", "cmdline"])
        return [process for process in found if (process.info["environ"] or {}).get(ROOT_VARIABLE) == str(self.root)]

    def listening_addresses(self) -> list[Any]:
        """Return address (`ip`, `port`) of each TCP socket on which a process of the lab listens."""
        pids = {process.pid for process in self.processes()}
        sockets = psutil.net_connections("tcp")
        return [each.laddr for each in sockets if each.pid in pids and each.status == psutil.CONN_LISTEN]

    @property
    def read_key(self) -> str:
        """Key that reads the lineage; a lab without `lineageKeys` ignores it."""
        return self.environment[credentials.LINEAGE_READ_KEY]

    def api(self, path: str, **query: object) -> dict:
        """Return a response of the lineage service."""
        url = self.environment["LAB_LINEAGE"] + path
        headers = {"Authorization": f"Bearer {self.read_key}"}
        return httpx.get(url, params=query, headers=headers, timeout=60).raise_for_status().json()

    def graph(self) -> dict:
        """Return the canonical graph export."""
        return self.api("/api/v1/graph")

    @cached_property
    def settings(self) -> Settings:
        """Settings of the stack."""
        return stack_settings(self.stack)
