# SPDX-License-Identifier: Apache-2.0
"""Some parts of the lab, with all that they need, as the real target renders them."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from infra import credentials
from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.project import PROJECT
from infra.targets.declarations import ResourceDeclaration
from infra.targets.launch_script import Launcher
from infra.targets.local.site import LocalSite
from infra.targets.local.supervisor import Supervisor
from infra.targets.local.target import LocalTarget
from infra.toolchain import Artifacts
from infra.user_files import UserFiles, read_user_files
from tests.stack.engine import Engine, Result

PATIENCE_SECONDS = 400

PROGRAM = """
import json, pathlib
from infra.targets.registration import register
from tests.stack.part_of_lab import declared

register(declared(**json.loads(pathlib.Path("wanted.json").read_text())))
"""


def declared(
    root: str,
    offset: int,
    keys: Iterable[str],
    connector_files: Mapping[str, str] | None = None,
    project: str = str(PROJECT),
) -> tuple[ResourceDeclaration, ...]:
    """The resources called `keys`, and those that they need. Spark jobs are those of the folder `project`."""
    artifacts = Artifacts.open()
    settings = LabSettings(port_offset=offset, preflight="warn")
    site = LocalSite(root=Path(root), port_offset=offset, endpoints=ENDPOINTS, programs=artifacts)
    launcher = Launcher(
        artifacts,
        project=Path(project),
        credentials=Path(root) / "credentials.env",
        platform=sys.platform,
        user=os.geteuid(),
    )
    rendered = LocalTarget(site, launcher, settings).render(
        build_lab(site, settings, UserFiles(connector_files or {}, read_user_files(Path(project)).spark))
    )
    by_key = {resource.key: resource for resource in rendered}
    wanted: set[str] = set()
    open_keys = list(keys)
    while open_keys:
        key = open_keys.pop()
        if key not in wanted:
            wanted.add(key)
            open_keys.extend(by_key[key].needs)
    return tuple(resource for resource in rendered if resource.key in wanted)


class PartOfLab:
    """A running part of a lab, made by the real engine."""

    def __init__(self, folder: Path, offset: int, keys: Iterable[str], project: Path = PROJECT) -> None:
        self.engine = Engine(folder, program=PROGRAM)
        self.root = self.engine.root
        self.offset = offset
        self.engine.wanted = {
            "root": str(self.root),
            "offset": offset,
            "keys": list(keys),
            "connector_files": {},
            "project": str(project),
        }

    @contextmanager
    def standing(self) -> Iterator[Self]:
        """Itself, up; it goes with the block, and where it did not come up."""
        try:
            result = self.up()
            assert result.status == 0, result.text
            yield self
        finally:
            self.supervisor.shut_down()

    @property
    def supervisor(self) -> Supervisor:
        return Supervisor(self.root)

    @property
    def resources(self) -> dict[str, ResourceDeclaration]:
        return {resource.key: resource for resource in declared(**self.engine.wanted)}

    def address(self, port: int) -> str:
        return f"127.0.0.1:{port + self.offset}"

    def secret(self, name: str) -> str:
        return credentials.read(self.root / "credentials.env")[name]

    def up(self, *words: str) -> Result:
        """Brings it up; on a busy machine five JVMs take longer than an engine's own patience."""
        with self.engine.start("up", "--yes", "--skip-preview", *words) as process:
            try:
                text, _ = process.communicate(timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Result(process.returncode, text)
