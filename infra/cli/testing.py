# SPDX-License-Identifier: Apache-2.0
"""`lab test` and `lab bench`: what must hold before a change lands, and the figures."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import command, out
from infra.cli.setup import TEST_NAMES, bring_in
from infra.cli.stack import pulumi_environment
from infra.errors import LabError
from infra.project import PROJECT, python_path
from infra.toolchain import Artifacts
from lineage.checks import schema_files

UNIT = "tests/unit"
UNIT_PROCESSES = 2
"""They share nothing; `tests/unit/conftest.py` says what goes to which."""

LAYERS = [f"tests/{layer}" for layer in ("stack", "smoke", "connect", "flink", "page", "packages", "docker")]
"""Of the Python tests behind the unit tests, in the order in which they run: the heavy ones last."""


@dataclass(frozen=True)
class Step:
    """A check: what it is called and what is run for it, with which variables added."""

    name: str
    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


def steps(artifacts: Artifacts) -> list[Step]:
    """Lint, types, Java, Python, in this order; the Python tests' summary is the last thing printed."""
    python = str(artifacts.python("test"))
    maven, maven_environment = artifacts.maven_command()
    schemas = {schema_files.FOLDER_VARIABLE: str(artifacts.component(schema_files.NAME))}
    return [
        Step("lint", [python, "-m", "ruff", "check", "."]),
        Step("format", [python, "-m", "ruff", "format", "--check", "."]),
        Step("types", [python, "-m", "mypy", "--no-error-summary"]),
        Step("java", [*maven, "-f", "components/pom.xml", "verify"], {**maven_environment, **schemas}),
        python_tests(artifacts, ["-n", str(UNIT_PROCESSES), "--dist", "loadgroup", UNIT], "unit"),
        python_tests(artifacts, LAYERS),
    ]


def python_tests(artifacts: Artifacts, words: Sequence[str], name: str = "python") -> Step:
    """The Python tests that `words` tell pytest."""
    command = [str(artifacts.python("test")), "-m", "pytest", *words]
    return Step(name, command, pulumi_environment(artifacts))


@command
def check(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Only these Python tests, nothing else (pytest's own words).")
    ] = None,
) -> None:
    """Check everything: lint, types, Java, Python: unit, stack, Connect workers, the page, whole labs."""
    artifacts = Artifacts.open()
    bring_in(artifacts, TEST_NAMES)
    for step in [python_tests(artifacts, paths)] if paths else steps(artifacts):
        _run(step)


class Part(StrEnum):
    """What `lab bench` measures, in the order in which it does."""

    LINEAGE = "lineage"
    LIFECYCLE = "lifecycle"
    SPARK = "spark"
    FLINK = "flink"
    CONNECT = "connect"
    PAGE = "page"
    DOCKER = "docker"


@command
def bench(
    only: Annotated[Part | None, typer.Option(help="Measure this part alone.")] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Repetitions (without it 3 labs, 5 or more of the rest).", min=1)
    ] = None,
    cold: Annotated[bool, typer.Option(help="Measure a lab on an empty cache too (minutes, 6 GB).")] = True,
    huge: Annotated[bool, typer.Option("--huge", help="A lineage graph of 1,000,000 nodes too (minutes, GB).")] = False,
    json: Annotated[
        Path | None,
        typer.Option(help="Write the figures of lineage, or of the part that --only names, to this file too."),
    ] = None,
) -> None:
    """Measure the figures of the README again."""
    artifacts = Artifacts.open()
    bring_in(artifacts, TEST_NAMES)
    environment = pulumi_environment(artifacts)
    repeated = ["--rounds", str(rounds)] if rounds else []
    to_file = ["--json", str(json.absolute())] if json else []
    flags = {
        Part.LINEAGE: ["--huge"] * huge + to_file,
        Part.LIFECYCLE: ["--no-cold"] * (not cold),
        Part.DOCKER: ["--stack", "bench-docker"],
        Part.SPARK: to_file if only is Part.SPARK else [],
        Part.FLINK: to_file if only is Part.FLINK else [],
        Part.CONNECT: to_file if only is Part.CONNECT else [],
        Part.PAGE: to_file if only is Part.PAGE else [],
    }
    modules = {
        Part.LINEAGE: "tests.bench.lineage_service",
        Part.LIFECYCLE: "tests.bench.lifecycle",
        Part.DOCKER: "tests.bench.lifecycle",
        Part.SPARK: "tests.bench.spark_pipeline",
        Part.FLINK: "tests.bench.flink_pipeline",
        Part.CONNECT: "tests.bench.connect_lineage",
        Part.PAGE: "tests.bench.page",
    }
    for part in [only] if only else _possible_parts():
        words = [str(artifacts.python("test")), "-m", modules[part], *repeated, *flags[part]]
        _run(Step(f"bench: {part}", words, environment))


def _possible_parts() -> list[Part]:
    """All of them, but for Docker where there is none."""
    from infra.targets.docker.engine import EngineError, connect

    try:
        connect().close()
    except EngineError as error:
        out.print(f"bench: {Part.DOCKER} is left out: {error}", style="yellow", markup=False)
        return [part for part in Part if part is not Part.DOCKER]
    return list(Part)


def _run(step: Step) -> None:
    out.print(f"[bold]{step.name}[/bold]")
    started = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": python_path(PROJECT), **step.environment}
    result = subprocess.run(step.words, cwd=PROJECT, env=environment, check=False)
    if result.returncode != 0:
        raise LabError(f"{step.name} failed (exit status {result.returncode}), see above")
    if step.name != "python":  # its own summary has the seconds, and is to be the last line
        out.print(f"  {time.monotonic() - started:.1f} s")
