# SPDX-License-Identifier: Apache-2.0
"""Discovery of service definitions: the modules of `infra.services`, and extra folders."""

import functools
import os
import pkgutil
from importlib import import_module

import infra.services
from infra.services.definition import ServiceDefinition

EXTRA_FOLDERS = "LINEAGE_LAB_SERVICES"
"""Environment variable that lists folders of additional service modules, separated as in PATH."""


@functools.cache
def definitions() -> tuple[ServiceDefinition, ...]:
    """Return every definition, ordered by position and name.

    Raises:
        ValueError: two definitions have the same name.
    """
    found = sorted((item for name in _modules() for item in _definitions(name)), key=lambda d: (d.position, d.name))
    names = [definition.name for definition in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two service definitions have the name {name}")
    return tuple(found)


def _modules() -> list[str]:
    """Return the names of all service modules; extra folders are appended to the package's path."""
    package = infra.services
    for folder in os.environ.get(EXTRA_FOLDERS, "").split(os.pathsep):
        if folder and folder not in package.__path__:
            package.__path__.append(folder)
    return [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]


def _definitions(name: str) -> tuple[ServiceDefinition, ...]:
    module = import_module(name)
    one = getattr(module, "DEFINITION", None)
    return (one,) if one else getattr(module, "DEFINITIONS", ())
