# SPDX-License-Identifier: Apache-2.0
"""`lab setup | env | doctor`: the machine and the kit, no lab needed."""

import shlex
from typing import Annotated

import psutil
import typer
from rich.table import Table

from infra.catalog import LabSettings, check_settings, components, optional_components
from infra.cli import docker_stack
from infra.cli.console import DEFAULT_STACK, StackOption, command, out, progress
from infra.cli.stack import Stack
from infra.cli.stack_file import stack_settings, text_of
from infra.errors import LabError
from infra.project import PROJECT
from infra.services.definition import FULL
from infra.settings import Settings, known_keys
from infra.toolchain import Artifacts, class_data, page, prerequisites
from infra.toolchain.binaries import BINARIES
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import format_duration, format_size
from lineage.checks import schema_files

ALWAYS = frozenset({"pulumi", "java21"})
"""Artefacts that every lab needs and no service declares: the engine, and a newer Java runtime."""

SPARK = "spark"
"""Artefact of the Spark jobs, which are part of the full profile."""


def required_artifacts(settings: Settings) -> frozenset[str]:
    """Return the names of the artefacts that a lab with these settings cannot run without."""
    jobs = frozenset({SPARK}) if settings.profile == FULL else frozenset()
    return ALWAYS | jobs | components(settings)


def artifacts_for_tests() -> frozenset[str]:
    """Return the names of the artefacts that the tests need."""
    return required_artifacts(LabSettings.model_validate({})) | {"test", class_data.NAME, schema_files.NAME}


def install_artifacts(artifacts: Artifacts, names: frozenset[str]) -> None:
    """Sets up what is missing of `names`; says so only where something was."""
    report = artifacts.setup(names, progress())
    if report.installed:
        out.print(
            f"set up in {format_duration(report.seconds)}; {format_size(report.size)} are in {artifacts.cache.root}"
        )


def install_lab_artifacts(artifacts: Artifacts, settings: Settings, names: frozenset[str] | None = None) -> None:
    """Set up `names`, by default all that a lab with these settings requires, and report what it has to leave out.

    Raises:
        LabError: an artefact cannot be had, or a file that the settings name cannot be used.
    """
    check_settings(settings)
    install_artifacts(artifacts, required_artifacts(settings) if names is None else names)
    if settings.target == "local" and settings.profile == FULL:  # the archive fits one Java of one machine
        _install_class_data(artifacts)
    _install_page(artifacts)
    for name, remedy in optional_components(settings).items():
        _install_optional(artifacts, name, remedy)


def install_test_artifacts(artifacts: Artifacts) -> None:
    """Set up what the tests need, and the lineage page where it can be built."""
    install_artifacts(artifacts, artifacts_for_tests())
    _install_page(artifacts)


def _install_class_data(artifacts: Artifacts) -> None:
    """Makes the archive of Spark's classes, or says in one line that jobs start slower without."""
    try:
        install_artifacts(artifacts, frozenset({class_data.NAME}))
    except ArtifactError as error:
        out.print(f"Spark's jobs start slower: {error.attempt} failed, {error.cause}", style="yellow", markup=False)


def _install_page(artifacts: Artifacts) -> None:
    """Builds the lineage page, or says in one line that the lineage service has none."""
    try:
        install_artifacts(artifacts, frozenset({page.NAME}))
    except ArtifactError as error:
        out.print(f"The lineage page is left out: {error}", style="yellow", markup=False)


def _install_optional(artifacts: Artifacts, name: str, remedy: str) -> None:
    """Set up an artefact that not every registry has; what the lab leaves out without it is reported by `lab up`."""
    try:
        install_artifacts(artifacts, frozenset({name}))
    except ArtifactError as error:
        line = f"{name} is left out: {error.attempt} failed, {error.cause}; {remedy}"
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
        install_artifacts(artifacts, frozenset({binary}))
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
    configured = stack_settings(stack)
    install_lab_artifacts(
        artifacts, configured, required_artifacts(configured) | artifacts_for_tests() if tests else None
    )
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
        for key, (default, meaning) in known_keys(LabSettings).items():
            table.add_row(f"lineage-lab:{key}", text_of(default), meaning)
        out.print(table)
        return
    memory = psutil.virtual_memory()
    out.print(f"memory  {memory.available // 2**20} of {memory.total // 2**20} MiB available")
    out.print(f"disk    {psutil.disk_usage(str(PROJECT)).free // 2**20} MiB free under {PROJECT}")
    artifacts, configuration = Artifacts.open(), stack_settings(stack)
    out.print(f"cache   {artifacts.cache.root}")
    check_settings(configuration)
    out.print(f"stack   the configuration of {stack} is sound")
    missing = 0
    for find in (prerequisites.check_python, prerequisites.find_jdk, prerequisites.find_maven):
        try:
            tool = find()
            out.print(f"{tool.name:7} {prerequisites.format_version(tool.version)} ({tool.executable})")
        except ArtifactError as error:
            missing += 1
            out.print(str(error), style="red", markup=False)
    if missing:
        raise LabError("something is missing, see above")
    docker_stack.doctor(Stack(stack, artifacts), configuration)
