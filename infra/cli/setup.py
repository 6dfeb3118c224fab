# SPDX-License-Identifier: Apache-2.0
"""`lab setup | env | doctor`: toolchain and machine; these commands need no running lab."""

import os
import shlex
import sys
from collections.abc import Callable
from typing import Annotated

import psutil
import typer
from rich.table import Table

from infra.catalog import LabSettings, check_settings, components, external_services, optional_components
from infra.cli.console import DEFAULT_STACK, StackOption, command, out, progress_display
from infra.cli.container_stacks import print_docker_report
from infra.cli.stack import Stack
from infra.cli.stack_file import config_text, stack_settings
from infra.errors import LabError
from infra.project import PROJECT
from infra.services import postgres
from infra.services.airflow import settings as airflow
from infra.services.dashboard import settings as dashboard
from infra.services.dbt import settings as dbt
from infra.services.definition import FULL
from infra.services.flink import settings as flink
from infra.services.forecast import settings as forecast
from infra.services.spark import packages as spark_packages
from infra.services.trino import settings as trino
from infra.settings import Settings, known_keys
from infra.targets.launch_script import check_unprivileged
from infra.toolchain import Artifacts, class_data, page, prerequisites, venvs
from infra.toolchain.archives import check_builds
from infra.toolchain.binaries import BINARIES
from infra.toolchain.cache import platform_tag
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import format_duration, format_size
from lineage.checks import schema_files

BASE_ARTIFACTS = frozenset({"pulumi", "java21"})
"""Artefacts that every lab requires and no service declares: Pulumi, and a Java 21 runtime."""

SPARK_ARTIFACT = "spark"
"""Artefact of the Spark jobs, which only the full profile has."""

OPTIONAL_ENVIRONMENTS: dict[str, Callable[[Settings], bool]] = {
    venvs.AIRFLOW.name: airflow.included,
    venvs.DASHBOARD.name: dashboard.included,
    venvs.DBT.name: dbt.included,
    venvs.MODELS.name: forecast.included,
    venvs.PANDAS.name: spark_packages.pandas_included,
    venvs.PYFLINK.name: flink.python_included,
    venvs.TRINO.name: trino.included,
    venvs.JAVA_25.name: trino.included,
}
"""Virtual environment -> whether a lab with these settings needs it."""


def required_artifacts(settings: Settings) -> frozenset[str]:
    """Return the names of the artefacts that a lab with these settings requires."""
    jobs = frozenset({SPARK_ARTIFACT}) if settings.profile == FULL else frozenset()
    jobs |= {name for name, included in OPTIONAL_ENVIRONMENTS.items() if included(settings)}
    return BASE_ARTIFACTS | jobs | components(settings)


def artifacts_for_tests() -> frozenset[str]:
    """Return the names of the artefacts that the tests require."""
    environments = {venvs.TEST.name, *OPTIONAL_ENVIRONMENTS}
    return required_artifacts(LabSettings.model_validate({})) | environments | {class_data.NAME, schema_files.NAME}


def check_machine(settings: Settings) -> None:
    """Check that the services of a lab can run on this machine as this user.

    Raises:
        LabError: a service cannot.
    """
    if settings.target == "local" and postgres.NAME not in external_services(settings):
        check_unprivileged(sys.platform, os.geteuid())


def install_artifacts(artifacts: Artifacts, names: frozenset[str]) -> None:
    """Install the missing ones of `names`; print a summary if any was missing."""
    report = artifacts.setup(names, progress_display())
    if report.installed:
        size, folder = format_size(report.size), artifacts.cache.root
        out.print(f"set-up took {format_duration(report.seconds)}; {size} installed in {folder}")


def install_lab_artifacts(artifacts: Artifacts, settings: Settings, names: frozenset[str] | None = None) -> None:
    """Install `names`, by default all that a lab with these settings requires, and optional artefacts if possible.

    Raises:
        LabError: a required artefact cannot be installed, or a file that the settings name is invalid.
    """
    check_settings(settings)
    install_artifacts(artifacts, required_artifacts(settings) if names is None else names)
    if settings.target == "local" and settings.profile == FULL:
        _install_class_data(artifacts)  # the archive fits only the Java runtime of this machine
    _install_page(artifacts)
    for name, remedy in optional_components(settings).items():
        _install_or_warn(artifacts, name, f"{name} is left out", remedy)


def install_test_artifacts(artifacts: Artifacts) -> None:
    """Install what the tests require, and the lineage page if it can be built."""
    install_artifacts(artifacts, artifacts_for_tests())
    _install_page(artifacts)


def _install_class_data(artifacts: Artifacts) -> None:
    _install_or_warn(artifacts, class_data.NAME, "Spark jobs start slower without class data sharing")


def _install_page(artifacts: Artifacts) -> None:
    try:
        install_artifacts(artifacts, frozenset({page.NAME}))
    except ArtifactError as error:
        out.print(f"The lineage page is left out: {error}", style="yellow", markup=False)


def _install_or_warn(artifacts: Artifacts, name: str, consequence: str, remedy: str = "") -> None:
    """Install an optional artefact; on failure, print one line with the consequence for the lab."""
    try:
        install_artifacts(artifacts, frozenset({name}))
    except ArtifactError as error:
        line = f"{consequence}: {error.attempt} failed, {error.cause}" + (f"; {remedy}" if remedy else "")
        out.print(line, style="yellow", markup=False)


@command
def setup(
    stack: StackOption = DEFAULT_STACK,
    tests: Annotated[bool, typer.Option("--tests", help="Also install what the tests require.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify the hashes of everything that is installed, and install nothing.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove what neither this checkout nor a running lab uses, and install nothing."),
    ] = False,
    binary: Annotated[
        str | None, typer.Option("--binary", help="Install only this executable, such as minio, and print its path.")
    ] = None,
) -> None:
    """Install what a lab requires: downloads, builds, virtual environments."""
    artifacts = Artifacts.open()
    if binary is not None:
        if binary not in BINARIES:
            raise LabError(f"unknown executable '{binary}'; choose from {', '.join(sorted(BINARIES))}")
        install_artifacts(artifacts, frozenset({binary}))
        typer.echo(artifacts.binary(binary))
        return
    if prune:
        removed = artifacts.prune(progress_display())
        for folder, size in removed:
            out.print(f"removed {folder.parent.name}/{folder.name}, {format_size(size)}", markup=False)
        out.print(f"{len(removed)} removed, {format_size(sum(size for _, size in removed))} freed", markup=False)
        return
    if verify:
        problems = artifacts.verify()
        for problem in problems:
            out.print(str(problem), markup=False)
        if problems:
            raise LabError("corrupted artefacts were removed; install them again: bin/lab setup")
        out.print("all installed artefacts match their hashes")
        return
    settings = stack_settings(stack)
    install_lab_artifacts(artifacts, settings, required_artifacts(settings) | artifacts_for_tests() if tests else None)
    out.print("all required artefacts are installed")


@command
def env(stack: StackOption = DEFAULT_STACK) -> None:
    """Print shell variables for plain `pulumi`: eval "$(bin/lab env)"."""
    for name, value in Stack(stack, Artifacts.open()).pulumi_variables().items():
        typer.echo(f"export {name}={shlex.quote(value)}")


@command
def doctor(
    stack: StackOption = DEFAULT_STACK,
    settings: Annotated[bool, typer.Option("--settings", help="List all keys of the configuration.")] = False,
) -> None:
    """Check memory, disk and prerequisites, or list all settings."""
    if settings:
        table = Table(box=None, pad_edge=False)
        table.add_column("key", no_wrap=True)
        table.add_column("default")
        table.add_column("meaning")
        for key, (default, meaning) in known_keys(LabSettings).items():
            table.add_row(f"lineage-lab:{key}", config_text(default), meaning)
        out.print(table)
        return
    memory = psutil.virtual_memory()
    out.print(f"memory  {memory.available // 2**20} of {memory.total // 2**20} MiB available")
    out.print(f"disk    {psutil.disk_usage(str(PROJECT)).free // 2**20} MiB free under {PROJECT}")
    artifacts, configured = Artifacts.open(), stack_settings(stack)
    out.print(f"cache   {artifacts.cache.root}")
    check_settings(configured)
    out.print(f"stack   the configuration of {stack} is valid")
    missing = False
    try:
        check_builds(components(configured), platform_tag())
        out.print(f"machine {platform_tag()}")
    except ArtifactError as error:
        missing = True
        out.print(str(error), style="red", markup=False)
    try:
        check_machine(configured)
    except LabError as error:
        missing = True
        out.print(str(error), style="red", markup=False)
    for find in (prerequisites.check_python, prerequisites.find_jdk, prerequisites.find_maven):
        try:
            tool = find()
            out.print(f"{tool.name:7} {prerequisites.format_version(tool.version)} ({tool.executable})")
        except ArtifactError as error:
            missing = True
            out.print(str(error), style="red", markup=False)
    if missing:
        raise LabError("prerequisites are missing, see above")
    print_docker_report(Stack(stack, artifacts), configured)
