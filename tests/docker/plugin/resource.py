# SPDX-License-Identifier: Apache-2.0
"""Base class of the fake plugin's resources."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import docker

from tests.vendor_plugin.properties import InvalidProperty, Properties, Property, property_paths, validate


class DockerRequestError(Exception):
    """A failed request to the daemon, with a message for the user."""


class NotStartedError(DockerRequestError):
    """A container was created but could not be started; the engine stores it in the state."""

    def __init__(self, text: str, state: "ResourceState") -> None:
        super().__init__(text)
        self.state = state


@dataclass(frozen=True)
class ResourceState:
    """Actual state of a resource: its id, its inputs as read from the daemon, and its outputs."""

    id: str
    inputs: Properties
    outputs: Properties

    @property
    def properties(self) -> Properties:
        """Properties in Pulumi's state."""
        return self.inputs | self.outputs


@dataclass(frozen=True)
class Difference:
    """Names of the properties that differ, and of those among them that force a replacement; sorted.

    `delete_first` is True if the old resource must be deleted first, as the new one has its name.
    """

    changed: list[str]
    replaced: list[str]
    delete_first: bool


@dataclass(frozen=True)
class Daemon:
    """Client of the daemon."""

    client: docker.DockerClient

    def attempts(self, seconds: float) -> Iterator[None]:
        """Yield ten times a second for at most `seconds`, also after the user has stopped the update."""
        for _ in range(round(seconds * 10)):
            yield
            time.sleep(0.1)


class Resource(ABC):
    """A resource type.

    Attributes:
        token: type token.
        arguments: name of the SDK's class with its inputs.
        defaults: defaults of the vendor's schema.
        supported: paths of the inputs that the fake applies, `ports.internal` for example. Others are rejected unless
            they have their default, as they would have no effect.
        in_place: inputs whose change does not force a replacement, according to the vendor's schema.
        outputs: names of the outputs, which are unknown during a preview.
    """

    token: ClassVar[str]
    arguments: ClassVar[str]
    defaults: ClassVar[Mapping[str, Any]] = {}
    supported: ClassVar[frozenset[str]]
    in_place: ClassVar[frozenset[str]] = frozenset()
    outputs: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def properties(self) -> dict[str, Property]:
        """Inputs in the vendor's schema."""
        import pulumi_docker

        from tests.vendor_plugin.schema import argument_properties

        return argument_properties(getattr(pulumi_docker, self.arguments))

    def check(self, news: Properties, olds: Properties | None = None) -> tuple[Properties, list[InvalidProperty]]:
        """Return the inputs with defaults, and those that are invalid.

        `olds` are the inputs in the state, which are valid.
        """
        inputs = {**self.defaults, **news}
        return inputs, [] if inputs == olds else self.invalid_properties(news, inputs)

    def invalid_properties(self, news: Properties, inputs: Properties) -> list[InvalidProperty]:
        """Return what is invalid in the user's inputs (`news`) and in the inputs with defaults (`inputs`)."""
        failures = list(validate(inputs, self.properties))
        failures += [
            InvalidProperty(path, "the fake plugin does not support this property (see tests/docker/plugin)")
            for path in sorted(set(property_paths(news, self.properties)) - self.supported)
            if path not in self.defaults or news[path] != self.defaults[path]
        ]
        if "name" not in news:
            failures.append(
                InvalidProperty("name", "the fake plugin, unlike the vendor's, does not generate names: set one")
            )
        return failures

    def diff(self, old: Properties, new: Properties) -> Difference:
        """Return the difference between old and new inputs."""
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        replaced = [key for key in changed if key not in self.in_place]
        return Difference(changed, replaced, bool(replaced) and old.get("name") == new.get("name"))

    @abstractmethod
    def create(self, daemon: Daemon, inputs: Properties) -> ResourceState:
        """Create the resource.

        Raises:
            DockerRequestError: the daemon rejected the request.
            NotStartedError: the container was created but not started.
        """

    @abstractmethod
    def read(self, daemon: Daemon, resource_id: str, inputs: Properties) -> ResourceState | None:
        """Return the actual state of a resource; None if it does not exist."""

    @abstractmethod
    def delete(self, daemon: Daemon, resource_id: str, inputs: Properties) -> None:
        """Delete the resource; does nothing if it does not exist."""

    def update(self, daemon: Daemon, resource_id: str, old: Properties, new: Properties) -> ResourceState:
        """Update the resource in place; called only for types with supported inputs in `in_place`."""
        raise AssertionError(f"{self.token} does not support updates in place")


def without_none(values: Mapping[str, Any]) -> Properties:
    """Return the values without None, for which the daemon has defaults."""
    return {key: value for key, value in values.items() if value is not None}


def docker_labels(inputs: Properties) -> dict[str, str]:
    """Return labels as a mapping, as in Docker's API; the vendor's input is a list of pairs."""
    return {pair["label"]: pair["value"] for pair in inputs.get("labels", [])}
