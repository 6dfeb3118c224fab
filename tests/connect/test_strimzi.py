# SPDX-License-Identifier: Apache-2.0
"""The archive's manifest for Strimzi, read with Strimzi's own classes of its resources."""

import copy
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from infra.toolchain import Artifacts
from infra.toolchain.pins import STRIMZI_API
from infra.toolchain.progress import PlainProgress
from tests.connect.plugins import COMPONENT, archives
from tests.connect.worker import lineage_options

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "strimzi" / "CheckManifest.java"
TIMEOUT_SECONDS = 120
REQUIRED_BY_V1 = {"replicas", "bootstrapServers", "groupId", "offsetStorageTopic", "configStorageTopic"}
REQUIRED_BY_V1 |= {"statusStorageTopic"}
"""Properties of a KafkaConnect that version v1 of the resource requires. Source: annotations of Strimzi's classes."""


@pytest.fixture(scope="module")
def check():
    """Function that reads resources with Strimzi's classes and returns its findings of each."""
    artifacts = Artifacts.open()
    artifacts.setup({STRIMZI_API.name}, PlainProgress(sys.stderr))
    classes = f"{artifacts.component(STRIMZI_API.name)}/lib/*"

    def run(resources):
        command = ["java", "-cp", classes, str(PROGRAM)]
        done = subprocess.run(
            command, input=json.dumps(resources), capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def manifest():
    with zipfile.ZipFile(archives()[COMPONENT]) as content:
        (name,) = (name for name in content.namelist() if name.endswith("etc/strimzi.yaml"))
        return list(yaml.safe_load_all(content.read(name)))


def test_strimzi_knows_each_property(check, manifest):
    connect, connector = check(manifest)
    assert connect["unknown"] == connector["unknown"] == []
    for resource, found in zip(manifest, (connect, connector), strict=True):
        assert resource["apiVersion"].removeprefix("kafka.strimzi.io/") in found["versions"]
    assert manifest[0]["spec"].keys() >= REQUIRED_BY_V1


def test_an_unknown_property_is_found(check, manifest):
    """The check can fail, also deep in a resource."""
    wrong = copy.deepcopy(manifest)
    wrong[0]["spec"]["build"]["plugins"][0]["artifacts"][0]["sha512"] = "0"
    wrong[1]["spec"]["transforms"] = "lineage"
    assert [found["unknown"] for found in check(wrong)] == [
        ["spec.build.plugins.artifacts.sha512"],
        ["spec.transforms"],
    ]


def test_the_options_are_those_of_the_plugin(check, manifest):
    """Strimzi's release with these classes leaves out the REST extension, and accepts the rest."""
    connect, connector = check(manifest)
    assert connect["forbidden"] == ["rest.extension.classes"]
    assert connector["forbidden"] == []
    known = set(lineage_options("http://127.0.0.1:1"))
    assert {option for option in manifest[0]["spec"]["config"] if option.startswith("openlineage.")} <= known
    transform = {
        option.removeprefix("transforms.lineage.")
        for option in manifest[1]["spec"]["config"]
        if option.startswith("transforms.lineage.")
    }
    assert {f"openlineage.{option}" for option in transform - {"type"}} <= known
