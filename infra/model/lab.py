# SPDX-License-Identifier: Apache-2.0
"""Lab: services, tasks and resources of one stack, as data."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from infra.model.resources import Resource
from infra.model.service import Service, Task

Part = Service | Task | Resource
R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class Lab:
    """Complete description of a lab.

    Raises:
        ValueError: two parts have the same key, or `needs` names a missing part.
    """

    services: tuple[Service, ...]
    tasks: tuple[Task, ...] = ()
    resources: tuple[Resource, ...] = ()

    def __post_init__(self) -> None:
        keys = [part.key for part in self.parts]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"duplicate key {key} in the lab")
        for part in self.parts:
            for needed in part.needs:
                if needed not in keys:
                    raise ValueError(f"{part.key} needs {needed}, which the lab does not contain")

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts: services, tasks, resources."""
        return (*self.services, *self.tasks, *self.resources)

    @property
    def memory_mib(self) -> int:
        """Memory under load of all services, each replica included, and the largest task, MiB."""
        largest_task = max((task.memory_mib for task in self.tasks), default=0)
        return sum(service.replicas * service.memory_mib for service in self.services) + largest_task

    def service(self, name: str) -> Service:
        """Return the service called `name`.

        Raises:
            KeyError: the lab has no such service.
        """
        for service in self.services:
            if service.name == name:
                return service
        raise KeyError(name)

    def resources_of(self, kind: type[R]) -> tuple[R, ...]:
        """Return the resources of type `kind`, in declaration order."""
        return tuple(resource for resource in self.resources if isinstance(resource, kind))

    def with_parts(self, parts: Iterable[Part]) -> "Lab":
        """Return a copy of the lab with additional parts."""
        added = tuple(parts)
        return Lab(
            services=self.services + tuple(part for part in added if isinstance(part, Service)),
            tasks=self.tasks + tuple(part for part in added if isinstance(part, Task)),
            resources=self.resources + tuple(part for part in added if isinstance(part, Resource)),
        )
