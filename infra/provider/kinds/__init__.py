# SPDX-License-Identifier: Apache-2.0
"""Registry of resource kinds, and the kinds of resources inside the lab's services."""

import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infra.provider.kind import Kind

MODULES = {
    "Bucket": f"{__name__}.bucket",
    "Connector": f"{__name__}.connector",
    "Credentials": f"{__name__}.credentials",
    "Database": f"{__name__}.database",
    "EnvironmentFile": f"{__name__}.environment_file",
    "ExternalKafka": f"{__name__}.external_kafka",
    "ExternalObjectStore": f"{__name__}.external_object_store",
    "ExternalPostgres": f"{__name__}.external_postgres",
    "ExternalSchemaRegistry": f"{__name__}.external_schema_registry",
    "FlinkJob": f"{__name__}.flink_job",
    "KafkaAcls": f"{__name__}.kafka_acls",
    "Subject": f"{__name__}.subject",
    "Table": f"{__name__}.table",
    "Topic": f"{__name__}.topic",
}
"""Module of each kind by the kind's name; the module defines the class `{name}Kind`."""


class Kinds(Mapping[str, "Kind[Any]"]):
    """Kinds by name, imported on first use; safe to share between threads.

    The clients that kinds use take a second to import, and the engine starts the plugin twice in an update: one
    process serves no resource at all, and a stack uses the kinds of one target only.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules
        self._instances: dict[str, Kind[Any]] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> "Kind[Any]":
        # One import at a time: threads that import mutually dependent packages would see partial modules.
        with self._lock:
            if name not in self._instances:
                module = import_module(self._modules[name])
                self._instances[name] = getattr(module, f"{name}Kind")()
            return self._instances[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)
