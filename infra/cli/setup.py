# SPDX-License-Identifier: Apache-2.0
"""`lab setup | env | doctor`: the machine and the kit, no lab needed."""

import shlex
import sys
from typing import Annotated

import psutil
import typer
from rich.table import Table

from infra.artifacts import Artifacts, prerequisites
from infra.artifacts.errors import ArtifactError
from infra.artifacts.progress import PlainProgress, Progress, clock, human
from infra.artifacts.progress_rich import RichProgress
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack import pulumi_environment
from infra.cli.stack_file import stack_settings
from infra.errors import LabError
from infra.project import PROJECT
from infra.settings import known_keys

NAMES = frozenset({"pulumi", "minio", "kafka", "iceberg-rest-catalog", "spark"})
"""The artifacts that the lab runs on."""

TEST_NAMES = NAMES | {"test"}


def bring_in(artifacts: Artifacts, names: frozenset[str]) -> None:
    """Sets up what is missing of `names`; says so only where something was."""
    progress: Progress = RichProgress(out) if out.is_terminal else PlainProgress(sys.stdout)
    report = artifacts.setup(names, progress)
    if report.made:
        out.print(f"set up in {clock(report.seconds)}; {human(report.size)} are in {artifacts.cache.root}")


@command
def setup(
    tests: Annotated[bool, typer.Option("--tests", help="What the tests need too.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Hash everything that is there again.")] = False,
) -> None:
    """Bring in everything that the lab runs on: downloads, builds, virtual environments."""
    artifacts = Artifacts.open()
    if verify:
        problems = artifacts.verify()
        for problem in problems:
            out.print(str(problem), markup=False)
        if problems:
            raise LabError("what is corrupted was removed; bring it again with: bin/lab setup")
        out.print("everything in the cache is what it should be")
        return
    bring_in(artifacts, TEST_NAMES if tests else NAMES)
    out.print("everything is there")


@command
def env() -> None:
    """Print shell variables with which plain `pulumi` works in this project: eval "$(bin/lab env)"."""
    for name, value in pulumi_environment(Artifacts.open()).items():
        typer.echo(f"export {name}={shlex.quote(value)}")


@command
def doctor(
    stack: StackOption = DEFAULT_STACK,
    settings: Annotated[bool, typer.Option("--settings", help="List every key of the configuration.")] = False,
) -> None:
    """Say what this machine has and lacks, or list every setting."""
    if settings:
        table = Table("key", "default", "meaning", box=None, pad_edge=False)
        for key, (default, meaning) in known_keys().items():
            table.add_row(f"lineage-lab:{key}", str(default), meaning)
        out.print(table)
        return
    memory = psutil.virtual_memory()
    out.print(f"memory  {memory.available // 2**20} of {memory.total // 2**20} MiB available")
    out.print(f"disk    {psutil.disk_usage(str(PROJECT)).free // 2**20} MiB free under {PROJECT}")
    out.print(f"cache   {Artifacts.open().cache.root}")
    stack_settings(stack)
    out.print(f"stack   the configuration of {stack} is sound")
    missing = 0
    for find in (prerequisites.check_python, prerequisites.find_jdk, prerequisites.find_maven):
        try:
            tool = find()
            out.print(f"{tool.name:7} {prerequisites.version_text(tool.version)} ({tool.executable})")
        except ArtifactError as error:
            missing += 1
            out.print(str(error), style="red", markup=False)
    if missing:
        raise LabError("something is missing, see above")
