# SPDX-License-Identifier: Apache-2.0
"""`lab chaos`: inject faults into a lab of its own, then check rows, windows, runs and the graph."""

from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import command
from infra.cli.setup import install_test_artifacts
from infra.cli.stack import pulumi_environment
from infra.cli.test_steps import Step, run_step
from infra.toolchain import Artifacts


@command
def chaos(
    minutes: Annotated[
        float, typer.Option(help="Duration of the faults; start and checks take 10 more.", min=0.1)
    ] = 10,
    seed: Annotated[int, typer.Option(help="Equal seeds inject equal faults.")] = 1,
    report: Annotated[
        Path | None, typer.Option(help="Folder of the report, JSON and HTML (default: .lab/reports).")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the lab after the run.")] = False,
) -> None:
    """Inject faults into a lab of its own while data flow, then check that nothing is lost or duplicated."""
    artifacts = Artifacts.open()
    install_test_artifacts(artifacts)
    arguments = ["--minutes", str(minutes), "--seed", str(seed), *(["--keep"] if keep else [])]
    if report:
        arguments += ["--report", str(report.absolute())]
    program = [str(artifacts.python("test")), "-m", "tests.chaos", *arguments]
    run_step(Step(f"chaos: seed {seed}", program, pulumi_environment(artifacts)))
