# SPDX-License-Identifier: Apache-2.0
"""Start script of a pod: copies the files of its ConfigMap to a writable folder and then executes the service."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from infra.model import Service, Task
from infra.targets.container_paths import FILES
from infra.targets.container_script import container_script
from infra.targets.launch_script import Launcher

CONFIG_MAP = "/etc/lineage-lab"
"""Folder at which the chart mounts the part's ConfigMap: `start.sh`, `files/` and, for replica N, `replicas/N/`."""

REPLICA_VARIABLE = "REPLICA"
"""Environment variable with the number of the replica, set by the chart."""


def start_script(part: Service | Task, launcher: Launcher) -> str:
    """Return the start script of a part; it contains no secrets."""
    replica_files = part.replica_files if isinstance(part, Service) else ()
    return container_script(part, launcher, _file_commands(part.files, replica_files))


def _file_commands(files: Mapping[str, str], replica_files: tuple[Mapping[str, str], ...]) -> Iterator[str]:
    """Yield commands that copy each file; the links in a mounted ConfigMap are followed."""
    own = sorted({name for replica in replica_files for name in replica})
    for folder in _folders((*files, *own)):
        yield f"mkdir -p {FILES}/{folder}"
    for name in files:
        yield f"cp {CONFIG_MAP}/files/{name} {FILES}/{name}"
    for name in own:
        yield f'cp "{CONFIG_MAP}/replicas/${REPLICA_VARIABLE}/{name}" {FILES}/{name}'


def _folders(names: Iterable[str]) -> list[str]:
    return sorted({str(PurePosixPath(name).parent) for name in names} - {"."})
