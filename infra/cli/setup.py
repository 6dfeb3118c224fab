# SPDX-License-Identifier: Apache-2.0
"""`lab setup | env | doctor`: the machine and the kit, no lab needed."""

import shlex
from typing import Annotated

import psutil
import typer
from rich.table import Table

from infra.cli import docker_stack
from infra.cli.console import DEFAULT_STACK, StackOption, command, out, progress
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings, text_of
from infra.errors import LabError
from infra.project import PROJECT
from infra.services import postgres, schema_registry
from infra.services.connect import worker as connect
from infra.services.flink import jobs as flink_jobs
from infra.services.marquez import api as marquez
from infra.services.marquez.user_jar import check_user_jars
from infra.settings import Settings, known_keys
from infra.toolchain import Artifacts, class_data, page, pins, prerequisites
from infra.toolchain.binaries import BINARIES
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import clock, human
from lineage.checks import schema_files

NAMES = frozenset(
    {
        *("pulumi", "minio", "kafka", "iceberg-rest-catalog", "spark", "java21"),
        *(postgres.COMPONENT, schema_registry.COMPONENT, connect.COMPONENT, *connect.PLUGINS),
    }
)
"""The artifacts that every lab runs on."""

FLINK_NAMES = frozenset(flink_jobs.COMPONENTS)
"""What a lab with Flink runs on as well."""

TEST_NAMES = NAMES | FLINK_NAMES | {"test", class_data.NAME, schema_files.NAME}
"""What the tests need too."""


def bring_in(artifacts: Artifacts, names: frozenset[str]) -> None:
    """Sets up what is missing of `names`; says so only where something was."""
    report = artifacts.setup(names, progress())
    if report.made:
        out.print(f"set up in {clock(report.seconds)}; {human(report.size)} are in {artifacts.cache.root}")


def bring_in_lab(artifacts: Artifacts, settings: Settings, names: frozenset[str] = NAMES) -> None:
    """Sets up what a lab with these settings runs on. Without a Marquez to be had, the lab goes on without.

    Raises:
        LabError: something else is not to be had, or a jar that the settings name is not there.
    """
    check_user_jars(settings)
    bring_in(artifacts, names | (FLINK_NAMES if settings.flink else frozenset()))
    if settings.target == "local":  # the archive fits one Java of one machine
        _bring_in_class_data(artifacts)
    _bring_in_page(artifacts)
    if settings.marquez and not settings.marquez_jar and settings.target == "local":  # containers run its images
        _bring_in_marquez(artifacts)


def _bring_in_class_data(artifacts: Artifacts) -> None:
    """Makes the archive of Spark's classes, or says in one line that jobs start slower without."""
    try:
        bring_in(artifacts, frozenset({class_data.NAME}))
    except ArtifactError as error:
        out.print(f"Spark's jobs start slower: {error.attempt} failed, {error.cause}", style="yellow", markup=False)


def _bring_in_page(artifacts: Artifacts) -> None:
    """Builds the lineage page, or says in one line that the lineage service has none."""
    try:
        bring_in(artifacts, frozenset({page.NAME}))
    except ArtifactError as error:
        out.print(f"The lineage page is left out: {error}", style="yellow", markup=False)


def _bring_in_marquez(artifacts: Artifacts) -> None:
    """Sets up Marquez' jars, or says in one line that they are not to be had."""
    try:
        bring_in(artifacts, frozenset({marquez.COMPONENT}))
    except ArtifactError as error:
        coordinate = pins.MARQUEZ.coordinates[0]
        line = f"Marquez is left out: {coordinate} cannot be had, {error.cause}; {marquez.REMEDY}"
        out.print(line, style="yellow", markup=False)


@command
def setup(
    stack: StackOption = DEFAULT_STACK,
    tests: Annotated[bool, typer.Option("--tests", help="What the tests need too.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Hash everything that is there again.")] = False,
    binary: Annotated[
        str | None, typer.Option("--binary", help="Set up this executable alone, such as minio, and print its path.")
    ] = None,
) -> None:
    """Bring in everything that a lab runs on: downloads, builds, virtual environments."""
    artifacts = Artifacts.open()
    if binary is not None:
        if binary not in BINARIES:
            raise LabError(f"unknown executable '{binary}'; choose from {', '.join(sorted(BINARIES))}")
        bring_in(artifacts, frozenset({binary}))
        typer.echo(artifacts.binary(binary))
        return
    if verify:
        problems = artifacts.verify()
        for problem in problems:
            out.print(str(problem), markup=False)
        if problems:
            raise LabError("what is corrupted was removed; bring it again with: bin/lab setup")
        out.print("everything in the cache is what it should be")
        return
    bring_in_lab(artifacts, stack_settings(stack), TEST_NAMES if tests else NAMES)
    out.print("everything is there")


@command
def env(stack: StackOption = DEFAULT_STACK) -> None:
    """Print shell variables with which plain `pulumi` works in this project: eval "$(bin/lab env)"."""
    for name, value in Stack(stack, Artifacts.open()).variables().items():
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
            table.add_row(f"lineage-lab:{key}", text_of(default), meaning)
        out.print(table)
        return
    memory = psutil.virtual_memory()
    out.print(f"memory  {memory.available // 2**20} of {memory.total // 2**20} MiB available")
    out.print(f"disk    {psutil.disk_usage(str(PROJECT)).free // 2**20} MiB free under {PROJECT}")
    artifacts, configuration = Artifacts.open(), stack_settings(stack)
    out.print(f"cache   {artifacts.cache.root}")
    check_user_jars(configuration)
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
    docker_stack.doctor(Stack(stack, artifacts), configuration)
