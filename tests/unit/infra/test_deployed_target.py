# SPDX-License-Identifier: Apache-2.0
"""A lab stays on its target, whatever the configuration says meanwhile."""

import json
from pathlib import Path

import pytest

from infra.cli.stack import Stack
from infra.errors import LabError
from infra.targets import checkpoint
from infra.targets.deployed import (
    SUPERVISOR_TYPE,
    TARGETS,
    deployed_target,
    reject_moved_checkout,
    reject_other_security,
    reject_other_target,
)
from infra.targets.docker import kinds as docker
from infra.targets.docker.runtime import Containers
from infra.targets.kubernetes import kinds as kubernetes
from infra.targets.labels import checkout_id
from infra.targets.local import kinds as local
from infra.targets.local.supervisor import Supervisor
from infra.toolchain import Artifacts

STACK = {"type": "pulumi:pulumi:Stack"}


KINDS = {"local": local.MODULES, "docker": docker.MODULES, "kubernetes": kubernetes.MODULES}


@pytest.mark.parametrize(("type_token", "target"), TARGETS.items())
def test_the_type_is_a_kind_of_its_target_and_of_no_other(type_token, target):
    kind = type_token.rpartition(":")[2]
    assert [name for name, kinds in KINDS.items() if kind in kinds] == [target]


@pytest.mark.parametrize("type_token", sorted(TARGETS))
def test_another_target_is_rejected_and_the_same_one_is_not(type_token):
    resources = [STACK, {"type": "labkit:index:Topic"}, {"type": type_token}]
    assert deployed_target(resources) == TARGETS[type_token]
    for target in TARGETS.values():
        if target == TARGETS[type_token]:
            reject_other_target("dev", target, resources)
        else:
            with pytest.raises(LabError, match=f"runs on target {TARGETS[type_token]}, .*bin/lab down --stack dev"):
                reject_other_target("dev", target, resources)
    reject_other_target("dev", target, [STACK])


def test_a_lab_is_created_again_to_have_or_lose_tls():
    made = {"plain": {"path": "p"}, "tls": {"path": "p", "certificates": "c"}}
    for deployed, inputs in made.items():
        resources = [STACK, {"type": "labkit:index:Credentials", "inputs": inputs}]
        reject_other_security("dev", deployed, resources)
        (other,) = made.keys() - {deployed}
        with pytest.raises(LabError, match=f"with security {deployed}, its configuration says {other}: .*bin/lab down"):
            reject_other_security("dev", other, resources)
        reject_other_security("dev", other, [STACK])


@pytest.mark.parametrize("type_token", [token for token, target in TARGETS.items() if target != "local"])
def test_a_moved_checkout_does_not_replace_its_containers(type_token):
    inputs = {"root": "/before/lab/.lab/dev", "checkout": checkout_id(Path("/before/lab"))}
    resources = [STACK, {"type": type_token, "inputs": inputs}]
    reject_moved_checkout("dev", checkout_id(Path("/before/lab")), resources)
    with pytest.raises(LabError, match=r"by the checkout in /before/lab, .*bin/lab down --stack dev"):
        reject_moved_checkout("dev", checkout_id(Path("/after/lab")), resources)


def test_a_moved_checkout_keeps_a_local_lab():
    reject_moved_checkout("dev", checkout_id(), [{"type": SUPERVISOR_TYPE, "inputs": {"root": "/before/lab/.lab/dev"}}])


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr("infra.cli.stack.PULUMI_STATE", tmp_path)
    file = checkpoint.checkpoint_file("mine", tmp_path)
    file.parent.mkdir(parents=True)
    return file


def test_commands_use_the_target_of_the_lab(file, monkeypatch):
    monkeypatch.setattr("infra.cli.stack.stack_target", lambda stack: "docker")
    for content, runtime in (
        ({"resources": [STACK, {"type": "labkit:index:Supervisor"}]}, Supervisor),
        ({"resources": [STACK]}, Containers),
    ):
        file.write_text(json.dumps({"version": checkpoint.FORMAT_VERSION, "checkpoint": {"latest": content}}))
        assert type(Stack("mine", Artifacts.open()).runtime) is runtime
    file.write_text("damaged")
    assert type(Stack("mine", Artifacts.open()).runtime) is Containers
