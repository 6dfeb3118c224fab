# SPDX-License-Identifier: Apache-2.0
"""The `Runtime` interface, tested on processes under supervisord and on containers of a Docker daemon."""

import shutil
import subprocess
import sys
import uuid

import docker.errors
import pytest

from infra.cli.tasks import run_task
from infra.errors import LabError, ServiceError
from infra.targets.container_paths import SCRATCH, VOLUMES
from infra.targets.docker.engine import EngineError, shared_client
from infra.targets.docker.runtime import Containers
from infra.targets.labels import PART_LABEL, ROLE_LABEL, stack_labels
from infra.targets.local.supervisor import Supervisor
from infra.targets.local.supervisor_config import Program
from tests.runtime_contract import *  # noqa: F403 - its tests are collected here
from tests.runtime_contract import SERVICE_SCRIPT, await_truthy

IMAGE = "debian:bookworm-slim"

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Docker's SDK leaves the connection of a log that is not read to its end to the garbage collector."""


class ShellProcesses(Supervisor):
    """Supervisor whose programs are shell scripts (`tests.runtime_contract`)."""

    def create(self, name, script, is_service):
        folder = self.root / "services" / name
        folder.mkdir(parents=True)
        (folder / "run").write_text(script)
        self.add(Program(name, is_service, stop_seconds=5))

    def process(self, name):
        return self.require_state(name).pid

    def scratch(self, name):
        return self.root / "services" / name / "scratch"

    def clear(self):
        self.shut_down()


class ShellContainers(Containers):
    """Containers that run shell scripts (`tests.runtime_contract`); services are started, as an update does."""

    def create(self, name, script, is_service, **arguments):
        container = self.client.containers.create(
            IMAGE,
            ["/bin/sh", "-c", script],
            name=f"{self.stack}-{name}",
            labels={**stack_labels(self.stack), PART_LABEL: name, ROLE_LABEL: "service" if is_service else "task"},
            restart_policy={"Name": "unless-stopped"} if is_service else None,
            init=True,
            **arguments,
        )
        if is_service:
            container.start()
        return container

    def process(self, name):
        return self.require_state(name).pid

    def scratch(self, name):
        return SCRATCH

    def clear(self):
        self.shut_down()
        self.client.close()
        shared_client.cache_clear()


def shell_processes(folder):
    root = folder / "lab"
    start = f"Supervisor(Path({str(root)!r})).start()"
    code = f"from pathlib import Path; from infra.targets.local.supervisor import Supervisor; {start}"
    subprocess.run([sys.executable, "-c", code], check=True)  # supervisord outlives this process
    return ShellProcesses(root)


def shell_containers():
    runtime = ShellContainers(f"runtime-test-{uuid.uuid4().hex[:8]}")
    try:
        runtime.client.images.get(IMAGE)
    except EngineError as error:
        pytest.skip(str(error))
    except docker.errors.ImageNotFound:
        runtime.client.close()
        shared_client.cache_clear()
        pytest.skip(f"the daemon has no image {IMAGE}: docker pull {IMAGE} (or .ci/docker builds it)")
    return runtime


@pytest.fixture(params=["processes", "containers"])
def runtime(request, tmp_path):
    created = shell_processes(tmp_path) if request.param == "processes" else shell_containers()
    yield created
    created.clear()


@pytest.fixture
def containers():
    created = shell_containers()
    yield created
    created.clear()


def test_log_of_a_stopped_service_has_its_last_lines(runtime):
    runtime.create("server", SERVICE_SCRIPT, is_service=True)
    await_truthy(lambda: "hello" in runtime.log_tail("server"))
    runtime.stop("server")
    assert "bye" in runtime.log_tail("server")


def test_error_about_a_running_task_has_its_process_id(runtime):
    runtime.create("sleeper", "exec sleep 600", is_service=False)
    runtime.run("sleeper")
    await_truthy(lambda: runtime.require_state("sleeper").alive)
    with pytest.raises(LabError, match=r"already running \(pid \d+\)"):
        run_task(runtime, "sleeper")


def test_shut_down_removes_only_networks_and_volumes_of_the_stack(containers):
    mine, other = (
        stack_labels(containers.stack),
        {**stack_labels(containers.stack), "dev.lineage-lab.checkout": "another"},
    )
    client, name = containers.client, containers.stack
    client.networks.create(f"{name}-network", labels=mine)
    client.volumes.create(f"{name}-volume", labels=mine)
    client.volumes.create(f"{name}-another", labels=other)
    volumes = {f"{name}-volume": {"bind": "/data"}}
    containers.create("server", SERVICE_SCRIPT, True, network=f"{name}-network", volumes=volumes)
    try:
        assert containers.shut_down()
        assert client.networks.list(names=[f"{name}-network"]) == []
        assert [volume.name for volume in client.volumes.list(filters={"name": name})] == [f"{name}-another"]
    finally:
        client.volumes.get(f"{name}-another").remove()


def test_remove_unmanaged_removes_containers_that_are_not_in_the_state(containers):
    known = containers.create("known", SERVICE_SCRIPT, True)
    containers.create("unmanaged", SERVICE_SCRIPT, True)
    containers.remove_unmanaged(lambda: {known.id})
    assert [state.name for state in containers.states()] == ["known"]


def test_remove_unmanaged_does_not_read_the_state_without_containers(containers):
    containers.remove_unmanaged(lambda: pytest.fail("the state was read"))


def test_error_of_a_task_killed_by_its_memory_limit_names_the_limit(containers):
    containers.create("allocator", "head -c 200m /dev/zero | tail", False, mem_limit="16m", memswap_limit="16m")
    with pytest.raises(ServiceError, match=r"allocator failed .*out of memory \(its limit is 16 MiB\)"):
        run_task(containers, "allocator")


def test_container_with_a_failing_probe_is_unhealthy_with_the_output_of_the_probe(containers):
    times = {"interval": 10**9, "timeout": 30 * 10**9, "retries": 1}  # in nanoseconds
    probe = {"test": ["CMD-SHELL", "echo no response; exit 1"], **times}
    containers.create("unhealthy", "exec sleep 600", True, healthcheck=probe)
    await_truthy(lambda: containers.require_state("unhealthy").status == "UNHEALTHY")
    assert containers.require_state("unhealthy").explanation == "no response"
    assert containers.require_state("unhealthy").alive
    assert not containers.require_state("unhealthy").healthy


def test_repeatedly_failing_service_is_in_backoff_with_its_exit_status(containers):
    containers.create("failing", "exit 3", True)
    state = await_truthy(lambda: next((state for state in containers.states() if state.status == "BACKOFF"), None))
    assert state.explanation == "exit status 3"
    containers.stop("failing")
    # Stopped between two starts, or during one.
    assert containers.require_state("failing").status in {"FATAL", "STOPPED"}


def test_task_removed_while_it_runs_has_failed(containers):
    container = containers.create("sleeper", "echo started; exec sleep 600", False)
    with pytest.raises(ServiceError, match="sleeper failed: it was removed"):
        run_task(containers, "sleeper", lambda line: container.remove(force=True))


def test_error_about_a_program_missing_in_the_image_names_it(containers):
    container = containers.client.containers.create(
        IMAGE, ["/no/such/program"], labels={**stack_labels(containers.stack), PART_LABEL: "lost", ROLE_LABEL: "task"}
    )
    with pytest.raises(ServiceError, match="/no/such/program"):
        run_task(containers, "lost")
    container.reload()
    assert containers.require_state("lost").status == "FATAL"


VOLUME_SCRIPT = f"""
mkdir -p {VOLUMES}/data && cd {VOLUMES}/data
cat first second removed 2>/dev/null; echo "end of files"
[ -e first ] || {{ echo kept > first; echo old > removed; }}
trap 'exit 0' TERM; while :; do sleep 0.1; done
"""
"""Service that prints the files of its volume, and creates two in an empty one."""


def test_data_of_a_container_is_copied_while_it_runs_and_replaced_while_it_is_stopped(containers):
    name = f"{containers.stack}-data"
    containers.client.volumes.create(name, labels=stack_labels(containers.stack))
    containers.create("store", VOLUME_SCRIPT, True, volumes={name: {"bind": VOLUMES}})
    await_truthy(lambda: "end of files" in containers.log_tail("store"))
    with containers.data("store", "data") as data:
        assert (data / "first").read_text() == "kept\n"
        (data / "first").write_text("lost\n")
    assert containers.require_state("store").running
    assert containers.volume_location("store", "data") == f"{containers.stack}-store:{VOLUMES}/data"
    containers.stop("store")
    with containers.data("store", "data") as data:
        assert (data / "first").read_text() == "kept\n"
        (data / "second").write_text("added\n")
        (data / "removed").unlink()
    containers.run("store")
    await_truthy(lambda: containers.log_tail("store").count("end of files") == 2)
    assert containers.log_tail("store").split() == ["end", "of", "files", "kept", "added", "end", "of", "files"]


def test_data_of_a_process_is_its_folder(tmp_path):
    folder = tmp_path / "services" / "store" / "volumes" / "data"
    with ShellProcesses(tmp_path).data("store", "data") as data:
        assert data == folder
    assert ShellProcesses(tmp_path).volume_location("store", "data") == str(folder)


@pytest.mark.slow
def test_task_that_ends_before_supervisord_responds_was_started(tmp_path):
    processes = shell_processes(tmp_path)
    try:
        processes.create("failing", "exit 7", is_service=False)
        for _ in range(60):
            processes.run("failing")
            await_truthy(lambda: not processes.require_state("failing").alive)
            assert processes.require_state("failing").exit_status == 7
    finally:
        processes.clear()


def test_program_that_cannot_be_started_is_an_error_with_the_cause(tmp_path):
    processes = shell_processes(tmp_path)
    try:
        processes.create("missing", "exit 0", is_service=False)
        shutil.rmtree(processes.root / "services" / "missing")
        with pytest.raises(ServiceError, match=r"missing cannot be started: .*"):
            processes.run("missing")
    finally:
        processes.clear()
