# SPDX-License-Identifier: Apache-2.0
"""Validation and conversion of inputs in the fake of the vendor's Docker plugin, and its conformance to the schema."""

import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from pulumi.runtime.rpc import UNKNOWN

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.project import PROJECT
from infra.targets.container_paths import PROJECT_FOLDER
from infra.targets.container_site import ImagePrograms
from infra.targets.docker.container import ContainerRenderer
from infra.targets.docker.site import DockerSite
from infra.targets.docker.target import DockerTarget
from infra.targets.launch_script import Launcher
from tests.docker.plugin import IMITATED_VERSION
from tests.docker.plugin.container import Container
from tests.docker.plugin.container_config import (
    actual_inputs,
    create_request,
    format_duration,
    parse_duration,
    published_ports,
)
from tests.docker.plugin.network import Network
from tests.docker.plugin.resources import RESOURCES
from tests.docker.plugin.server import FakeDockerProvider
from tests.vendor_plugin.properties import ANY_KEY

SCHEMA = PROJECT.parent / "shared" / "provider-schemas" / "docker.json"
IMAGE = {"name": "one", "image": "sha256:0"}

SCALARS = {"string": str, "boolean": bool, "integer": int, "number": float}
DEFAULT = re.compile(r"Defaults to `(\w+)`\.?\s*$")


@pytest.fixture(scope="module")
def schema():
    """The vendor's schema, which is not part of this repository."""
    if not SCHEMA.exists():
        pytest.skip(f"the vendor's schema is not at {SCHEMA}")
    return json.loads(SCHEMA.read_text())


def shape_in_schema(schema, definition):
    """Return the shape of a property in the schema, with tuples for `Property`."""
    if "$ref" in definition:
        target = schema["types"][definition["$ref"].removeprefix("#/types/")]
        required = target.get("required", [])
        return {name: (shape_in_schema(schema, p), name in required) for name, p in target["properties"].items()}
    if definition["type"] == "array":
        return [shape_in_schema(schema, definition["items"])]
    if definition["type"] == "object":
        return {ANY_KEY: shape_in_schema(schema, definition["additionalProperties"])}
    return SCALARS[definition["type"]]


def with_tuples(shape):
    """Return a shape with tuples for `Property`."""
    if isinstance(shape, list):
        return [with_tuples(shape[0])]
    if not isinstance(shape, dict):
        return shape
    return {
        name: with_tuples(known) if name == ANY_KEY else (with_tuples(known.shape), known.required)
        for name, known in shape.items()
    }


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.token)
def test_properties_equal_those_of_the_vendors_schema(resource, schema):
    known = schema["resources"][resource.token]
    required = known.get("requiredInputs", [])
    expected = {name: (shape_in_schema(schema, p), name in required) for name, p in known["inputProperties"].items()}
    assert with_tuples(resource.properties) == expected


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.token)
def test_replacing_properties_equal_those_of_the_vendors_schema(resource, schema):
    inputs = schema["resources"][resource.token]["inputProperties"]
    assert resource.in_place == {name for name, p in inputs.items() if not p.get("willReplaceOnChanges")}


def test_defaults_equal_those_of_the_vendors_schema(schema):
    """The schema has the defaults in its descriptions only."""
    documented = {}
    for name, definition in schema["resources"][Container.token]["inputProperties"].items():
        found = DEFAULT.search(re.sub(r"</?span[^>]*>", "", definition["description"]))
        if found:
            documented[name] = found.group(1)
    defaults = {name: str(value).lower() for name, value in Container.defaults.items()}
    assert defaults.pop("containerReadRefreshTimeoutMilliseconds") == "15000"  # undocumented default of upstream
    assert documented == defaults


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        (LabSettings(target="docker"), {"Network", "Volume", "Container"}),
        (
            LabSettings(target="docker", marquez=True, spark="cluster", spark_history=True),
            {"Network", "Volume", "RemoteImage", "Container"},
        ),
    ],
    ids=["default", "all services"],
)
def test_every_vendor_resource_of_a_lab_on_docker_is_accepted(settings, kinds):
    programs = ImagePrograms(lambda name: True)
    site = DockerSite(stack="one", checkout=Path("/checkout"), port_offset=0, endpoints=ENDPOINTS, programs=programs)
    launcher = Launcher(programs, Path(PROJECT_FOLDER), Path("/credentials.env"), "linux", 10001)
    renderer = ContainerRenderer(site, launcher, lambda part: "sha256:0", PROJECT)
    declared = DockerTarget(renderer, Path("/checkout/.lab/one"), settings).render(build_lab(site, settings))
    by_kind = {type(resource).__name__: resource for resource in RESOURCES}
    of_vendor = [resource for resource in declared if resource.kind in by_kind]
    assert {resource.kind for resource in of_vendor} == kinds
    rejected = {
        resource.key: failures
        for resource in of_vendor
        if (failures := by_kind[resource.kind].check(resource.inputs.properties())[1])
    }
    assert rejected == {}


def reasons(resource, **inputs):
    return {failure.path: failure.reason for failure in resource.check(inputs)[1]}


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        ({"colour": "green"}, "colour", "has no such property"),
        ({"ports": [{"internal": 80}, {"internal": 80, "extern": 81}]}, "ports[1].extern", "has no such property"),
        ({"ports": [{"external": 81}]}, "ports[0].internal", "requires it"),
        ({"ports": {"internal": 80}}, "ports", "must be a list"),
        ({"ports": [80]}, "ports[0]", "must be an object"),
        ({"readOnly": "yes"}, "readOnly", "of type bool, not 'yes'"),
        ({"memory": 0.5}, "memory", "of type int"),
        ({"memory": True}, "memory", "of type int"),
        ({"tmpfs": {"/tmp": 1}}, "tmpfs./tmp", "of type str"),
        ({"privileged": True}, "privileged", "does not support"),
        ({"wait": True}, "wait", "does not support"),
        ({"volumes": [{"containerPath": "/a", "fromContainer": "b"}]}, "volumes.fromContainer", "does not support"),
        ({"healthcheck": {"tests": ["CMD", "true"], "interval": "60"}}, "healthcheck.interval", "not a Go duration"),
    ],
)
def test_an_invalid_input_is_reported_with_its_path(inputs, path, reason):
    found = reasons(Container(), **IMAGE, **inputs)
    assert found.keys() == {path}
    assert reason in found[path]


def test_inputs_equal_to_the_state_are_valid():
    container = Container()
    inputs, failures = container.check(IMAGE)
    assert failures == []
    assert container.check(IMAGE, inputs) == (inputs, [])
    assert reasons(container, **IMAGE, colour="green").keys() == {"colour"}
    assert [wrong.path for wrong in container.check({**IMAGE, "colour": "green"}, inputs)[1]] == ["colour"]


def test_missing_required_inputs_are_reported():
    assert reasons(Container()).keys() == {"image", "name"}
    assert reasons(Network()).keys() == {"name"}


def test_an_unsupported_input_with_its_default_is_accepted():
    assert reasons(Container(), **IMAGE, wait=False, rm=False) == {}


def test_unknown_values_of_a_preview_are_valid():
    inputs, failures = Container().check(
        {"name": "one", "image": UNKNOWN, "ports": UNKNOWN, "networksAdvanced": [{"name": UNKNOWN}]}
    )
    assert failures == []
    assert inputs["mustRun"] is True


def test_a_replacement_with_the_same_name_deletes_the_old_resource_first():
    container = Container()
    old = {**IMAGE, "envs": ["A=1"], "memory": 1}
    same = container.diff(old, {**IMAGE, "envs": ["A=2"], "memory": 1})
    assert (same.changed, same.replaced, same.delete_first) == (["envs"], ["envs"], True)
    other = container.diff(old, {**old, "name": "two"})
    assert (other.replaced, other.delete_first) == (["name"], False)
    in_place = container.diff(old, {**old, "memory": 2})
    assert (in_place.changed, in_place.replaced, in_place.delete_first) == (["memory"], [], False)


@pytest.mark.parametrize(
    ("text", "seconds", "canonical"),
    [
        ("0s", 0, "0s"),
        ("500ms", 0.5, "500ms"),
        ("10s", 10, "10s"),
        ("1.5s", 1.5, "1.5s"),
        ("60s", 60, "1m0s"),
        ("90s", 90, "1m30s"),
        ("1h", 3600, "1h0m0s"),
    ],
)
def test_durations_are_formatted_like_those_of_the_vendors_plugin(text, seconds, canonical):
    assert parse_duration(text) == seconds * 10**9
    assert format_duration(parse_duration(text)) == canonical


def test_ports_become_exposed_ports_and_bindings():
    ports = [{"internal": 80, "external": 8080, "ip": "127.0.0.1"}, {"internal": 53, "protocol": "udp"}]
    body = create_request({**Container.defaults, **IMAGE, "ports": ports})
    assert body["ExposedPorts"] == {"80/tcp": {}, "53/udp": {}}
    assert body["HostConfig"]["PortBindings"] == {
        "80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}],
        "53/udp": [{"HostIp": "0.0.0.0", "HostPort": ""}],
    }


def test_only_given_inputs_are_read_back_in_the_daemons_format():
    response = {
        "Name": "/one",
        "Image": "sha256:1",
        "State": {"Running": True},
        "NetworkSettings": {"Ports": {}},
        "Config": dict.fromkeys(["Cmd", "Entrypoint", "User", "Hostname"])
        | {"Image": "some:tag"}
        | {"Healthcheck": {"Test": ["CMD", "true"], "Interval": 60 * 10**9}},
        "HostConfig": dict.fromkeys(["ReadonlyRootfs", "Init", "SecurityOpt", "CapDrop"])
        | {"RestartPolicy": {"Name": "no"}, "LogConfig": {"Type": "json-file", "Config": {}}}
        | {"Memory": 64 << 20, "MemorySwap": -1},
    }
    inputs = {
        "image": "some:tag",
        "mustRun": False,
        "memory": 32,
        "memorySwap": -1,
        "healthcheck": {"interval": "60s"},
        "envs": ["A=1"],
    }
    assert actual_inputs(response, inputs) == {
        "image": "some:tag",
        "mustRun": False,
        "memory": 64,
        "memorySwap": -1,
        "healthcheck": {"interval": "1m0s"},
        "envs": ["A=1"],
    }
    assert actual_inputs(response, inputs | {"image": "sha256:0"})["image"] == "sha256:1"


@pytest.mark.parametrize(
    ("published", "ports", "expected"),
    [
        ({"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "81"}]}, [{"internal": 80, "external": 81}], None),
        ({"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "81"}]}, [{"internal": 80}], None),
        ({"80/tcp": None}, [{"internal": 80}], []),
        (
            {
                "80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "81"}],
                "9/udp": [{"HostIp": "127.0.0.1", "HostPort": "9"}],
            },
            [{"internal": 80, "external": 81, "ip": "127.0.0.1"}, {"internal": 9, "external": 9, "ip": "127.0.0.1"}],
            [
                {"internal": 9, "external": 9, "ip": "127.0.0.1", "protocol": "udp"},
                {"internal": 80, "external": 81, "ip": "127.0.0.1", "protocol": "tcp"},
            ],
        ),
    ],
    ids=["as given", "random port", "stopped", "another order"],
)
def test_ports_are_read_back_in_order_as_far_as_they_are_published(published, ports, expected):
    response = {"NetworkSettings": {"Ports": published}}
    assert published_ports(response, {"ports": ports}) == (ports if expected is None else expected)


def test_the_imitated_version_is_that_of_the_sdk():
    """A newer plugin may behave differently: compare the vendor's changes before raising the version."""
    assert version(FakeDockerProvider.distribution) == IMITATED_VERSION
