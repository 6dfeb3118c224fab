# SPDX-License-Identifier: Apache-2.0
"""Every kind that the provider serves, by name."""

import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infra.provider.kind import Kind

NAMES = {
    "Bucket": "bucket",
    "Connector": "connector",
    "ContainerReady": "container_ready",
    "Credentials": "credentials",
    "CredentialsVolume": "credentials_volume",
    "Database": "database",
    "DockerHost": "docker_host",
    "EnvironmentFile": "environment_file",
    "FlinkJob": "flink_job",
    "Process": "process",
    "Subject": "subject",
    "Supervisor": "supervisor",
    "Table": "table",
    "Topic": "topic",
}
"""Of the kinds, and the module of each, which has a class called `{name}Kind`."""


class Kinds(Mapping[str, "Kind[Any]"]):
    """The kinds by name, each imported when it is first asked for; threads may share it.

    What they talk with takes a second to import, and the engine starts the plugin twice in an update: one of the two
    is asked for no resource, and a stack on Docker has no use for what the local one does.
    """

    def __init__(self) -> None:
        self._made: dict[str, Kind[Any]] = {}
        self._making = threading.Lock()

    def __getitem__(self, name: str) -> "Kind[Any]":
        # One import at a time: two threads that meet in packages that import each other would see halves of them.
        with self._making:
            if name not in self._made:
                module = import_module(f"{__name__}.{NAMES[name]}")
                self._made[name] = getattr(module, f"{name}Kind")()
            return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


KINDS = Kinds()
