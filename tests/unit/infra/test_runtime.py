# SPDX-License-Identifier: Apache-2.0
"""What the command asks of processes under supervisord and of containers on a Docker daemon: one behaviour, twice."""

import subprocess
import sys
import threading
import uuid
from itertools import takewhile

import docker.errors
import pytest

from infra.cli.tasks import run_task
from infra.errors import LabError, ServiceError
from infra.targets.docker.engine import EngineError, shared_client
from infra.targets.docker.names import PART_LABEL, ROLE_LABEL, VOLUMES, stack_labels
from infra.targets.docker.runtime import Containers
from infra.targets.local.supervisor import Supervisor
from infra.targets.local.supervisor_config import Program

IMAGE = "debian:bookworm-slim"

interrupted_stream = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Docker's SDK leaves the connection of a log that nobody reads to its end to the garbage collector."""

SERVES = 'trap "echo bye; exit 0" TERM; echo "hello $$"; while :; do sleep 0.1; done'
"""A service: it says who it is, and stops well."""


class Processes(Supervisor):
    """Processes of this machine, made from shell scripts."""

    def make(self, name, script, stays):
        folder = self.root / "services" / name
        folder.mkdir(parents=True)
        (folder / "run").write_text(script)
        self.add(Program(name, stays, stop_seconds=5))

    def clear(self):
        self.shut_down()


class ShellContainers(Containers):
    """Containers, made from shell scripts; services are started, as by an update."""

    def make(self, name, script, stays, **more):
        made = self.client.containers.create(
            IMAGE,
            ["/bin/sh", "-c", script],
            name=f"{self.stack}-{name}",
            labels={**stack_labels(self.stack), PART_LABEL: name, ROLE_LABEL: "service" if stays else "task"},
            restart_policy={"Name": "unless-stopped"} if stays else None,
            init=True,
            **more,
        )
        if stays:
            made.start()
        return made

    def clear(self):
        self.shut_down()
        self.client.close()
        shared_client.cache_clear()


def _processes(folder):
    root = folder / "lab"
    start = f"Supervisor(Path({str(root)!r})).start()"
    code = f"from pathlib import Path; from infra.targets.local.supervisor import Supervisor; {start}"
    subprocess.run([sys.executable, "-c", code], check=True)  # it outlives who starts it
    return Processes(root)


def _containers():
    made = ShellContainers(f"runtime-test-{uuid.uuid4().hex[:8]}")
    try:
        made.client.images.get(IMAGE)
    except EngineError as error:
        pytest.skip(str(error))
    except docker.errors.ImageNotFound:
        made.client.close()
        shared_client.cache_clear()
        pytest.skip(f"the daemon has no image {IMAGE}: docker pull {IMAGE} (or .ci/docker makes one)")
    return made


@pytest.fixture(params=["processes", "containers"])
def runtime(request, tmp_path):
    made = _processes(tmp_path) if request.param == "processes" else _containers()
    yield made
    made.clear()


@pytest.fixture
def containers():
    made = _containers()
    yield made
    made.clear()


def until(true):
    waiter = threading.Event()
    for _ in range(300):
        if answer := true():
            return answer
        waiter.wait(0.1)
    pytest.fail("it did not come to that within 30 s")


def test_a_task_runs_to_its_end_and_shows_its_own_lines_each_time(runtime):
    runtime.make("counts", "echo one; sleep 0.3; echo two >&2; sleep 0.3; echo three", stays=False)
    assert runtime.require_state("counts").status == "STOPPED"
    for _ in range(2):
        lines = []
        run_task(runtime, "counts", lines.append)
        assert lines == ["one", "two", "three"]
    assert (runtime.require_state("counts").status, runtime.require_state("counts").exit_status) == ("EXITED", 0)
    assert runtime.require_state("counts").healthy


def test_a_task_that_fails_says_so_with_its_status_and_the_end_of_its_log(runtime):
    runtime.make("fails", "echo before the end; exit 7", stays=False)
    with pytest.raises(ServiceError, match=r"(?s)fails failed \(exit status 7\).*log.*before the end"):
        run_task(runtime, "fails")
    assert not runtime.require_state("fails").healthy


@interrupted_stream
def test_an_interrupt_stops_the_task(runtime):
    runtime.make("waits", "echo begun; exec sleep 600", stays=False)

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_task(runtime, "waits", interrupt)
    assert not runtime.require_state("waits").alive


def test_a_task_that_runs_is_not_run_a_second_time(runtime):
    runtime.make("waits", "exec sleep 600", stays=False)
    runtime.run("waits")
    until(lambda: runtime.require_state("waits").alive)
    with pytest.raises(LabError, match=r"waits is already running \(pid \d+\)"):
        run_task(runtime, "waits")


def test_a_service_is_stopped_and_started_by_hand(runtime):
    runtime.make("serves", SERVES, stays=True)
    runtime.make("counts", "true", stays=False)
    assert (runtime.is_service("serves"), runtime.is_service("counts")) == (True, False)
    until(lambda: runtime.require_state("serves").running)
    first = runtime.require_state("serves")
    assert first.pid
    assert first.started
    assert runtime.memory()["serves"] > 0
    assert "counts" not in runtime.memory()
    runtime.stop("serves")
    runtime.stop("serves")  # harmless
    assert runtime.require_state("serves").status == "STOPPED"
    assert "bye" in runtime.log_tail("serves")
    runtime.run("serves")
    runtime.run("serves")  # harmless
    until(lambda: runtime.require_state("serves").running)
    assert runtime.require_state("serves").pid != first.pid


def test_a_name_that_is_not_there_is_answered_with_those_that_are(runtime):
    runtime.make("one", "true", stays=False)
    runtime.make("two", "true", stays=False)
    assert runtime.state("three") is None
    with pytest.raises(ServiceError, match="no service or task three; it has one, two"):
        runtime.require_state("three")


@interrupted_stream
def test_a_log_is_followed_over_a_restart(runtime):
    runtime.make("serves", SERVES, stays=True)
    until(lambda: "hello" in runtime.log_tail("serves"))
    lines = runtime.follow("serves", 5)
    assert next(lines).startswith("hello")
    runtime.stop("serves")
    runtime.run("serves")
    assert "bye" in list(takewhile(lambda line: not line.startswith("hello"), lines))


def test_a_log_has_no_lines_before_the_first_run(runtime):
    runtime.make("never", "true", stays=False)
    assert runtime.log_tail("never").startswith("  (")


def test_everything_is_ended_at_once(runtime):
    runtime.make("serves", SERVES, stays=True)
    runtime.make("waits", "exec sleep 600", stays=False)
    runtime.run("waits")
    assert runtime.exists()
    assert runtime.shut_down()
    assert not runtime.exists()
    assert not runtime.shut_down()


def test_networks_and_volumes_of_the_stack_go_with_its_containers_and_nothing_else_does(containers):
    mine, other = (
        stack_labels(containers.stack),
        {**stack_labels(containers.stack), "dev.lineage-lab.checkout": "another"},
    )
    client, name = containers.client, containers.stack
    client.networks.create(f"{name}-network", labels=mine)
    client.volumes.create(f"{name}-volume", labels=mine)
    client.volumes.create(f"{name}-another", labels=other)
    containers.make("serves", SERVES, True, network=f"{name}-network", volumes={f"{name}-volume": {"bind": "/data"}})
    try:
        assert containers.shut_down()
        assert client.networks.list(names=[f"{name}-network"]) == []
        assert [volume.name for volume in client.volumes.list(filters={"name": name})] == [f"{name}-another"]
    finally:
        client.volumes.get(f"{name}-another").remove()


def test_what_no_state_knows_of_is_removed_before_an_update(containers):
    known = containers.make("known", SERVES, True)
    containers.make("stranger", SERVES, True)
    containers.remove_unmanaged(lambda: {known.id})
    assert [state.name for state in containers.states()] == ["known"]


def test_no_state_is_asked_for_where_no_container_is(containers):
    containers.remove_unmanaged(lambda: pytest.fail("asked for"))


def test_a_container_that_is_ended_by_its_memory_limit_says_so(containers):
    containers.make("eats", "head -c 200m /dev/zero | tail", False, mem_limit="16m", memswap_limit="16m")
    with pytest.raises(ServiceError, match=r"eats failed .*out of memory \(its limit is 16 MiB\)"):
        run_task(containers, "eats")


def test_a_container_whose_probe_fails_is_unhealthy_and_says_what_the_probe_said(containers):
    times = {"interval": 10**9, "timeout": 30 * 10**9, "retries": 1}  # in nanoseconds
    probe = {"test": ["CMD-SHELL", "echo nobody there; exit 1"], **times}
    containers.make("sick", "exec sleep 600", True, healthcheck=probe)
    until(lambda: containers.require_state("sick").status == "UNHEALTHY")
    assert containers.require_state("sick").explanation == "nobody there"
    assert containers.require_state("sick").alive
    assert not containers.require_state("sick").healthy


def test_a_service_that_ends_again_and_again_shows_its_exit_status(containers):
    containers.make("crashes", "exit 3", True)
    seen = until(lambda: next((state for state in containers.states() if state.status == "BACKOFF"), None))
    assert seen.explanation == "exit status 3"
    containers.stop("crashes")
    # It was ended between two starts, or in the middle of one.
    assert containers.require_state("crashes").status in {"FATAL", "STOPPED"}


def test_a_task_that_is_removed_while_it_runs_has_failed(containers):
    made = containers.make("waits", "echo begun; exec sleep 600", False)
    with pytest.raises(ServiceError, match="waits failed: it was removed"):
        run_task(containers, "waits", lambda line: made.remove(force=True))


def test_a_program_that_is_not_in_the_image_is_named(containers):
    made = containers.client.containers.create(
        IMAGE, ["/no/such/program"], labels={**stack_labels(containers.stack), PART_LABEL: "lost", ROLE_LABEL: "task"}
    )
    with pytest.raises(ServiceError, match="/no/such/program"):
        run_task(containers, "lost")
    made.reload()
    assert containers.require_state("lost").status == "FATAL"


KEEPS = f"""
mkdir -p {VOLUMES}/data && cd {VOLUMES}/data
cat first second removed 2>/dev/null; echo "that is all"
[ -e first ] || {{ echo begun > first; echo gone > removed; }}
trap 'exit 0' TERM; while :; do sleep 0.1; done
"""
"""A service that says what its volume has."""


def test_the_data_of_a_container_is_copied_out_while_it_runs_and_replaced_while_it_does_not(containers):
    name = f"{containers.stack}-data"
    containers.client.volumes.create(name, labels=stack_labels(containers.stack))
    containers.make("keeps", KEEPS, True, volumes={name: {"bind": VOLUMES}})
    until(lambda: "that is all" in containers.log_tail("keeps"))
    with containers.data("keeps", "data") as data:
        assert (data / "first").read_text() == "begun\n"
        (data / "first").write_text("lost\n")
    assert containers.require_state("keeps").running
    assert containers.volume_location("keeps", "data") == f"{containers.stack}-keeps:{VOLUMES}/data"
    containers.stop("keeps")
    with containers.data("keeps", "data") as data:
        assert (data / "first").read_text() == "begun\n"
        (data / "second").write_text("brought\n")
        (data / "removed").unlink()
    containers.run("keeps")
    until(lambda: containers.log_tail("keeps").count("that is all") == 2)
    assert containers.log_tail("keeps").split() == ["that", "is", "all", "begun", "brought", "that", "is", "all"]


def test_the_data_of_a_process_is_its_folder(tmp_path):
    folder = tmp_path / "services" / "keeps" / "volumes" / "data"
    with Processes(tmp_path).data("keeps", "data") as data:
        assert data == folder
    assert Processes(tmp_path).volume_location("keeps", "data") == str(folder)
