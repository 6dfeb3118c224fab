# SPDX-License-Identifier: Apache-2.0
"""The fake of the vendor's plugin, run by the real engine on a real daemon."""

import socket
from pathlib import Path

import pytest

from infra.targets.docker.engine import engine_host
from tests.docker.conftest import PLUGIN

CONTAINER = "docker:index/container:Container"
SLEEP = ["sleep", "600"]


@pytest.fixture
def container(project, base_image):
    """Adds a container to the project; keyword arguments override the defaults."""

    def add(name="one", needs=(), **changes):
        inputs = {"image": base_image, "command": SLEEP, "init": True} | changes
        project.add("Container", name, needs, **inputs)

    return add


def up(project, *options):
    ended = project.up(*options)
    assert ended.status == 0, ended.text
    return ended.text


def test_a_stack_is_created_unchanged_by_a_refresh_and_destroyed(project, container):
    project.add("Network", "net", driver="bridge")
    project.add("Volume", "data")
    write_file = "echo ready > /data/status; while :; do sleep 1; done"
    container(
        "server",
        ("net", "data"),
        command=["/bin/sh", "-c", write_file],
        networks_advanced=[{"name": project.docker_name("net"), "aliases": ["server"]}],
        volumes=[{"volume_name": project.docker_name("data"), "container_path": "/data"}],
    )
    container("client", ("net",), networks_advanced=[{"name": project.docker_name("net")}])
    up(project)
    status, found = project.container("client").exec_run(["getent", "hosts", "server"])
    assert status == 0, found
    assert project.container("server").exec_run(["cat", "/data/status"]).output == b"ready\n"

    assert "5 unchanged" in up(project, "--refresh")  # four, and the stack itself

    assert project.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert project.object_names() == set()


def test_inputs_are_applied_to_the_container(project, container):
    container(
        envs=["GREETING=hello"],
        user="10001:10001",
        hostname="greeter",
        labels=[{"label": "colour", "value": "green"}],
        read_only=True,
        tmpfs={"/scratch": "size=1m,uid=10001"},
        volumes=[{"container_path": "/anonymous"}],
        ports=[{"internal": 80, "external": 23456, "ip": "127.0.0.1"}],
        memory=64,
        memory_swap=64,
        capabilities={"drops": ["ALL"]},
        security_opts=["no-new-privileges"],
        restart="on-failure",
        stop_signal="SIGINT",
        stop_timeout=7,
        healthcheck={"tests": ["CMD", "true"], "interval": "1m30s", "timeout": "5s", "retries": 2},
    )
    up(project)
    attributes = project.container("one").attrs
    config, host = attributes["Config"], attributes["HostConfig"]
    assert config["Env"][0] == "GREETING=hello"
    assert (config["User"], config["Hostname"]) == ("10001:10001", "greeter")
    assert config["Labels"]["colour"] == "green"
    assert (config["StopSignal"], config["StopTimeout"]) == ("SIGINT", 7)
    assert config["Healthcheck"] == {
        "Test": ["CMD", "true"],
        "Interval": 90 * 10**9,
        "Timeout": 5 * 10**9,
        "Retries": 2,
    }
    assert host["ReadonlyRootfs"] is True
    assert host["Init"] is True
    assert host["Tmpfs"] == {"/scratch": "size=1m,uid=10001"}
    assert host["PortBindings"] == {"80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "23456"}]}
    assert (host["Memory"], host["MemorySwap"]) == (64 << 20, 64 << 20)
    assert (host["CapDrop"], host["SecurityOpt"]) == (["ALL"], ["no-new-privileges"])
    assert host["RestartPolicy"] == {"Name": "on-failure", "MaximumRetryCount": 0}
    assert [mount["Destination"] for mount in attributes["Mounts"]] == ["/anonymous"]
    assert "2 unchanged" in up(project, "--refresh")


def test_a_preview_creates_nothing(project, container):
    project.add("Network", "net")
    container(needs=("net",), networks_advanced=[{"name": project.docker_name("net")}])
    preview = project.pulumi("preview")
    assert preview.status == 0, preview.text
    assert "3 to create" in preview.text
    assert project.object_names() == set()


def test_invalid_properties_of_a_resource_are_rejected_after_others_were_created(project, base_image):
    project.add("Network", "net")
    inputs = {"name": project.docker_name("one"), "image": base_image, "colour": "green", "ports": [{"extern": 81}]}
    project.wanted["raw"] = [[CONTAINER, "one", inputs]]
    ended = project.up()
    assert ended.status != 0
    for text in ("colour", "ports[0].extern", "the vendor's schema has no such property", "ports[0].internal"):
        assert text in ended.text
    assert project.object_names() == {project.docker_name("net")}


def test_an_unsupported_resource_is_rejected(project):
    project.wanted["raw"] = [["docker:index/secret:Secret", "one", {"name": "one", "data": "eA=="}]]
    ended = project.up()
    assert ended.status != 0
    assert "the fake plugin does not support docker:index/secret:Secret" in ended.text


def test_a_changed_environment_replaces_and_changed_memory_updates(project, container):
    container("one")
    container("two")
    up(project)
    before = {name: project.container(name).id for name in ("one", "two")}
    container("one", envs=["CHANGED=1"])
    container("two", memory=96, memory_swap=96)
    text = up(project)
    assert "1 replaced" in text or "+-1" in text, text
    assert project.container("one").id != before["one"]
    two = project.container("two")
    assert two.id == before["two"]
    assert two.attrs["HostConfig"]["Memory"] == 96 << 20


def test_a_container_with_an_image_tag_is_unchanged_by_a_refresh(project, container):
    container(image="debian:bookworm-slim")
    up(project)
    before = project.container("one").id
    assert "2 unchanged" in up(project, "--refresh")
    assert project.container("one").id == before


def test_a_removed_container_is_created_again_and_no_other(project, container):
    container("one")
    container("two")
    up(project)
    before = {name: project.container(name).id for name in ("one", "two")}
    project.container("one").remove(force=True)
    up(project, "--refresh")
    assert project.container("one").id != before["one"]
    assert project.container("one").status == "running"
    assert project.container("two").id == before["two"]


def test_a_killed_container_is_started_again(project, container):
    container()
    up(project)
    before = project.container("one").id
    project.container("one").kill()
    up(project, "--refresh")
    assert project.container("one").id == before
    assert project.container("one").status == "running"


def test_a_killed_container_with_published_ports_is_replaced(project, container):
    container(ports=[{"internal": 80, "external": 23456, "ip": "127.0.0.1"}])
    up(project)
    before = project.container("one").id
    project.container("one").kill()
    up(project, "--refresh")
    assert project.container("one").id != before
    assert project.container("one").status == "running"


def test_a_killed_container_without_must_run_is_left_alone(project, container):
    container(must_run=False, ports=[{"internal": 80, "external": 23456, "ip": "127.0.0.1"}])
    up(project)
    before = project.container("one").id
    project.container("one").kill()
    assert "2 unchanged" in up(project, "--refresh")
    assert (project.container("one").id, project.container("one").status) == (before, "exited")


def test_a_container_without_must_run_stays_created(project, container):
    container(start=False, must_run=False)
    up(project)
    assert project.container("one").status == "created"
    assert "2 unchanged" in up(project, "--refresh")
    assert project.container("one").status == "created"


def test_a_removed_network_and_volume_are_created_again(project):
    project.add("Network", "net")
    project.add("Volume", "data")
    up(project)
    project.daemon.networks.get(project.docker_name("net")).remove()
    project.daemon.volumes.get(project.docker_name("data")).remove()
    up(project, "--refresh")
    assert project.object_names() == {project.docker_name("net"), project.docker_name("data")}


@pytest.mark.parametrize("must_run", [True, False])
def test_a_container_that_cannot_start_is_kept_and_with_must_run_replaced(project, container, must_run):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        container(ports=[{"internal": 80, "external": port, "ip": "127.0.0.1"}], must_run=must_run)
        ended = project.up()
        assert ended.status != 0
        assert "Unable to start container" in ended.text
        assert "address already in use" in ended.text
    before = project.container("one").id
    assert project.state()["one"]["id"] == before
    up(project, "--refresh")
    if must_run:
        assert project.container("one").id != before
        assert project.container("one").status == "running"
    else:
        assert (project.container("one").id, project.container("one").status) == (before, "created")


def test_a_missing_image_is_pulled_before_it_is_reported(project, container):
    """The registry's port, 9, refuses connections."""
    container(image="127.0.0.1:9/lineage-lab/none:0")
    ended = project.up()
    assert ended.status != 0
    image = "127.0.0.1:9/lineage-lab/none:0"
    assert f"Unable to create container with image {image}: unable to pull image {image}" in ended.text


def test_destroy_fails_after_a_container_was_removed_and_succeeds_after_a_refresh(project, container):
    container()
    up(project)
    project.container("one").remove(force=True)
    ended = project.pulumi("destroy", "--yes", "--skip-preview")
    assert ended.status != 0
    assert "Error stopping container" in ended.text
    assert project.pulumi("destroy", "--yes", "--skip-preview", "--refresh").status == 0


def test_a_container_is_stopped_gracefully_before_its_removal(project, container):
    project.add("Volume", "data")
    script = "trap 'echo stopped > /data/end; exit' TERM; while :; do sleep 0.1; done"
    container(
        needs=("data",),
        command=["/bin/sh", "-c", script],
        init=False,
        destroy_grace_seconds=20,
        volumes=[{"volume_name": project.docker_name("data"), "container_path": "/data"}],
    )
    up(project)
    project.drop("one")
    container("reader", volumes=[{"volume_name": project.docker_name("data"), "container_path": "/data"}])
    up(project)
    assert project.container("reader").exec_run(["cat", "/data/end"]).output == b"stopped\n"


@pytest.mark.parametrize("provider", [None, {"disable_docker_daemon_check": True}])
def test_a_preview_without_a_daemon_fails_even_if_the_check_is_disabled(project, monkeypatch, tmp_path, provider):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'missing.sock'}")
    project.add("Network", "net")
    project.wanted["provider"] = provider
    ended = project.pulumi("preview")
    assert ended.status != 0
    assert "failed to connect to any docker daemon" in ended.text


@pytest.fixture
def moved_socket(project, monkeypatch, tmp_path, daemon):
    """A project with a volume, created at an address of the daemon that is gone now; `DOCKER_HOST` is the new one."""
    socket_path = Path(engine_host().removeprefix("unix://"))
    if not socket_path.is_socket():
        pytest.skip("the daemon has no local socket")
    old, new = tmp_path / "old.sock", tmp_path / "new.sock"
    old.symlink_to(socket_path)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{old}")
    project.add("Volume", "data")
    project.wanted["provider"] = {}
    up(project)
    old.rename(new)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{new}")
    return project


@pytest.mark.parametrize("command", [("refresh",), ("up", "--refresh"), ("destroy",)], ids="_".join)
def test_commands_use_the_daemons_address_in_the_state_unless_they_run_the_program(moved_socket, command):
    ended = moved_socket.pulumi(*command, "--yes", "--skip-preview")
    assert ended.status != 0
    assert "failed to connect to any docker daemon" in ended.text
    ended = moved_socket.pulumi(*command, "--yes", "--skip-preview", "--run-program")
    assert ended.status == 0, ended.text
    assert bool(moved_socket.object_names()) == (command != ("destroy",))


def test_an_update_without_a_refresh_updates_the_daemons_address_and_no_resource(moved_socket):
    text = up(moved_socket)
    assert "~ 1 updated" in text
    assert moved_socket.pulumi("destroy", "--yes", "--skip-preview").status == 0


def test_the_engine_warns_that_the_plugin_is_from_path(project):
    project.add("Volume", "data")
    assert f"using pulumi-resource-docker from $PATH at {PLUGIN}" in up(project)


def test_a_public_image_has_its_identifier_as_output_and_is_kept_on_destroy(project, daemon, base_image):
    project.wanted["typed"] = [["RemoteImage", "image", {"name": base_image, "keep_locally": True}, []]]
    up(project)
    identifier = daemon.images.get(base_image).id
    assert project.state()["image"]["outputs"]["imageId"] == identifier
    assert "2 unchanged" in up(project, "--refresh")
    assert project.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert daemon.images.get(base_image).id == identifier


def test_a_failed_pull_names_the_image(project):
    """The registry's port, 9, refuses connections."""
    project.wanted["typed"] = [["RemoteImage", "image", {"name": "127.0.0.1:9/some/page:1", "keep_locally": True}, []]]
    ended = project.up()
    assert ended.status != 0
    assert "unable to pull image 127.0.0.1:9/some/page:1" in ended.text
