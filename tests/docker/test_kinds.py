# SPDX-License-Identifier: Apache-2.0
"""The kinds of the Docker target, on a real daemon."""

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
from infra.provider.kind import OperationContext
from infra.targets.container_paths import USER
from infra.targets.docker import engine as docker_engine
from infra.targets.docker.engine import EngineError, connect
from infra.targets.docker.kind_inputs import ContainerReadyInputs, CredentialsVolumeInputs, DockerHostInputs
from infra.targets.docker.kinds.container_ready import ContainerReadyKind
from infra.targets.docker.kinds.credentials_volume import CredentialsVolumeKind
from infra.targets.docker.kinds.docker_host import DockerHostKind
from infra.targets.labels import CHECKOUT_LABEL, STACK_LABEL

LABEL = "dev.lineage-lab.test"
STACK = "docker-kinds"
SLEEP = ["sleep", "600"]


@pytest.fixture
def create_container(daemon, base_image):
    """Creates containers without starting them, and removes them after the test."""
    created = []

    def create(command, **options):
        options = {"init": True, "labels": {LABEL: "kinds"}} | options
        created.append(daemon.containers.create(base_image, command, **options))
        return created[-1]

    yield create
    for container in created:
        for existing in daemon.containers.list(all=True, filters={"id": container.id}):
            existing.remove(force=True, v=True)


def ready_inputs(container, **changes):
    defaults = {
        "container": container.id,
        "service": "kafka",
        "probe": [],
        "seconds": 20,
        "stop_seconds": 1,
        "may_exit": False,
        "memory_mib": 64,
    }
    return ContainerReadyInputs(**defaults | changes)


def create_error(inputs):
    with pytest.raises(LabError) as raised:
        ContainerReadyKind().create(inputs, OperationContext())
    return str(raised.value)


def status(container):
    container.reload()
    return container.status


def test_create_starts_a_container_and_waits_until_it_is_ready(create_container):
    container = create_container(["/bin/sh", "-c", "sleep 1; touch /tmp/ready; exec sleep 600"])
    inputs = ready_inputs(container, probe=["test", "-e", "/tmp/ready"])
    ContainerReadyKind().create(inputs, OperationContext())
    assert status(container) == "running"
    assert container.exec_run(["test", "-e", "/tmp/ready"]).exit_code == 0
    assert ContainerReadyKind().read(inputs, OperationContext()).inputs == inputs


def test_a_probe_without_a_response_is_repeated(create_container):
    container = create_container(SLEEP)
    hangs_once = "[ -e /tmp/probed ] || { touch /tmp/probed; exec sleep 600; }"
    inputs = ready_inputs(container, probe=["/bin/sh", "-c", hangs_once], seconds=30)
    ContainerReadyKind().create(inputs, OperationContext())
    assert status(container) == "running"
    assert container.exec_run(["test", "-e", "/tmp/probed"]).exit_code == 0


def test_a_start_that_hangs_is_repeated_once(create_container):
    script = "[ -e /tmp/first ] && touch /tmp/ready; touch /tmp/first; exec sleep 600"
    container = create_container(["/bin/sh", "-c", script])
    inputs, reports = ready_inputs(container, probe=["test", "-e", "/tmp/ready"], seconds=3), []
    ContainerReadyKind().create(inputs, OperationContext(report=reports.append))
    assert status(container) == "running"
    assert any(line.startswith("not ready after 3 s: restarted") for line in reports)


def test_an_exit_during_start_is_reported_with_status_and_log_and_not_restarted(create_container):
    container = create_container(
        ["/bin/sh", "-c", "echo disk is missing; exit 3"], restart_policy={"Name": "unless-stopped"}
    )
    text = create_error(ready_inputs(container))
    assert "kafka ended while it was starting with exit status 3" in text
    assert "    disk is missing" in text
    assert f"docker logs {container.name}" in text
    assert status(container) == "exited"


def test_a_container_above_its_memory_limit_is_reported(create_container):
    container = create_container(["/bin/sh", "-c", "tail /dev/zero"], mem_limit="16m", memswap_limit="16m", init=False)
    assert "it exceeded its memory limit, 64 MiB" in create_error(ready_inputs(container))


def test_a_readiness_timeout_is_reported_with_the_log(create_container):
    container = create_container(["/bin/sh", "-c", "echo loading; exec sleep 600"])
    text = create_error(ready_inputs(container, probe=["false"], seconds=1))
    assert "kafka was not ready (false) after 1 s" in text
    assert "    loading" in text


def test_a_port_in_use_at_start_is_reported_with_the_remedy(create_container):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        container = create_container(SLEEP, ports={"80/tcp": ("127.0.0.1", port)})
        text = create_error(ready_inputs(container))
    assert f"Port {port} is in use" in text
    assert "portOffset" in text


def test_read_reports_a_killed_or_removed_container_as_missing_and_create_starts_it(create_container):
    container = create_container(SLEEP, restart_policy={"Name": "unless-stopped"})
    inputs = ready_inputs(container)
    ContainerReadyKind().create(inputs, OperationContext())
    container.kill()
    assert ContainerReadyKind().read(inputs, OperationContext()) is None
    ContainerReadyKind().create(inputs, OperationContext())
    assert status(container) == "running"
    container.remove(force=True)
    assert ContainerReadyKind().read(inputs, OperationContext()) is None


def test_an_interrupt_ends_the_wait_for_readiness(create_container):
    call = OperationContext()
    container = create_container(SLEEP)
    threading.Timer(0.5, call.stopped.set).start()
    with pytest.raises(LabError, match="stopped by the user"):
        ContainerReadyKind().create(ready_inputs(container, probe=["false"], seconds=600), call)


@pytest.fixture
def volume_inputs(daemon, base_image, tmp_path):
    """Inputs of `CredentialsVolume` with an existing volume and credentials file."""
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
    for existing in daemon.volumes.list(filters={"name": volume.name}):
        existing.remove(force=True)


def run_with_volume(daemon, base_image, volume_inputs, *command, user=USER):
    """Run a command in a container that mounts the volume at /credentials, and return its output."""
    mounted = {volume_inputs.volume: {"bind": "/credentials", "mode": "ro"}}
    options = {"user": str(user), "volumes": mounted, "remove": True, "labels": {LABEL: "kinds"}}
    return daemon.containers.run(base_image, list(command), **options).decode()


def test_only_the_user_of_the_services_can_read_the_credentials_in_the_volume(daemon, base_image, volume_inputs):
    CredentialsVolumeKind().create(volume_inputs, OperationContext())
    file = "/credentials/credentials.env"
    assert "first secret" in run_with_volume(daemon, base_image, volume_inputs, "cat", file)
    assert (
        run_with_volume(daemon, base_image, volume_inputs, "stat", "-c", "%u:%g %a", file).strip()
        == f"{USER}:{USER} 400"
    )
    assert CredentialsVolumeKind().read(volume_inputs, OperationContext()).inputs == volume_inputs


def test_changed_or_missing_credentials_are_drift(daemon, volume_inputs):
    assert CredentialsVolumeKind().read(volume_inputs, OperationContext()) is None
    CredentialsVolumeKind().create(volume_inputs, OperationContext())
    assert (
        CredentialsVolumeKind().read(volume_inputs.model_copy(update={"fingerprint": "another"}), OperationContext())
        is None
    )
    daemon.volumes.get(volume_inputs.volume).remove()
    assert CredentialsVolumeKind().read(volume_inputs, OperationContext()) is None


@pytest.fixture
def host_inputs(tmp_path):
    """Returns inputs of `DockerHost`; keyword arguments override the defaults."""

    def inputs(**changes):
        defaults = {
            "root": str(tmp_path / "root"),
            "stack": STACK,
            "checkout": "here",
            "images": {},
            "ports": {},
            "memory_mib": 1,
            "disk_mib": 1,
            "preflight": "strict",
        }
        return DockerHostInputs(**defaults | changes)

    return inputs


def test_the_preflight_names_a_port_in_use_with_the_remedy(daemon, host_inputs):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(PreflightError) as raised:
            DockerHostKind().create(host_inputs(ports={"kafka broker": port}), OperationContext())
    assert "kafka broker" in str(raised.value)
    assert str(port) in str(raised.value)
    assert f"portOffset: 10000 in Pulumi.{STACK}.yaml" in str(raised.value)


def test_too_little_memory_is_an_error_or_a_warning(daemon, host_inputs):
    with pytest.raises(PreflightError, match="memory: ") as raised:
        DockerHostKind().create(host_inputs(memory_mib=10**9), OperationContext())
    assert "preflight: warn" in str(raised.value)
    reported = []
    DockerHostKind().create(host_inputs(memory_mib=10**9, preflight="warn"), OperationContext(report=reported.append))
    assert any("memory" in line for line in reported)


def test_a_stack_of_the_same_name_of_another_checkout_is_rejected_and_kept(create_container, host_inputs):
    container = create_container(SLEEP, labels={LABEL: "kinds", STACK_LABEL: STACK, CHECKOUT_LABEL: "elsewhere"})
    with pytest.raises(PreflightError, match="another checkout") as raised:
        DockerHostKind().create(host_inputs(), OperationContext())
    assert container.name in str(raised.value)
    assert status(container) == "created"


def test_a_missing_image_is_reported_before_the_start_and_before_an_update(daemon, host_inputs, base_image):
    complete = host_inputs(images={"kafka": base_image})
    lacking = host_inputs(images={"kafka": base_image, "connect": "sha256:" + 64 * "0", "shop": "lineage-lab/none:0"})
    message = rf"images of connect, shop are missing.*bin/lab images build --stack {STACK}"
    with pytest.raises(PreflightError, match=message):
        DockerHostKind().create(lacking, OperationContext())
    with pytest.raises(PreflightError, match=message):
        DockerHostKind().update(complete, lacking, OperationContext())
    DockerHostKind().update(lacking, complete, OperationContext())


def test_a_removed_image_is_drift(daemon, host_inputs, base_image):
    lacking = host_inputs(images={"kafka": base_image, "connect": "lineage-lab/none:0"})
    assert DockerHostKind().read(lacking, OperationContext()).inputs == host_inputs(images={"kafka": base_image})


def test_connect_without_a_daemon_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'missing.sock'}")
    with pytest.raises(EngineError, match=r"cannot be reached: no daemon listens there\. Start it"):
        connect()


def test_connect_rejects_a_daemon_that_is_too_old(monkeypatch):
    class OldDaemonHandler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"ApiVersion": "1.40", "MinAPIVersion": "1.12"}).encode())

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), OldDaemonHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        with pytest.raises(EngineError, match=r"too old: its API version is 1\.40, 1\.41 is required"):
            connect()
        server.shutdown()


def test_connect_without_permission_names_the_remedy(tmp_path):
    """Root needs the capability dac_override for a socket without permissions, so that the test drops it."""
    command = [sys.executable, "-c", "from infra.targets.docker.engine import connect; connect()"]
    path = tmp_path / "d.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0)
        if os.geteuid() == 0:
            if not shutil.which("setpriv"):
                pytest.skip("setpriv (util-linux), which drops the capability, is not installed")
            command = ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override", *command]
        environment = {**os.environ, "DOCKER_HOST": f"unix://{path}", "PYTHONPATH": python_path(PROJECT)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "permission denied. Join the group" in done.stderr


def test_docker_host_selects_the_daemon(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://somewhere:1")
    assert docker_engine.engine_host() == "tcp://somewhere:1"


def test_a_docker_context_selects_the_daemon(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    assert docker_engine.engine_host() == docker_engine.DEFAULT_HOST
    for command in (["create", "lab", "--docker", "host=unix:///run/lab.sock"], ["use", "lab"]):
        subprocess.run(["docker", "context", *command], capture_output=True, check=True)
    assert docker_engine.engine_host() == "unix:///run/lab.sock"
    monkeypatch.setenv("DOCKER_CONTEXT", "default")
    assert docker_engine.engine_host() == docker_engine.DEFAULT_HOST
    monkeypatch.setenv("DOCKER_CONTEXT", "missing")
    with pytest.raises(EngineError, match="the Docker context missing of DOCKER_CONTEXT cannot be read"):
        docker_engine.engine_host()
