# SPDX-License-Identifier: Apache-2.0
"""`lab export`: parts of the lab for systems that the lab does not run."""

import os
import zipfile
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import DEFAULT_STACK, StackOption, command, out
from infra.cli.stack_file import stack_settings
from infra.cli.stack_model import build_lab_and_target
from infra.errors import LabError
from infra.model import Service, Task
from infra.project import PROJECT, SOURCE_ROOTS
from infra.services.spark import submission
from infra.services.spark.settings import SparkSettings
from infra.services.spark.submission import Submission
from infra.targets.revision import sources
from infra.toolchain import Artifacts, pins

app = typer.Typer(name="export", help="Export parts of the lab for systems that it does not run.", no_args_is_help=True)

DEFAULT_MASTER = "local[2]"


@app.command()
@command
def spark(
    job: Annotated[str, typer.Argument(help="Spark job: a service or task of the lab.")],
    stack: StackOption = DEFAULT_STACK,
    into: Annotated[Path | None, typer.Option(help="Folder to write; default: JOB in the working directory.")] = None,
) -> None:
    """Write a Spark job with its spark-submit script for a foreign cluster."""
    settings = stack_settings(stack)
    lab, _ = build_lab_and_target(stack, settings, Artifacts.open())
    parts: tuple[Service | Task, ...] = (*lab.services, *lab.tasks)
    part = next((part for part in parts if part.name == job), None)
    if part is None:
        raise LabError(f"stack {stack} has no job {job}: `bin/lab status` lists the jobs")
    master = settings.section(SparkSettings).spark_master or DEFAULT_MASTER
    folder = into or Path(job)
    write_submission(Submission.of(part), master, folder)
    out.print(f"{job} is in {os.path.relpath(folder)}: run {os.path.relpath(folder / submission.SCRIPT)}")


def write_submission(exported: Submission, master: str, folder: Path) -> None:
    """Write script, main program and sources of a job into a folder, which need not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / submission.SCRIPT
    script.write_text(submission.script(exported, master, pins.SPARK.coordinates), encoding="utf-8")
    script.chmod(0o755)
    (folder / submission.MAIN).write_text(submission.main_program(exported), encoding="utf-8")
    files = {_import_path(path): path.read_bytes() for path in sources(PROJECT, exported.modules)}
    packages = {parent / "__init__.py" for path in files for parent in path.parents if parent.name}
    with zipfile.ZipFile(folder / submission.SOURCES, "w", zipfile.ZIP_DEFLATED) as archive:
        # Python imports no package from an archive without its __init__.py.
        for name, content in sorted({**dict.fromkeys(packages, b""), **files}.items()):
            archive.writestr(str(name), content)


def _import_path(path: Path) -> Path:
    """Return the path of a source file relative to the folder from which Python imports it."""
    roots = sorted((PROJECT / root for root in SOURCE_ROOTS), key=lambda root: -len(root.parts))
    return next(path.relative_to(root) for root in roots if path.is_relative_to(root))
