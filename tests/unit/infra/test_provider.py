# SPDX-License-Identifier: Apache-2.0
"""Resource kinds by name, and imports that plugins and commands must avoid at start."""

import subprocess
import sys

import pytest

from infra.model.inputs import Inputs
from infra.project import PROJECT
from infra.targets.kinds import KINDS

CLIENTS = {"boto3", "botocore", "confluent_kafka", "docker", "httpx", "psycopg"}
"""Client libraries of the kinds."""


def packages_imported_by(statement):
    """Return the top-level packages that a new interpreter has imported after a statement."""
    program = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_available_by_name(name):
    kind = KINDS[name]
    assert kind.name == name
    assert issubclass(kind.inputs, Inputs)
    assert KINDS[name] is kind


def test_unknown_kind_is_none():
    assert KINDS.get("Moon") is None


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import infra.provider.server", CLIENTS | {"pydantic"}),
        ("import tests.docker.plugin.server", CLIENTS | {"pulumi_docker", "pydantic"}),
        ("import infra.targets.docker.target, infra.targets.local.target", CLIENTS | {"pulumi", "pulumi_docker"}),
        ("import infra.targets.docker.registration", CLIENTS),
        ("import infra.cli.__main__", {"pulumi", "boto3", "confluent_kafka", "docker", "psycopg"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_modules_do_not_import_clients_of_resources(statement, unwanted):
    """Pulumi starts each plugin twice per update, so imports delay every update."""
    assert packages_imported_by(statement) & unwanted == set()
