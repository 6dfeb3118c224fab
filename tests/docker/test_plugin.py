# SPDX-License-Identifier: Apache-2.0
"""The stand-in for the vendor's plugin, under the real engine, on a real daemon."""

import socket

import pytest

from tests.docker.conftest import PLUGIN

CONTAINER = "docker:index/container:Container"
SLEEP = ["sleep", "600"]


@pytest.fixture
def container(project, base_image):
    """Wants a container; what is given wins."""

    def want(name="one", needs=(), **changes):
        described = {"image": base_image, "command": SLEEP, "init": True} | changes
        project.want("Container", name, needs, **described)

    return want


def up(project, *words):
    ended = project.up(*words)
    assert ended.status == 0, ended.text
    return ended.text


def test_a_whole_stack_comes_up_answers_is_unchanged_and_goes(project, container):
    project.want("Network", "net", driver="bridge")
    project.want("Volume", "data")
    answer = "echo ready > /data/answer; while :; do sleep 1; done"
    container(
        "server",
        ("net", "data"),
        command=["/bin/sh", "-c", answer],
        networks_advanced=[{"name": project.named("net"), "aliases": ["server"]}],
        volumes=[{"volume_name": project.named("data"), "container_path": "/data"}],
    )
    container("client", ("net",), networks_advanced=[{"name": project.named("net")}])
    up(project)
    status, found = project.container("client").exec_run(["getent", "hosts", "server"])
    assert status == 0, found
    assert project.container("server").exec_run(["cat", "/data/answer"]).output == b"ready\n"

    assert "5 unchanged" in up(project, "--refresh")  # four, and the stack itself

    assert project.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert project.left() == set()


def test_a_container_is_what_its_inputs_say(project, container):
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


def test_a_preview_says_what_will_be_and_does_nothing(project, container):
    project.want("Network", "net")
    container(needs=("net",), networks_advanced=[{"name": project.named("net")}])
    preview = project.pulumi("preview")
    assert preview.status == 0, preview.text
    assert "3 to create" in preview.text
    assert project.left() == set()


def test_what_the_schema_lacks_is_refused_and_named_before_anything_is_made(project, base_image):
    project.want("Network", "net")
    inputs = {"name": project.named("one"), "image": base_image, "colour": "green", "ports": [{"extern": 81}]}
    project.wanted["raw"] = [[CONTAINER, "one", inputs]]
    ended = project.up()
    assert ended.status != 0
    for word in ("colour", "ports[0].extern", "the vendor's schema has no such property", "ports[0].internal"):
        assert word in ended.text
    assert project.named("one") not in project.left()


def test_a_resource_that_the_stack_does_not_use_is_refused(project):
    project.wanted["raw"] = [["docker:index/secret:Secret", "one", {"name": "one", "data": "eA=="}]]
    ended = project.up()
    assert ended.status != 0
    assert "the stand-in has not learnt docker:index/secret:Secret" in ended.text


def test_a_change_replaces_only_what_it_must_and_only_where_it_must(project, container):
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


def test_an_image_by_its_tag_is_replaced_each_time_as_with_the_vendor(project, container):
    """Its plugin reads the image's id back (kreuzwerker/terraform-provider-docker#49): a stack has to give the id."""
    container(image="debian:bookworm-slim")
    up(project)
    before = project.container("one").id
    up(project, "--refresh")
    assert project.container("one").id != before


def test_a_container_that_was_removed_is_made_again_and_no_other_is_touched(project, container):
    container("one")
    container("two")
    up(project)
    before = {name: project.container(name).id for name in ("one", "two")}
    project.container("one").remove(force=True)
    up(project, "--refresh")
    assert project.container("one").id != before["one"]
    assert project.container("one").status == "running"
    assert project.container("two").id == before["two"]


def test_a_container_that_was_killed_is_started_again(project, container):
    container()
    up(project)
    before = project.container("one").id
    project.container("one").kill()
    up(project, "--refresh")
    assert project.container("one").id == before
    assert project.container("one").status == "running"


def test_a_container_that_need_not_run_is_left_alone(project, container):
    container(start=False, must_run=False)
    up(project)
    assert project.container("one").status == "created"
    assert "2 unchanged" in up(project, "--refresh")
    assert project.container("one").status == "created"


def test_a_network_and_a_volume_that_were_removed_are_made_again(project):
    project.want("Network", "net")
    project.want("Volume", "data")
    up(project)
    project.daemon.networks.get(project.named("net")).remove()
    project.daemon.volumes.get(project.named("data")).remove()
    up(project, "--refresh")
    assert project.left() == {project.named("net"), project.named("data")}


def test_a_container_that_cannot_start_stays_known_and_starts_once_it_can(project, container):
    with socket.create_server(("127.0.0.1", 0)) as owner:
        port = owner.getsockname()[1]
        container(ports=[{"internal": 80, "external": port, "ip": "127.0.0.1"}])
        ended = project.up()
        assert ended.status != 0
        assert "is there, but not started" in ended.text
        assert "address already in use" in ended.text
    before = project.container("one").id
    assert project.state()["one"]["id"] == before
    up(project, "--refresh")
    assert (project.container("one").id, project.container("one").status) == (before, "running")


def test_an_image_that_is_not_there_is_named(project, container):
    container(image="lineage-lab/none:0")
    ended = project.up()
    assert ended.status != 0
    assert "there is no image lineage-lab/none:0" in ended.text


def test_a_container_stops_in_good_order_before_it_is_removed(project, container):
    project.want("Volume", "data")
    script = "trap 'echo stopped > /data/end; exit' TERM; while :; do sleep 0.1; done"
    container(
        needs=("data",),
        command=["/bin/sh", "-c", script],
        init=False,
        destroy_grace_seconds=20,
        volumes=[{"volume_name": project.named("data"), "container_path": "/data"}],
    )
    up(project)
    project.want_no_more("one")
    container("reader", volumes=[{"volume_name": project.named("data"), "container_path": "/data"}])
    up(project)
    assert project.container("reader").exec_run(["cat", "/data/end"]).output == b"stopped\n"


def test_without_a_daemon_the_provider_says_so_unless_it_is_told_not_to_look(project, monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'nobody.sock'}")
    project.want("Network", "net")
    ended = project.pulumi("preview")
    assert ended.status != 0
    assert "the Docker daemon cannot be reached" in ended.text
    project.wanted["quiet"] = True
    ended = project.pulumi("preview")
    assert ended.status == 0, ended.text
    assert "+ 3 to create" in ended.text


def test_the_engine_says_that_it_is_not_the_vendors_plugin(project):
    project.want("Volume", "data")
    assert f"using pulumi-resource-docker from $PATH at {PLUGIN}" in up(project)


def test_a_public_image_is_known_by_its_identifier_and_stays(project, daemon, base_image):
    project.wanted["typed"] = [["RemoteImage", "image", {"name": base_image, "keep_locally": True}, []]]
    up(project)
    there = daemon.images.get(base_image).id
    assert project.state()["image"]["outputs"]["imageId"] == there
    assert "2 unchanged" in up(project, "--refresh")
    assert project.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert daemon.images.get(base_image).id == there


def test_a_public_image_that_cannot_be_pulled_is_named_with_what_to_do(project):
    """Nobody listens at the port of that registry."""
    project.wanted["typed"] = [["RemoteImage", "image", {"name": "127.0.0.1:9/some/page:1", "keep_locally": True}, []]]
    ended = project.up()
    assert ended.status != 0
    assert "could not pull image 127.0.0.1:9/some/page:1" in ended.text
    assert "docker load" in ended.text
