# SPDX-License-Identifier: Apache-2.0
"""The kit's own resources that speak to the daemon, on a real one: what they say of what goes wrong, and mend."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from infra import credentials
from infra.errors import LabError, PreflightError
from infra.project import PROJECT, python_path
from infra.provider.kind import Call
from infra.targets.docker import engine as docker_engine
from infra.targets.docker.engine import EngineError, connect
from infra.targets.docker.kind_inputs import ContainerReadyInputs, CredentialsVolumeInputs, DockerHostInputs
from infra.targets.docker.kinds.container_ready import ContainerReadyKind
from infra.targets.docker.kinds.credentials_volume import CredentialsVolumeKind
from infra.targets.docker.kinds.docker_host import DockerHostKind
from infra.targets.docker.names import CHECKOUT_LABEL, STACK_LABEL, USER

LABEL = "dev.lineage-lab.test"
STACK = "docker-kinds"
SLEEP = ["sleep", "600"]


@pytest.fixture
def made(daemon, base_image):
    """Makes containers that are not started; what is there at the end is removed."""
    found = []

    def make(command, **options):
        options = {"init": True, "labels": {LABEL: "kinds"}} | options
        found.append(daemon.containers.create(base_image, command, **options))
        return found[-1]

    yield make
    for container in found:
        for known in daemon.containers.list(all=True, filters={"id": container.id}):
            known.remove(force=True, v=True)


def ready(container, **changes):
    described = {
        "container": container.id,
        "service": "kafka",
        "probe": [],
        "seconds": 20,
        "stop_seconds": 1,
        "may_exit": False,
        "memory_mib": 64,
    }
    return ContainerReadyInputs(**described | changes)


def failure(inputs):
    with pytest.raises(LabError) as raised:
        ContainerReadyKind().create(inputs, Call())
    return str(raised.value)


def status(container):
    container.reload()
    return container.status


def test_a_container_is_started_and_waited_for(made):
    container = made(["/bin/sh", "-c", "sleep 1; touch /tmp/ready; exec sleep 600"])
    inputs = ready(container, probe=["test", "-e", "/tmp/ready"])
    ContainerReadyKind().create(inputs, Call())
    assert status(container) == "running"
    assert container.exec_run(["test", "-e", "/tmp/ready"]).exit_code == 0
    assert ContainerReadyKind().read(inputs, Call()).inputs == inputs


def test_a_probe_without_a_response_is_repeated(made):
    container = made(SLEEP)
    hangs_once = "[ -e /tmp/probed ] || { touch /tmp/probed; exec sleep 600; }"
    inputs = ready(container, probe=["/bin/sh", "-c", hangs_once], seconds=30)
    ContainerReadyKind().create(inputs, Call())
    assert status(container) == "running"
    assert container.exec_run(["test", "-e", "/tmp/probed"]).exit_code == 0


def test_one_that_ends_while_it_starts_is_told_with_exit_status_and_log_and_stays_down(made):
    container = made(["/bin/sh", "-c", "echo no disk for me; exit 3"], restart_policy={"Name": "unless-stopped"})
    text = failure(ready(container))
    assert "kafka ended while it was starting with exit status 3" in text
    assert "    no disk for me" in text
    assert f"docker logs {container.name}" in text
    assert status(container) == "exited"


def test_one_that_wants_more_memory_than_it_may_have_is_told_so(made):
    container = made(["/bin/sh", "-c", "tail /dev/zero"], mem_limit="16m", memswap_limit="16m", init=False)
    assert "it exceeded its memory limit, 64 MiB" in failure(ready(container))


def test_one_that_does_not_answer_in_time_is_told_with_its_log(made):
    container = made(["/bin/sh", "-c", "echo thinking; exec sleep 600"])
    text = failure(ready(container, probe=["false"], seconds=1))
    assert "kafka was not ready (false) after 1 s" in text
    assert "    thinking" in text


def test_one_whose_port_is_taken_is_told_with_the_remedy(made):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        container = made(SLEEP, ports={"80/tcp": ("127.0.0.1", port)})
        text = failure(ready(container))
    assert f"Port {port} is in use" in text
    assert "portOffset" in text


def test_one_that_was_killed_or_removed_is_gone_and_a_new_create_starts_it(made):
    container = made(SLEEP, restart_policy={"Name": "unless-stopped"})
    inputs = ready(container)
    ContainerReadyKind().create(inputs, Call())
    container.kill()
    assert ContainerReadyKind().read(inputs, Call()) is None
    ContainerReadyKind().create(inputs, Call())
    assert status(container) == "running"
    container.remove(force=True)
    assert ContainerReadyKind().read(inputs, Call()) is None


def test_waiting_ends_where_the_user_stops_the_update(made):
    call = Call()
    container = made(SLEEP)
    threading.Timer(0.5, call.stopped.set).start()
    with pytest.raises(LabError, match="stopped by the user"):
        ContainerReadyKind().create(ready(container, probe=["false"], seconds=600), call)


@pytest.fixture
def keys(daemon, base_image, tmp_path):
    """Inputs of the credentials' volume, which is there, and the file."""
    volume = daemon.volumes.create(labels={LABEL: "kinds"})
    path = tmp_path / "credentials.env"
    path.write_text(credentials.render({"POSTGRES_PASSWORD": "first secret"}))
    yield CredentialsVolumeInputs(
        volume=volume.name,
        path=str(path),
        image=base_image,
        labels={LABEL: "kinds"},
        fingerprint=credentials.fingerprint(credentials.read(path)),
    )
    for known in daemon.volumes.list(filters={"name": volume.name}):
        known.remove(force=True)


def in_volume(daemon, base_image, keys, *words, user=USER):
    """What a container with the volume prints."""
    mounted = {keys.volume: {"bind": "/keys", "mode": "ro"}}
    options = {"user": str(user), "volumes": mounted, "remove": True, "labels": {LABEL: "kinds"}}
    return daemon.containers.run(base_image, list(words), **options).decode()


def test_credentials_reach_the_volume_and_only_the_services_can_read_them(daemon, base_image, keys):
    CredentialsVolumeKind().create(keys, Call())
    file = "/keys/credentials.env"
    assert "first secret" in in_volume(daemon, base_image, keys, "cat", file)
    assert in_volume(daemon, base_image, keys, "stat", "-c", "%u:%g %a", file).strip() == f"{USER}:{USER} 400"
    assert CredentialsVolumeKind().read(keys, Call()).inputs == keys


def test_credentials_that_differ_or_are_gone_are_drift(daemon, keys):
    assert CredentialsVolumeKind().read(keys, Call()) is None
    CredentialsVolumeKind().create(keys, Call())
    assert CredentialsVolumeKind().read(keys.model_copy(update={"fingerprint": "another"}), Call()) is None
    daemon.volumes.get(keys.volume).remove()
    assert CredentialsVolumeKind().read(keys, Call()) is None


@pytest.fixture
def host(tmp_path):
    """Inputs of the daemon's own resource; what is given wins."""

    def inputs(**changes):
        described = {
            "root": str(tmp_path / "root"),
            "stack": STACK,
            "checkout": "here",
            "ports": {},
            "memory_mib": 1,
            "disk_mib": 1,
            "preflight": "strict",
        }
        return DockerHostInputs(**described | changes)

    return inputs


def test_a_taken_port_is_named_with_the_remedy(daemon, host):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(PreflightError) as raised:
            DockerHostKind().create(host(ports={"kafka broker": port}), Call())
    assert "kafka broker" in str(raised.value)
    assert str(port) in str(raised.value)
    assert f"portOffset: 10000 in Pulumi.{STACK}.yaml" in str(raised.value)


def test_too_little_memory_is_refused_or_told(daemon, host):
    with pytest.raises(PreflightError, match="memory: ") as raised:
        DockerHostKind().create(host(memory_mib=10**9), Call())
    assert "preflight: warn" in str(raised.value)
    said = []
    DockerHostKind().create(host(memory_mib=10**9, preflight="warn"), Call(report=said.append))
    assert any("memory" in line for line in said)


def test_a_stack_of_that_name_of_another_checkout_is_left_alone(made, host):
    container = made(SLEEP, labels={LABEL: "kinds", STACK_LABEL: STACK, CHECKOUT_LABEL: "elsewhere"})
    with pytest.raises(PreflightError, match="another checkout") as raised:
        DockerHostKind().create(host(), Call())
    assert container.name in str(raised.value)
    assert status(container) == "created"


def test_no_daemon_is_told_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'nobody.sock'}")
    with pytest.raises(EngineError, match=r"cannot be reached: no daemon listens there\. Start it"):
        connect()


def test_a_daemon_that_is_too_old_is_told(monkeypatch):
    class Old(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"ApiVersion": "1.40", "MinAPIVersion": "1.12"}).encode())

        def log_message(self, *words):
            pass

    with HTTPServer(("127.0.0.1", 0), Old) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        with pytest.raises(EngineError, match=r"too old: its API version is 1\.40, 1\.41 is required"):
            connect()
        server.shutdown()


def test_a_daemon_that_is_not_for_this_user_is_told_with_the_remedy(tmp_path):
    """Root may use any socket, but for the capability; another user's socket is closed to it without that."""
    words = [sys.executable, "-c", "from infra.targets.docker.engine import connect; connect()"]
    path = tmp_path / "d.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0)
        if os.geteuid() == 0:
            if not shutil.which("setpriv"):
                pytest.skip("setpriv (util-linux) is not there to take root's privilege away")
            words = ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override", *words]
        environment = {**os.environ, "DOCKER_HOST": f"unix://{path}", "PYTHONPATH": python_path(PROJECT)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "permission denied. Join the group" in done.stderr


def test_the_daemon_that_is_asked_is_the_one_that_the_environment_names(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://somewhere:1")
    assert docker_engine.engine_host() == "tcp://somewhere:1"
