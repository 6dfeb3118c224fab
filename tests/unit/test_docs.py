# SPDX-License-Identifier: Apache-2.0
"""Links, settings, paths, commands and examples of the documentation, compared with the repository."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
import typer

from infra.catalog import LabSettings
from infra.cli.__main__ import app
from infra.project import PROJECT, python_path
from infra.services.discovery import EXTRA_FOLDERS
from infra.settings import known_keys

IGNORED = {"node_modules", "target", "build", ".lab", ".git"}
PAGES = [
    page.relative_to(PROJECT)
    for page in sorted(PROJECT.rglob("*.md"))
    if not IGNORED & {*page.relative_to(PROJECT).parts}
]
LINK = re.compile(r'(?:\]\(|src=")([^)"\s]+)')
ROOTS = tuple(f"{folder.name}/" for folder in PROJECT.iterdir() if folder.is_dir() and folder.name not in IGNORED)
GENERATED = (
    "jobs/connect/",
    "jobs/spark/packages",
    "jobs/flink/jars",
    "jobs/flink/python",
    "page/build/",
    "smt/target",
    "jobs/spark/totals.py",
)
"""Beginnings of paths that users or builds create."""

pages = pytest.mark.parametrize("page", PAGES, ids=str)


def text_of(page):
    return (PROJECT / page).read_text(encoding="utf-8")


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages
def test_every_relative_link_and_image_exists(page):
    missing = []
    for link in LINK.findall(text_of(page)):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (PROJECT / page.parent / path).resolve() if path else PROJECT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    assert missing == []


@pages
def test_every_setting_exists(page):
    keys = re.findall(r"(?<!urn:)lineage-lab:([A-Za-z0-9]+)", text_of(page))
    assert sorted({*keys} - {*known_keys(LabSettings)} - {"KEY"}) == []


def test_reference_lists_every_setting_with_its_default():
    rows = re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`|empty) \|", text_of("docs/reference/settings.md"), re.MULTILINE)
    defaults = {key: default for key, (default, _) in known_keys(LabSettings).items()}
    shown = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in defaults.items()}
    assert {key: default for key, default in rows if key in shown} == shown


@pages
def test_every_repository_path_exists(page):
    missing = []
    for path in re.findall(r"`([\w./\-]+)`", text_of(page)):
        if path.startswith(ROOTS) and not path.startswith(GENERATED):
            bases = (PROJECT, PROJECT / page.parent)
            missing += [] if any((base / path).exists() for base in bases) else [path]
    assert missing == []


@pages
def test_every_command_exists(page):
    root = typer.main.get_command(app)
    unknown = []
    for first, second in re.findall(r"\bbin/lab ([a-z]+)(?: ([a-z]+))?", text_of(page)):
        command = root.commands.get(first)
        if command is None or (second and isinstance(command, click.Group) and second not in command.commands):
            unknown.append(f"{first} {second}")
    assert unknown == []


def test_reference_lists_every_command():
    root = typer.main.get_command(app)
    text = text_of("docs/reference/cli.md")
    missing = [name for name, command in root.commands.items() if not command.hidden and f"`bin/lab {name}" not in text]
    assert missing == []


def test_example_of_a_service_is_rendered_and_short():
    folder = PROJECT / "docs" / "how-to" / "examples"
    assert len((folder / "backup_store.py").read_text(encoding="utf-8").splitlines()) < 60
    code = (
        "from infra.catalog import LabSettings\n"
        "from tests.unit.infra.rendered_labs import local_resources\n"
        "inputs = local_resources(LabSettings(backup_store_memory_mib=300))['backup_store'].inputs.properties()\n"
        "print(inputs['probe']['path'], *inputs['files'])"
    )
    environment = os.environ | {EXTRA_FOLDERS: str(folder), "PYTHONPATH": python_path(PROJECT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "/minio/health/live etc/minio.env\n"), done.stderr


def test_pages_of_the_documentation_are_in_its_index():
    index = text_of("docs/README.md")
    folder = Path("docs")
    listed = [page for page in PAGES if folder in page.parents and page.name != "README.md"]
    assert [str(page) for page in listed if f"({page.relative_to(folder)})" not in index] == []
