# SPDX-License-Identifier: Apache-2.0
"""Parts of the lab without the lab: rendered as its local target renders them, run one by one in a folder.

What is measured is what `bin/lab` would run, settings, class path and all. One thing is different: the catalog `lake`
is a folder, so that neither an object store nor a catalog's server takes part of two processors.
"""

import os
import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pyiceberg.table import StaticTable

from infra import credentials
from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.model import Endpoint, Lab, Service, Task
from infra.namespaces import CATALOG_NAME
from infra.project import PROJECT
from infra.services.properties import render_properties
from infra.services.spark.driver import PROPERTIES
from infra.services.spark.job import COMPONENT
from infra.targets.launch_script import Launcher
from infra.targets.local.site import LocalSite
from infra.targets.local.supervisor import INHERITED_VARIABLES
from infra.toolchain import Artifacts

Driver = TypeVar("Driver", Service, Task)


@dataclass(frozen=True)
class Place:
    """Where parts run.

    Attributes:
        folder: holds all that they write.
        artifacts: finds jars, Javas and Pythons.
        ports: of services that run already, by service and endpoint; every other endpoint gets a free one.
    """

    folder: Path
    artifacts: Artifacts
    ports: Mapping[tuple[str, str], int]

    @cached_property
    def site(self) -> LocalSite:
        """What parts are told of the place."""
        return LocalSite(root=self.folder, port_offset=0, endpoints=endpoints(self.ports), programs=self.artifacts)

    @cached_property
    def lab(self) -> Lab:
        """All parts, with the settings that a lab has which sets none."""
        return build_lab(self.site, LabSettings())

    @property
    def jars(self) -> list[Path]:
        """The drivers' jars."""
        return sorted((self.artifacts.component(COMPONENT) / "lib").glob("*.jar"))

    def part(self, name: str) -> Service | Task:
        """A service or task of the lab."""
        return next(part for part in (*self.lab.services, *self.lab.tasks) if part.name == name)

    def script(self, part: Service | Task) -> Path:
        """Lays a part out; returns the script that runs it."""
        secrets = self.folder / "credentials"
        credentials.ensure(secrets)
        folders = [self.site.scratch(part.name)]
        if isinstance(part, Service):
            folders += [self.site.volume(part.name, volume) for volume in part.volumes]
        for folder in folders:
            Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in part.files.items():
            file = Path(self.site.file(part.name, name))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        launcher = Launcher(self.artifacts, PROJECT, secrets, sys.platform, os.geteuid())
        script = self.folder / "services" / part.name / "run"
        script.write_text(launcher.script(part, Path(self.site.scratch(part.name))), encoding="utf-8")
        return script


def endpoints(ports: Mapping[tuple[str, str], int]) -> dict[str, tuple[Endpoint, ...]]:
    """What each service listens on: the given ports, and free ones, all different, for the rest."""
    with ExitStack() as held:

        def port(service: str, endpoint: str) -> int:
            if (service, endpoint) in ports:
                return ports[service, endpoint]
            holder = held.enter_context(socket.socket())
            holder.bind(("127.0.0.1", 0))
            return int(holder.getsockname()[1])

        return {
            service: tuple(replace(endpoint, port=port(service, endpoint.name)) for endpoint in known)
            for service, known in ENDPOINTS.items()
        }


def inherited() -> dict[str, str]:
    """The variables that supervisord leaves to what it starts."""
    return {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}


def catalog_in(warehouse: Path) -> dict[str, str | int | bool]:
    """Spark settings that make a folder the catalog `lake`, whatever was said of it before."""
    catalog = f"spark.sql.catalog.{CATALOG_NAME}"
    return {
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": warehouse.as_uri(),
        f"{catalog}.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
    }


def on_folder(part: Driver, warehouse: Path, **environment: str | None) -> Driver:
    """A Spark driver with its catalog in a folder; variables of its environment are set, or removed (None)."""
    files = {**part.files, PROPERTIES: part.files[PROPERTIES] + render_properties(catalog_in(warehouse))}
    env = {**part.env, **environment}
    return replace(part, files=files, env={name: value for name, value in env.items() if value is not None})


def table_in(warehouse: Path, name: str) -> StaticTable:
    """A table of the folder, `namespace.table`, as it is now."""
    metadata = warehouse / name.replace(".", "/") / "metadata"
    version = (metadata / "version-hint.text").read_text(encoding="ascii").strip()
    return StaticTable.from_metadata(str(metadata / f"v{version}.metadata.json"))


def rows(warehouse: Path, table: str) -> int:
    """How many rows a table of the folder has."""
    snapshot = table_in(warehouse, table).current_snapshot()
    if snapshot is None or snapshot.summary is None:
        return 0
    return int(snapshot.summary["total-records"] or 0)
