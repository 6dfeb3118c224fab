# SPDX-License-Identifier: Apache-2.0
"""`lab lint`: job files against the lineage contract, without a running lab."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infra import namespaces
from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack_file import stack_settings
from infra.cli.verification import CONTRACT, read_contract
from infra.lint.rules import JobFile, Violation, read_files, render_json, violations_of
from infra.project import PROJECT
from infra.services.overview import enabled_features
from infra.settings import Settings
from infra.toolchain import Artifacts
from infra.user_files import (
    ARGUMENTS_SUFFIX,
    CONNECTOR_FOLDER,
    FLINK_FOLDER,
    JAR_FOLDER,
    NO_USER_FILES,
    PROGRAM_FOLDER,
    PROGRAM_SUFFIX,
    SPARK_FOLDER,
    UserFiles,
    read_user_files,
)
from lineage.checks.contract import Contract

if TYPE_CHECKING:
    from infra.targets.choice import Target

EXIT_VIOLATIONS = 1


@command
def lint(
    contract: Annotated[Path, typer.Option(help="Lineage contract.")] = CONTRACT,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the violations as JSON.")] = None,
    stack: StackOption = DEFAULT_STACK,
) -> None:
    """Check job files against the lineage contract, before anything is deployed."""
    settings = stack_settings(stack)
    from infra.targets.choice import target_for

    target = target_for(stack, settings, Artifacts.open())
    files = read_user_files(PROJECT)
    found = violations_of_files(files, settings, target, read_contract(contract))
    if json_file is not None:
        json_file.write_text(render_json(found), encoding="utf-8")
    for violation in found:
        out.print(str(violation), markup=False, highlight=False, soft_wrap=True)
    count = sum(len(each) for each in (files.connectors, files.spark, files.flink, files.jars, files.programs))
    out.print(f"{count} files: {len(found) or 'no'} violation{'' if len(found) == 1 else 's'}", markup=False)
    if found:
        raise typer.Exit(EXIT_VIOLATIONS)


def violations_of_files(files: UserFiles, settings: Settings, target: "Target", contract: Contract) -> list[Violation]:
    """Return the violations of user files, those that cannot be parsed first.

    Raises:
        LabError: the settings of the stack are invalid.
    """
    from infra.catalog import build_lab
    from infra.services.connect.user_connectors import user_connectors
    from infra.services.flink.user_jars import jar_jobs
    from infra.services.flink.user_jobs import has_header, sql_jobs
    from infra.services.flink.user_programs import python_jobs
    from infra.services.spark.user_jobs import user_jobs

    lab = build_lab(target.site, settings, NO_USER_FILES)
    own = {*(service.name for service in lab.services), *(task.name for task in lab.tasks)}
    needs = {part.key for part in lab.parts} | {f"connector/{Path(name).stem}" for name in files.connectors}
    known = {item.dataset for row in contract.jobs for item in row.inputs}
    known |= {item.dataset for row in contract.jobs for item in row.outputs}
    prelude = {name for name, text in files.flink.items() if not has_header(text)}
    jars = {f"{name}{ARGUMENTS_SUFFIX}": jar for name, jar in files.jars.items()}
    arguments = {file: jar.arguments for file, jar in jars.items()}
    programs = {f"{name}{PROGRAM_SUFFIX}": program for name, program in files.programs.items()}
    read = [
        read_files(
            CONNECTOR_FOLDER, files.connectors, lambda one: user_connectors(one, target.site, settings), (), known
        ),
        read_files(FLINK_FOLDER, files.flink, lambda one: sql_jobs(one, own, needs)[0], prelude, known),
        read_files(
            JAR_FOLDER,
            arguments,
            lambda one: jar_jobs({file.removesuffix(ARGUMENTS_SUFFIX): jars[file] for file in one}, own, needs),
            (),
            known,
        ),
        read_files(
            PROGRAM_FOLDER,
            {file: program.text for file, program in programs.items()},
            lambda one: python_jobs({file.removesuffix(PROGRAM_SUFFIX): programs[file] for file in one}, own, needs),
            (),
            known,
        ),
        read_files(SPARK_FOLDER, files.spark, lambda one: user_jobs(one, settings, own, needs), (), known),
    ]
    jobs: list[JobFile] = [job for found, _ in read for job in found]
    named = {value for name, value in vars(namespaces).items() if name.startswith("JOB_") and isinstance(value, str)}
    parts = {*own, *named, *(part.name for part in lab.parts), *(job.job for job in jobs)}
    invalid = [violation for _, found in read for violation in found]
    return [*invalid, *violations_of(jobs, contract, enabled_features(settings), parts)]
