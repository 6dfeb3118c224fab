# SPDX-License-Identifier: Apache-2.0
"""`lab bench`: repeat the measurements of the documentation."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import command, out
from infra.cli.setup import install_test_artifacts
from infra.cli.stack import pulumi_environment
from infra.cli.test_steps import Step, run_step
from infra.toolchain import Artifacts


class Benchmark(StrEnum):
    """Parts of `lab bench`, in order of execution."""

    LINEAGE = "lineage"
    LIFECYCLE = "lifecycle"
    SPARK = "spark"
    FLINK = "flink"
    CONNECT = "connect"
    PAGE = "page"
    CAUSE = "cause"
    DASHBOARD = "dashboard"
    LAKE_HISTORY = "lake-history"
    DOCKER = "docker"


MODULES = {
    Benchmark.LINEAGE: "tests.bench.lineage_service",
    Benchmark.LIFECYCLE: "tests.bench.lifecycle",
    Benchmark.SPARK: "tests.bench.spark_pipeline",
    Benchmark.FLINK: "tests.bench.flink_pipeline",
    Benchmark.CONNECT: "tests.bench.connect_lineage",
    Benchmark.PAGE: "tests.bench.page",
    Benchmark.CAUSE: "tests.bench.cause",
    Benchmark.DASHBOARD: "tests.bench.dashboard",
    Benchmark.LAKE_HISTORY: "tests.bench.lake_history",
    Benchmark.DOCKER: "tests.bench.lifecycle",
}


@command
def bench(
    only: Annotated[Benchmark | None, typer.Option(help="Run only this benchmark.")] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Number of repetitions (default: 3 for a lab, at least 5 for the others).", min=1)
    ] = None,
    cold: Annotated[bool, typer.Option(help="Also measure a lab with an empty cache (minutes, 6 GB).")] = True,
    huge: Annotated[
        bool, typer.Option("--huge", help="Also measure a lineage graph of 1,000,000 nodes (minutes, GB).")
    ] = False,
    json: Annotated[
        Path | None,
        typer.Option(help="Also write figures to this file: those of --only, by default those of lineage."),
    ] = None,
) -> None:
    """Repeat the measurements of the documentation."""
    artifacts = Artifacts.open()
    install_test_artifacts(artifacts)
    environment = pulumi_environment(artifacts)
    repetitions = ["--rounds", str(rounds)] if rounds else []
    options = {
        Benchmark.LINEAGE: ["--huge"] * huge,
        Benchmark.LIFECYCLE: ["--no-cold"] * (not cold),
        Benchmark.DOCKER: ["--stack", "bench-docker"],
    }
    json_benchmark = only or Benchmark.LINEAGE
    if json:
        options[json_benchmark] = [*options.get(json_benchmark, []), "--json", str(json.absolute())]
    for benchmark in [only] if only else _available_benchmarks():
        module = [str(artifacts.python("test")), "-m", MODULES[benchmark]]
        run_step(Step(f"bench: {benchmark}", [*module, *repetitions, *options.get(benchmark, [])], environment))


def _available_benchmarks() -> list[Benchmark]:
    """Return all benchmarks, except Docker's if no daemon responds."""
    from infra.targets.docker.engine import EngineError, connect

    try:
        connect().close()
    except EngineError as error:
        out.print(f"bench: {Benchmark.DOCKER} is skipped: {error}", style="yellow", markup=False)
        return [benchmark for benchmark in Benchmark if benchmark is not Benchmark.DOCKER]
    return list(Benchmark)
