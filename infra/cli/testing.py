# SPDX-License-Identifier: Apache-2.0
"""`lab test`: checks of a change, in minutes, and with `--all` every test there is."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import psutil
import typer

from infra.cli.console import command
from infra.cli.setup import install_test_artifacts
from infra.cli.stack import pulumi_environment
from infra.cli.test_report import Report
from infra.cli.test_steps import Stage, Step, StepRunner, run_step
from infra.project import PROJECT
from infra.toolchain import Artifacts
from infra.toolchain.process import sigterm_as_keyboard_interrupt

DEADLINE = "LINEAGE_LAB_TEST_DEADLINE"
"""Environment variable: seconds since the epoch by which the tests should end; see `tests/conftest.py`."""

OVERTIME_SECONDS = 15 * 60
"""Time after the deadline at which steps that still run are stopped."""

UNIT_PROCESSES = 2

FAST = ("page", "stack")
"""Folders of `tests/` whose fast tests run beside the unit tests; they wait more than they compute."""

SLOW_LANES = (("smoke", "docker"), ("unit", "stack", "connect", "flink", "page", "packages"))
"""Folders of `tests/` whose slow tests run side by side: real labs in one lane, everything else in the other.

Docker's tests compare their lab with the graph of the smoke tests' one, so they share a process.
"""

MEMORY_OF_TWO_LANES = 15 * 2**30
"""Bytes; a lab takes 8 GiB at most, a real Flink cluster or Connect workers with their services up to 4 GiB."""


class Steps:
    """Builds the steps of a run."""

    def __init__(self, artifacts: Artifacts, reports: Path) -> None:
        """Prepare the steps.

        Args:
            artifacts: the toolchain.
            reports: folder for the JUnit XML files of Python tests.
        """
        self._artifacts = artifacts
        self._python = str(artifacts.python("test"))
        self._reports = reports

    def fast(self) -> list[Stage]:
        """Return lint, format, types, and the tests of all languages that are not marked `slow`."""
        checks = [
            Step("lint", [self._python, "-m", "ruff", "check", "."]),
            Step("format", [self._python, "-m", "ruff", "format", "--check", "."]),
            Step("types", [self._python, "-m", "mypy", "--no-error-summary"]),
            self._java(),
            self._pytest("fast", "not slow", FAST),
        ]
        return [[checks, [self._unit("not slow")]], [[self._pytest("smoke", "not slow", ["smoke"])]]]

    def slow(self) -> list[Stage]:
        """Return the tests that are marked `slow`; in one lane where memory is too small for two."""
        lanes = [[self._pytest("labs", "slow", SLOW_LANES[0])], [self._unit("slow"), self._slow_parts()]]
        if psutil.virtual_memory().total >= MEMORY_OF_TWO_LANES:
            return [lanes]
        return [[[step for lane in reversed(lanes) for step in lane]]]

    def only(self, words: Iterable[str]) -> Step:
        """Return a step that passes `words` to pytest."""
        return Step("python", [self._python, "-m", "pytest", *words], pulumi_environment(self._artifacts))

    def _slow_parts(self) -> Step:
        return self._pytest("parts", "slow", [layer for layer in SLOW_LANES[1] if layer != "unit"])

    def _unit(self, marker: str) -> Step:
        return self._pytest("unit", marker, ["unit"], ["-n", str(UNIT_PROCESSES), "--dist", "loadgroup"])

    def _pytest(self, name: str, marker: str, layers: Iterable[str], options: Iterable[str] = ()) -> Step:
        report = self._reports / f"{name}-{marker.replace(' ', '-')}.xml"
        paths = [f"tests/{layer}" for layer in layers]
        words = ["-q", "-m", marker, f"--junitxml={report}", *options, *paths]
        return Step(name, self.only(words).words, pulumi_environment(self._artifacts), [report])

    def _java(self) -> Step:
        maven, environment = self._artifacts.maven_command()
        pom = PROJECT / "components" / "pom.xml"
        modules = [module.text or "" for module in ElementTree.parse(pom).iterfind("{*}modules/{*}module")]
        reports = [pom.parent / module / "target" / "surefire-reports" for module in modules]
        return Step("java", [*maven, "-q", "-f", str(pom), "verify"], environment, reports)


@command
def check(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Only these Python tests, nothing else (arguments of pytest).")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="The tests that are marked slow, too.")] = False,
) -> None:
    """Check a change: lint, types, unit tests of every language, stack tests, a smoke test of a real lab."""
    artifacts = Artifacts.open()
    install_test_artifacts(artifacts)
    with tempfile.TemporaryDirectory(prefix="lineage-lab-test-") as reports:
        steps = Steps(artifacts, Path(reports))
        if paths:
            run_step(steps.only(paths))
            return
        deadline = os.environ.get(DEADLINE)
        runner = StepRunner(float(deadline) + OVERTIME_SECONDS if deadline else None)
        with sigterm_as_keyboard_interrupt():
            results = runner.run([*steps.fast(), *(steps.slow() if every else [])])
        report = Report(results)
    failed = [f"{result.step.name} FAILED (exit status {result.status})" for result in results if result.status != 0]
    left_out = [] if every else ["not run: tests marked slow (make test-all)"]
    print("\n".join(["", *failed, *left_out, *report.lines()]), flush=True)
    if failed:
        raise typer.Exit(1)
