# SPDX-License-Identifier: Apache-2.0
"""Selected parts of the lab, rendered like the local target renders them, and run in a folder without a whole lab.

Settings and class path are those of `bin/lab`. The only difference: the catalog `lake` is a folder, so that no object
store and no catalog service use CPU time during a measurement.
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

from pyiceberg.table import StaticTable, Table

from infra import credentials
from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.model import Endpoint, Lab, Python, Service, Task
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

LINEAGE_KEYS = frozenset({credentials.LINEAGE_ADMIN_KEY, credentials.LINEAGE_INGEST_KEY, credentials.LINEAGE_READ_KEY})


@dataclass(frozen=True)
class PartialLab:
    """Lab of which single parts are run.

    Attributes:
        folder: all files of the parts.
        artifacts: jars, Java and Python installations.
        ports: ports of running services, by service and endpoint; other endpoints get free ports.
    """

    folder: Path
    artifacts: Artifacts
    ports: Mapping[tuple[str, str], int]

    @cached_property
    def site(self) -> LocalSite:
        """Return the site of the lab: its folders and addresses."""
        return LocalSite(
            root=self.folder, port_offset=0, endpoints=choose_endpoints(self.ports), programs=self.artifacts
        )

    @cached_property
    def model(self) -> Lab:
        """Return all parts under default settings."""
        return build_lab(self.site, LabSettings())

    @property
    def jars(self) -> list[Path]:
        """Return the jars of Spark drivers."""
        return sorted((self.artifacts.component(COMPONENT) / "lib").glob("*.jar"))

    def part(self, name: str) -> Service | Task:
        """Return a service or task of the lab."""
        return next(part for part in (*self.model.services, *self.model.tasks) if part.name == name)

    def write_script(self, part: Service | Task) -> Path:
        """Write the files of a part and return the script that runs it.

        The part gets no key of a lineage service: the one that a benchmark runs beside it does not know the lab's keys.
        """
        part = replace(part, secrets={name: key for name, key in part.secrets.items() if key not in LINEAGE_KEYS})
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


def choose_endpoints(ports: Mapping[tuple[str, str], int]) -> dict[str, tuple[Endpoint, ...]]:
    """Return the endpoints of every service: with the given ports, else with distinct free ports."""
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


def process_environment() -> dict[str, str]:
    """Return the environment variables that supervisord passes to its programs."""
    return {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}


def folder_catalog(warehouse: Path) -> dict[str, str | int | bool]:
    """Return the Spark settings of a catalog `lake` in a folder; they override earlier ones."""
    catalog = f"spark.sql.catalog.{CATALOG_NAME}"
    return {
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": warehouse.as_uri(),
        f"{catalog}.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
    }


def spark_program(module: str, *arguments: str) -> Python:
    """Return a program that runs in the Spark environment, as the lab's drivers do."""
    return Python(module, arguments, environment="spark", components=(COMPONENT,), java=True)


def with_folder_catalog(part: Driver, warehouse: Path, **environment: str | None) -> Driver:
    """Return a Spark driver with its catalog in a folder and changed environment variables (None removes one)."""
    files = {**part.files, PROPERTIES: part.files[PROPERTIES] + render_properties(folder_catalog(warehouse))}
    env = {**part.env, **environment}
    return replace(part, files=files, env={name: value for name, value in env.items() if value is not None})


def read_table(warehouse: Path, name: str) -> StaticTable:
    """Return the current state of the table `namespace.table` in a warehouse folder."""
    metadata = warehouse / name.replace(".", "/") / "metadata"
    version = (metadata / "version-hint.text").read_text(encoding="ascii").strip()
    return StaticTable.from_metadata(str(metadata / f"v{version}.metadata.json"))


def count_rows(warehouse: Path, table: str) -> int:
    """Return the number of rows of a table in a warehouse folder."""
    return snapshot_rows(read_table(warehouse, table))


def snapshot_rows(table: Table) -> int:
    """Return the number of rows that the current snapshot of a table reports; 0 without a snapshot."""
    snapshot = table.current_snapshot()
    if snapshot is None or snapshot.summary is None:
        return 0
    return int(snapshot.summary["total-records"] or 0)
