# SPDX-License-Identifier: Apache-2.0
"""Pulumi's state of a stack on Docker, compared with a daemon."""

import pytest

from infra.cli.docker_state import has_moved, missing_containers, reject_other_daemon
from infra.errors import LabError

CONTAINER = "docker:index/container:Container"
OLD, NEW = "unix:///run/old.sock", "unix:///run/new.sock"


def resource(kind, name, **properties):
    return {"type": kind, "urn": f"urn:pulumi:docker::lineage-lab::{kind}::{name}", **properties}


RESOURCES = [
    resource("pulumi:pulumi:Stack", "lineage-lab-docker"),
    resource("pulumi:providers:docker", "daemon", id="1", inputs={"host": OLD}),
    resource("docker:index/volume:Volume", "volume/kafka", id="lineage-lab-docker-kafka"),
    resource(CONTAINER, "container/kafka", id="a"),
    resource(CONTAINER, "container/connect", id="b"),
]


def test_only_containers_that_do_not_exist_are_missing():
    assert missing_containers(RESOURCES, {"a", "c"}) == [RESOURCES[-1]["urn"]]
    assert missing_containers(RESOURCES, {"a", "b"}) == []


@pytest.mark.parametrize(
    ("resources", "moved"),
    [
        ([], False),
        (RESOURCES, True),
        ([resource("pulumi:providers:docker", "daemon", inputs={"host": NEW})], False),
        ([resource("pulumi:providers:docker", "daemon", inputs={})], True),
    ],
    ids=["new stack", "moved", "same address", "no address"],
)
def test_a_daemon_has_moved_if_the_state_has_another_address(resources, moved):
    assert has_moved(resources, NEW) is moved


def test_a_daemon_with_none_of_the_containers_is_another_one():
    with pytest.raises(LabError, match=f"runs on the Docker daemon at {OLD}; the daemon at {NEW} has none of its 2"):
        reject_other_daemon("docker", RESOURCES, NEW, {"c"})


@pytest.mark.parametrize(
    ("resources", "host", "existing"),
    [(RESOURCES, NEW, {"a", "c"}), (RESOURCES, OLD, set()), (RESOURCES[:3], NEW, set()), ([], NEW, {"c"})],
    ids=["moved", "same address", "no containers", "new stack"],
)
def test_the_daemon_of_the_stack_is_accepted(resources, host, existing):
    reject_other_daemon("docker", resources, host, existing)
