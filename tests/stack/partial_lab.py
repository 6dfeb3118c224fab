# SPDX-License-Identifier: Apache-2.0
"""Part of the lab with its dependencies, rendered by the local target."""

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

UP_TIMEOUT_SECONDS = 400

PROGRAM = """
import json, pathlib
from infra.targets.registration import register_resources
from tests.stack.partial_lab import declarations

register_resources(declarations(**json.loads(pathlib.Path("wanted.json").read_text())))
"""


def declarations(
    root: str,
    offset: int,
    keys: Iterable[str],
    connector_files: Mapping[str, str] | None = None,
    project: str = str(PROJECT),
) -> tuple[ResourceDeclaration, ...]:
    """Return the resources named by `keys` and their dependencies. Spark jobs are read from the folder `project`."""
    artifacts = Artifacts.open()
    settings = LabSettings(port_offset=offset, preflight="warn", connect_file_connectors=True)
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


class PartialLab:
    """Running part of a lab, created by the real engine."""

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
    def running(self) -> Iterator[Self]:
        """Start the part for the block and shut it down afterwards, also if the start fails."""
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
        return {resource.key: resource for resource in declarations(**self.engine.wanted)}

    def address(self, port: int) -> str:
        return f"127.0.0.1:{port + self.offset}"

    def secret(self, name: str) -> str:
        return credentials.read(self.root / "credentials.env")[name]

    def up(self, *words: str) -> Result:
        """Run `pulumi up` with a longer timeout than `Engine`: five JVMs start slowly on a busy machine."""
        with self.engine.start("up", "--yes", "--skip-preview", *words) as process:
            try:
                text, _ = process.communicate(timeout=UP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Result(process.returncode, text)
