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

PROCESS_LANES = (("smoke",), ("stack", "page", "unit"))
"""Folders of `tests/` whose slow tests run in parallel: real labs of local processes in one lane, the rest in the
other one."""

CLUSTER_LANES = (("docker",), ("connect", "flink", "packages"))
"""The same of the tests that start containers, Connect workers and Flink clusters."""

ALONE = ("kubernetes",)
"""Folders of `tests/` whose slow tests run alone, after the `CLUSTER_LANES`: a cluster with a lab takes both cores."""

FIRST = "LINEAGE_LAB_TEST_FIRST"
"""Environment variable: `clusters` if the slow tests of `CLUSTER_LANES` and `ALONE` run before the others."""

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

    def slow_stages(self, clusters_first: bool = False) -> list[Stage]:
        """Return the tests that are marked `slow`: in two lanes if the memory suffices, else in one."""
        processes = [self._slow_stage(PROCESS_LANES)]
        clusters = [self._slow_stage(CLUSTER_LANES), [[self._slow_step(layer) for layer in ALONE]]]
        return [*clusters, *processes] if clusters_first else [*processes, *clusters]

    def _slow_stage(self, lanes: Iterable[Iterable[str]]) -> Stage:
        steps = [[self._slow_step(layer) for layer in lane] for lane in lanes]
        if psutil.virtual_memory().total >= TWO_LANES_MEMORY:
            return steps
        return [[step for lane in reversed(steps) for step in lane]]

    def _slow_step(self, layer: str) -> Step:
        return self._unit_tests("slow") if layer == "unit" else self._python_tests(layer, "slow", [layer])

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
            slow = factory.slow_stages(os.environ.get(FIRST) == "clusters") if every else []
            results = runner.run([*factory.fast_stages(), *slow])
        report = LayerReport(results)
    failed = [f"{result.step.name} FAILED (exit status {result.status})" for result in results if result.status != 0]
    left_out = [] if every else ["not run: tests marked slow (make test-all)"]
    print("\n".join(["", *failed, *left_out, *report.render()]), flush=True)
    if failed:
        raise typer.Exit(1)
