# SPDX-License-Identifier: Apache-2.0
"""`lab test`: the fast tests, or with `--all` all tests."""

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
from infra.cli.test_report import LayerReport
from infra.cli.test_steps import Stage, Step, StepRunner, run_step
from infra.project import PROJECT
from infra.toolchain import Artifacts
from infra.toolchain.process import sigterm_as_keyboard_interrupt

DEADLINE = "LINEAGE_LAB_TEST_DEADLINE"
"""Environment variable: seconds since the epoch by which the tests should end; see `tests/conftest.py`."""

DEADLINE_GRACE_SECONDS = 15 * 60
"""Time after the deadline until running steps are interrupted."""

UNIT_PROCESSES = 2

FAST_LAYERS = ("page", "stack")
"""Folders of `tests/` whose fast tests run in parallel with the unit tests; they wait more than they compute."""

SLOW_LANES = (("smoke", "docker"), ("unit", "stack", "connect", "flink", "page", "packages"))
"""Folders of `tests/` whose slow tests run in parallel: real labs in one lane, all others in the other one.

The Docker tests compare their lab with the graph of the smoke tests, so both run in one process.
"""

LAST_LAYERS = ("kubernetes",)
"""Folders of `tests/` whose slow tests run alone, after all others: a cluster with a lab takes both cores."""

TWO_LANES_MEMORY = 15 * 2**30
"""Bytes required to run both lanes in parallel: a lab takes up to 8 GiB, a Flink cluster or Connect workers with
their services up to 4 GiB."""


class StepFactory:
    """Creates the steps of a test run."""

    def __init__(self, artifacts: Artifacts, reports: Path) -> None:
        """Create a factory.

        Args:
            artifacts: the toolchain.
            reports: folder for the JUnit XML files of Python tests.
        """
        self._artifacts = artifacts
        self._python = str(artifacts.python("test"))
        self._reports = reports

    def fast_stages(self) -> list[Stage]:
        """Return lint, format and type checks, and all tests that are not marked `slow`."""
        checks = [
            Step("lint", [self._python, "-m", "ruff", "check", "."]),
            Step("format", [self._python, "-m", "ruff", "format", "--check", "."]),
            Step("types", [self._python, "-m", "mypy", "--no-error-summary"]),
            self._java_tests(),
            self._python_tests("fast", "not slow", FAST_LAYERS),
        ]
        return [[checks, [self._unit_tests("not slow")]], [[self._python_tests("smoke", "not slow", ["smoke"])]]]

    def slow_stages(self) -> list[Stage]:
        """Return the tests that are marked `slow`: in two lanes if the memory suffices, else in one; then the last."""
        labs, others = SLOW_LANES
        parts = self._python_tests("parts", "slow", [layer for layer in others if layer != "unit"])
        lanes = [[self._python_tests("labs", "slow", labs)], [self._unit_tests("slow"), parts]]
        last = [[self._python_tests("cluster", "slow", LAST_LAYERS)]]
        if psutil.virtual_memory().total >= TWO_LANES_MEMORY:
            return [lanes, last]
        return [[[step for lane in reversed(lanes) for step in lane]], last]

    def pytest_step(self, arguments: Iterable[str]) -> Step:
        """Return a step that runs pytest with these arguments."""
        return Step("python", [self._python, "-m", "pytest", *arguments], pulumi_environment(self._artifacts))

    def _unit_tests(self, marker: str) -> Step:
        return self._python_tests("unit", marker, ["unit"], ["-n", str(UNIT_PROCESSES), "--dist", "loadgroup"])

    def _python_tests(self, name: str, marker: str, layers: Iterable[str], options: Iterable[str] = ()) -> Step:
        report = self._reports / f"{name}-{marker.replace(' ', '-')}.xml"
        folders = [f"tests/{layer}" for layer in layers]
        step = self.pytest_step(["-q", "-m", marker, f"--junitxml={report}", *options, *folders])
        return Step(name, step.command, step.environment, [report])

    def _java_tests(self) -> Step:
        maven, environment = self._artifacts.maven_command()
        pom = PROJECT / "components" / "pom.xml"
        modules = [module.text or "" for module in ElementTree.parse(pom).iterfind("{*}modules/{*}module")]
        reports = [pom.parent / module / "target" / "surefire-reports" for module in modules]
        return Step("java", [*maven, "-q", "-f", str(pom), "verify"], environment, reports)


@command
def run_tests(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Run only these Python tests: arguments of pytest, options included.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also run the tests that are marked slow.")] = False,
) -> None:
    """Run lint, type checks and tests, including a real lab."""
    artifacts = Artifacts.open()
    install_test_artifacts(artifacts)
    with tempfile.TemporaryDirectory(prefix="lineage-lab-test-") as reports:
        factory = StepFactory(artifacts, Path(reports))
        if paths:
            run_step(factory.pytest_step(paths))
            return
        deadline = os.environ.get(DEADLINE)
        runner = StepRunner(float(deadline) + DEADLINE_GRACE_SECONDS if deadline else None)
        with sigterm_as_keyboard_interrupt():
            results = runner.run([*factory.fast_stages(), *(factory.slow_stages() if every else [])])
        report = LayerReport(results)
    failed = [f"{result.step.name} FAILED (exit status {result.status})" for result in results if result.status != 0]
    left_out = [] if every else ["not run: tests marked slow (make test-all)"]
    print("\n".join(["", *failed, *left_out, *report.render()]), flush=True)
    if failed:
        raise typer.Exit(1)
