# SPDX-License-Identifier: Apache-2.0
"""What a kind of resource is: its properties, what the stand-in does with them, and what the engine asks of it."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import docker

from tests.docker.plugin.properties import Properties, Property, Wrong, given, wrong


class Refused(Exception):
    """The daemon did not do what it was asked to; the text is for the user."""


class NotStarted(Refused):
    """A container was made and could not be started: it is there, and the engine has to know of it."""

    def __init__(self, text: str, made: "Made") -> None:
        super().__init__(text)
        self.made = made


@dataclass(frozen=True)
class Made:
    """A resource as the daemon has it: its id, its inputs as they really are, and its outputs."""

    id: str
    inputs: Properties
    outputs: Properties

    @property
    def state(self) -> Properties:
        """What the engine remembers."""
        return self.inputs | self.outputs


@dataclass(frozen=True)
class Difference:
    """Names of the properties that differ, and of those among them that force a replacement; sorted.

    `delete_first`: the old one has to go before the new one is made, because both have one name.
    """

    changed: list[str]
    replaced: list[str]
    delete_first: bool


@dataclass(frozen=True)
class Daemon:
    """The daemon, and the sign that the user stopped the update."""

    client: docker.DockerClient
    stopped: threading.Event

    def attempts(self, seconds: float) -> Iterator[None]:
        """Yields ten times a second for at most `seconds`, and no longer than the update goes on."""
        for _ in range(round(seconds * 10)):
            yield
            if self.stopped.wait(0.1):
                return


class Resource(ABC):
    """One type of resource.

    Attributes:
        token: its type.
        arguments: the name of the SDK's class of its inputs: they are the only ones that there are.
        defaults: what the vendor's schema puts in place of inputs that are not given.
        learnt: inputs that the stand-in acts on, with the parts of lists and objects as `ports.internal`. Others
            are refused unless they have their default: it must not look as if they did something.
        in_place: inputs whose change does not force a replacement, according to the vendor's schema.
        outputs: what the daemon adds, unknown in a preview.
    """

    token: ClassVar[str]
    arguments: ClassVar[str]
    defaults: ClassVar[Mapping[str, Any]] = {}
    learnt: ClassVar[frozenset[str]]
    in_place: ClassVar[frozenset[str]] = frozenset()
    outputs: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def properties(self) -> dict[str, Property]:
        """Every input of the vendor's."""
        from tests.docker.plugin.schema import properties_of

        return properties_of(self.arguments)

    def check(self, news: Properties, olds: Properties | None = None) -> tuple[Properties, list[Wrong]]:
        """The inputs with the defaults filled in, and everything that is wrong with them.

        `olds` are those that the resource has; as nothing wrong gets there, the same are right.
        """
        inputs = {**self.defaults, **news}
        return inputs, [] if inputs == olds else self.mistakes(news, inputs)

    def mistakes(self, news: Properties, inputs: Properties) -> list[Wrong]:
        """Everything that is wrong with what was given (`news`), or with that and the defaults (`inputs`)."""
        failures = list(wrong(inputs, self.properties))
        failures += [
            Wrong(path, "the stand-in has not learnt this property of the vendor's (see tests/docker/plugin)")
            for path in sorted(set(given(news, self.properties)) - self.learnt)
            if path not in self.defaults or news[path] != self.defaults[path]
        ]
        if "name" not in news:
            failures.append(Wrong("name", "the stand-in makes up no names, as the vendor's plugin would: give one"))
        return failures

    def difference(self, old: Properties, new: Properties) -> Difference:
        """Between the inputs as they are and as they shall be."""
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        replaced = [key for key in changed if key not in self.in_place]
        return Difference(changed, replaced, bool(replaced) and old.get("name") == new.get("name"))

    @abstractmethod
    def create(self, daemon: Daemon, inputs: Properties) -> Made:
        """Makes the thing.

        Raises:
            Refused: the daemon did not.
            NotStarted: it is there, and does not run.
        """

    @abstractmethod
    def read(self, daemon: Daemon, known: str, inputs: Properties) -> Made | None:
        """The thing of the id `known` as it is; None where it is gone."""

    @abstractmethod
    def delete(self, daemon: Daemon, known: str, inputs: Properties) -> None:
        """Removes the thing; one that is gone already is no error."""

    def update(self, daemon: Daemon, known: str, old: Properties, new: Properties) -> Made:
        """Changes the thing in place. Where all that is learnt forces a replacement, the engine never asks."""
        raise AssertionError(f"{self.token} knows no change in place")


def without_none(values: Mapping[str, Any]) -> Properties:
    """What was given: the daemon has defaults of its own for the rest."""
    return {key: value for key, value in values.items() if value is not None}


def labels_of(inputs: Properties) -> dict[str, str]:
    """Labels as the daemon has them: the vendor's are a list of pairs."""
    return {pair["label"]: pair["value"] for pair in inputs.get("labels", [])}
