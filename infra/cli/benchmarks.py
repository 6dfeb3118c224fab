# SPDX-License-Identifier: Apache-2.0
"""`lab bench`: measure the figures of the README."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import command, out
from infra.cli.setup import install_test_artifacts
from infra.cli.stack import pulumi_environment
from infra.cli.test_steps import Step, run_step
from infra.toolchain import Artifacts


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
    install_test_artifacts(artifacts)
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
        run_step(Step(f"bench: {part}", words, environment))


def _possible_parts() -> list[Part]:
    """All of them, but for Docker where there is none."""
    from infra.targets.docker.engine import EngineError, connect

    try:
        connect().close()
    except EngineError as error:
        out.print(f"bench: {Part.DOCKER} is left out: {error}", style="yellow", markup=False)
        return [part for part in Part if part is not Part.DOCKER]
    return list(Part)
