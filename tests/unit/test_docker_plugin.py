# SPDX-License-Identifier: Apache-2.0
"""What the stand-in for the vendor's Docker plugin makes of inputs, and that it knows the vendor's schema."""

import json
import re
from pathlib import Path

import pytest
from pulumi.runtime.rpc import UNKNOWN

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.project import PROJECT
from infra.targets.docker.container import ContainerRenderer
from infra.targets.docker.site import PROJECT_FOLDER, DockerSite, ImagePrograms
from infra.targets.docker.target import DockerTarget
from infra.targets.launch_script import Launcher
from tests.docker.plugin.container import Container
from tests.docker.plugin.container_config import duration, inputs_of, nanoseconds, request
from tests.docker.plugin.network import Network
from tests.docker.plugin.properties import ANY_KEY
from tests.docker.plugin.resources import RESOURCES

SCHEMA = PROJECT.parent / "shared" / "provider-schemas" / "docker.json"
IMAGE = {"name": "one", "image": "sha256:0"}

SCALARS = {"string": str, "boolean": bool, "integer": int, "number": float}
DEFAULT = re.compile(r"Defaults to `(\w+)`\.?\s*$")


@pytest.fixture(scope="module")
def schema():
    """The vendor's own schema, which is not part of this repository."""
    if not SCHEMA.exists():
        pytest.skip(f"the vendor's schema is not at {SCHEMA}")
    return json.loads(SCHEMA.read_text())


def shape_in(schema, described):
    """What the schema says of a property, as the stand-in keeps it."""
    if "$ref" in described:
        known = schema["types"][described["$ref"].removeprefix("#/types/")]
        required = known.get("required", [])
        return {name: (shape_in(schema, p), name in required) for name, p in known["properties"].items()}
    if described["type"] == "array":
        return [shape_in(schema, described["items"])]
    if described["type"] == "object":
        return {ANY_KEY: shape_in(schema, described["additionalProperties"])}
    return SCALARS[described["type"]]


def plain(shape):
    """A shape without the classes of this code."""
    if isinstance(shape, list):
        return [plain(shape[0])]
    if not isinstance(shape, dict):
        return shape
    return {
        name: plain(known) if name == ANY_KEY else (plain(known.shape), known.required) for name, known in shape.items()
    }


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.token)
def test_it_takes_exactly_the_properties_of_the_vendors_schema(resource, schema):
    known = schema["resources"][resource.token]
    required = known.get("requiredInputs", [])
    expected = {name: (shape_in(schema, p), name in required) for name, p in known["inputProperties"].items()}
    assert plain(resource.properties) == expected


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.token)
def test_it_replaces_where_the_vendors_schema_says_so(resource, schema):
    inputs = schema["resources"][resource.token]["inputProperties"]
    assert resource.in_place == {name for name, p in inputs.items() if not p.get("willReplaceOnChanges")}


def test_it_takes_the_defaults_of_the_vendors_schema(schema):
    """The schema has them in its descriptions alone."""
    told = {}
    for name, described in schema["resources"][Container.token]["inputProperties"].items():
        found = DEFAULT.search(re.sub(r"</?span[^>]*>", "", described["description"]))
        if found:
            told[name] = found.group(1)
    taken = {name: str(value).lower() for name, value in Container.defaults.items()}
    assert taken.pop("containerReadRefreshTimeoutMilliseconds") == "15000"  # upstream's, which no text tells
    assert told == taken


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        (LabSettings(target="docker"), {"Network", "Volume", "Container"}),
        (
            LabSettings(target="docker", marquez=True, spark="cluster", spark_history=True),
            {"Network", "Volume", "RemoteImage", "Container"},
        ),
    ],
    ids=["as it comes", "with everything"],
)
def test_it_accepts_all_that_a_lab_on_docker_asks_of_the_vendors_plugin(settings, kinds):
    programs = ImagePrograms(lambda name: True)
    site = DockerSite(stack="one", checkout=Path("/checkout"), port_offset=0, endpoints=ENDPOINTS, programs=programs)
    launcher = Launcher(programs, Path(PROJECT_FOLDER), Path("/credentials.env"), "linux", 10001)
    renderer = ContainerRenderer(site, launcher, lambda part: "sha256:0", PROJECT)
    declared = DockerTarget(renderer, Path("/checkout/.lab/one"), settings).render(build_lab(site, settings))
    by_kind = {type(resource).__name__: resource for resource in RESOURCES}
    asked = [resource for resource in declared if resource.kind in by_kind]
    assert {resource.kind for resource in asked} == kinds
    refused = {
        resource.key: failures
        for resource in asked
        if (failures := by_kind[resource.kind].check(resource.inputs.properties())[1])
    }
    assert refused == {}


def reasons(resource, **inputs):
    return {failure.path: failure.reason for failure in resource.check(inputs)[1]}


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        ({"colour": "green"}, "colour", "has no such property"),
        ({"ports": [{"internal": 80}, {"internal": 80, "extern": 81}]}, "ports[1].extern", "has no such property"),
        ({"ports": [{"external": 81}]}, "ports[0].internal", "requires it"),
        ({"ports": {"internal": 80}}, "ports", "is to be a list"),
        ({"ports": [80]}, "ports[0]", "is to be an object"),
        ({"readOnly": "yes"}, "readOnly", "of type bool, not 'yes'"),
        ({"memory": 0.5}, "memory", "of type int"),
        ({"memory": True}, "memory", "of type int"),
        ({"tmpfs": {"/tmp": 1}}, "tmpfs./tmp", "of type str"),
        ({"privileged": True}, "privileged", "has not learnt"),
        ({"wait": True}, "wait", "has not learnt"),
        ({"volumes": [{"containerPath": "/a", "fromContainer": "b"}]}, "volumes.fromContainer", "has not learnt"),
        ({"healthcheck": {"tests": ["CMD", "true"], "interval": "60"}}, "healthcheck.interval", "no duration"),
    ],
)
def test_what_cannot_be_accepted_is_named(inputs, path, reason):
    found = reasons(Container(), **IMAGE, **inputs)
    assert found.keys() == {path}
    assert reason in found[path]


def test_what_a_resource_has_already_is_right_as_it_is():
    container = Container()
    inputs, failures = container.check(IMAGE)
    assert failures == []
    assert container.check(IMAGE, inputs) == (inputs, [])
    assert reasons(container, **IMAGE, colour="green").keys() == {"colour"}
    assert [wrong.path for wrong in container.check({**IMAGE, "colour": "green"}, inputs)[1]] == ["colour"]


def test_what_is_required_is_missed():
    assert reasons(Container()).keys() == {"image", "name"}
    assert reasons(Network()).keys() == {"name"}


def test_a_default_that_is_given_is_no_property_to_be_learnt():
    assert reasons(Container(), **IMAGE, wait=False, rm=False) == {}


def test_what_a_preview_does_not_know_yet_fits_everywhere():
    inputs, failures = Container().check(
        {"name": "one", "image": UNKNOWN, "ports": UNKNOWN, "networksAdvanced": [{"name": UNKNOWN}]}
    )
    assert failures == []
    assert inputs["mustRun"] is True


def test_one_name_makes_the_old_one_go_first():
    container = Container()
    old = {**IMAGE, "envs": ["A=1"], "memory": 1}
    same = container.difference(old, {**IMAGE, "envs": ["A=2"], "memory": 1})
    assert (same.changed, same.replaced, same.delete_first) == (["envs"], ["envs"], True)
    other = container.difference(old, {**old, "name": "two"})
    assert (other.replaced, other.delete_first) == (["name"], False)
    in_place = container.difference(old, {**old, "memory": 2})
    assert (in_place.changed, in_place.replaced, in_place.delete_first) == (["memory"], [], False)


@pytest.mark.parametrize(
    ("text", "seconds", "spelt"),
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
def test_durations_are_spelt_as_the_vendors_plugin_reports_them(text, seconds, spelt):
    assert nanoseconds(text) == seconds * 10**9
    assert duration(nanoseconds(text)) == spelt


def test_ports_are_published_where_they_are_said_to_be():
    ports = [{"internal": 80, "external": 8080, "ip": "127.0.0.1"}, {"internal": 53, "protocol": "udp"}]
    body = request({**Container.defaults, **IMAGE, "ports": ports})
    assert body["ExposedPorts"] == {"80/tcp": {}, "53/udp": {}}
    assert body["HostConfig"]["PortBindings"] == {
        "80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}],
        "53/udp": [{"HostIp": "0.0.0.0", "HostPort": ""}],
    }


def test_only_what_was_asked_for_is_read_back_and_in_the_daemons_spelling():
    answer = {
        "Name": "/one",
        "Image": "sha256:1",
        "Config": dict.fromkeys(["Cmd", "Entrypoint", "User", "Hostname"])
        | {"Healthcheck": {"Test": ["CMD", "true"], "Interval": 60 * 10**9}},
        "HostConfig": dict.fromkeys(["ReadonlyRootfs", "Init", "SecurityOpt", "CapDrop"])
        | {"RestartPolicy": {"Name": "no"}, "LogConfig": {"Type": "json-file", "Config": {}}}
        | {"Memory": 64 << 20, "MemorySwap": -1},
    }
    asked = {"image": "some:tag", "memory": 32, "memorySwap": -1, "healthcheck": {"interval": "60s"}, "envs": ["A=1"]}
    assert inputs_of(answer, asked) == {
        "image": "sha256:1",
        "memory": 64,
        "memorySwap": -1,
        "healthcheck": {"interval": "1m0s"},
        "envs": ["A=1"],
    }
