# SPDX-License-Identifier: Apache-2.0
"""The plugin of the kit's own kinds: what it is, and what it does not import before it is asked for a resource."""

import subprocess
import sys

import pytest

from infra.model.inputs import Inputs
from infra.project import PROJECT
from infra.targets.kinds import KINDS

CLIENTS = {"boto3", "botocore", "confluent_kafka", "docker", "httpx", "psycopg"}
"""What the kinds talk with."""


def imported(statement):
    """The packages that are there after a statement in a Python of its own."""
    program = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_found_by_its_name(name):
    kind = KINDS[name]
    assert kind.name == name
    assert issubclass(kind.inputs, Inputs)
    assert KINDS[name] is kind


def test_a_kind_that_there_is_not_is_none():
    assert KINDS.get("Moon") is None


@pytest.mark.parametrize(
    ("statement", "not_needed"),
    [
        ("import infra.provider.server", CLIENTS | {"pydantic"}),
        ("import tests.docker.plugin.server", CLIENTS | {"pulumi_docker", "pydantic"}),
        ("import infra.targets.docker.target, infra.targets.local.target", CLIENTS | {"pulumi", "pulumi_docker"}),
        ("import infra.targets.docker.registration", CLIENTS),
        ("import infra.cli.__main__", {"pulumi", "boto3", "confluent_kafka", "docker", "psycopg"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nothing_is_imported_that_only_a_resource_needs(statement, not_needed):
    """The engine starts each plugin twice in an update, and a second of imports is a second of every update."""
    assert imported(statement) & not_needed == set()
