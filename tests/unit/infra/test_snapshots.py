# SPDX-License-Identifier: Apache-2.0
"""Comparison of rendered labs with `snapshots/`.

Update the snapshots after an intended change: UPDATE_SNAPSHOTS=1 bin/lab test tests/unit/infra
"""

import os
from pathlib import Path

import pytest

from infra.catalog import LabSettings
from tests.unit.infra.rendered_labs import OFFSET, docker_resources, docker_target, local_resources
from tests.unit.infra.snapshot import Snapshots, first_difference

FOLDER = Path(__file__).parent / "snapshots"


def snapshots():
    made = Snapshots()
    made.add("local", local_resources(LabSettings(port_offset=OFFSET)))
    made.add("docker", docker_resources(docker_target()), like="local")
    made.add("local, marquez", local_resources(LabSettings(port_offset=OFFSET, marquez=True)), like="local")
    docker_marquez = LabSettings(target="docker", port_offset=OFFSET, marquez=True)
    made.add("docker, marquez", docker_resources(docker_target(settings=docker_marquez)), like="docker")
    cluster = LabSettings(port_offset=OFFSET, spark="cluster", spark_history=True)
    made.add("local, Spark cluster", local_resources(cluster), like="local")
    dashboard = LabSettings(port_offset=OFFSET, dashboard=True)
    made.add("local, dashboard", local_resources(dashboard), like="local")
    docker_dashboard = LabSettings(target="docker", port_offset=OFFSET, dashboard=True)
    made.add("docker, dashboard", docker_resources(docker_target(settings=docker_dashboard)), like="docker")
    made.add("local, Trino", local_resources(LabSettings(port_offset=OFFSET, trino=True)), like="local")
    docker_trino = LabSettings(target="docker", port_offset=OFFSET, trino=True)
    made.add("docker, Trino", docker_resources(docker_target(settings=docker_trino)), like="docker")
    return made.finish()


RENDERED = snapshots()


@pytest.mark.parametrize("name", RENDERED)
def test_rendered_text_equals_the_snapshot(name):
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(RENDERED[name])
    assert path.exists(), "no snapshot yet: UPDATE_SNAPSHOTS=1 bin/lab test tests/unit/infra"
    before = path.read_text()
    assert RENDERED[name] == before, first_difference(before, RENDERED[name])


def test_every_snapshot_belongs_to_something_rendered():
    assert {path.stem for path in FOLDER.iterdir()} == RENDERED.keys()
