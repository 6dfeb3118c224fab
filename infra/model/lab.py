# SPDX-License-Identifier: Apache-2.0
"""A whole lab as data: its services, tasks and resources."""

from dataclasses import dataclass

from infra.model.resources import Bucket, Connector, Database, FlinkJob, Subject, Table, Topic
from infra.model.service import Service, Task

Part = Service | Task | Topic | Bucket | Database | Table | Subject | Connector | FlinkJob


@dataclass(frozen=True)
class Lab:
    """The whole lab, as data.

    Raises:
        ValueError: two parts have one key, or a part needs one that is not there.
    """

    services: tuple[Service, ...]
    tasks: tuple[Task, ...]
    topics: tuple[Topic, ...]
    buckets: tuple[Bucket, ...]
    databases: tuple[Database, ...] = ()
    tables: tuple[Table, ...] = ()
    subjects: tuple[Subject, ...] = ()
    connectors: tuple[Connector, ...] = ()
    flink_jobs: tuple[FlinkJob, ...] = ()

    def __post_init__(self) -> None:
        keys = [part.key for part in self.parts]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"two parts of the lab are called {key}")
        for part in self.parts:
            for needed in getattr(part, "needs", ()):
                if needed not in keys:
                    raise ValueError(f"{part.key} needs {needed}, which is no part of the lab")

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every part, services first."""
        inside: tuple[Part, ...] = (*self.topics, *self.buckets, *self.databases)
        inside += (*self.tables, *self.subjects, *self.connectors, *self.flink_jobs)
        return (*self.services, *self.tasks, *inside)

    @property
    def memory_mib(self) -> int:
        """What all services and the largest task take when they are busy."""
        largest_task = max((task.memory_mib for task in self.tasks), default=0)
        return sum(service.memory_mib for service in self.services) + largest_task

    def service(self, name: str) -> Service:
        """The service of that name.

        Raises:
            KeyError: there is none.
        """
        for service in self.services:
            if service.name == name:
                return service
        raise KeyError(name)
