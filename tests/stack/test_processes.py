# SPDX-License-Identifier: Apache-2.0
"""Processes as resources: create, update, drift and delete under `pulumi up`."""

import json
import signal
import socket

import httpx
import psutil
import pytest

from infra.targets.local.supervisor import Supervisor
from tests.stack.polling import until

pytestmark = pytest.mark.stack


def responds(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/", timeout=2).is_success
    except httpx.HTTPError:
        return False


def pid_of(engine, program):
    """Return the process id of a running program; never 0, which `kill` takes as the current process group."""
    state = Supervisor(engine.root).state(program)
    assert state is not None
    assert state.pid > 0
    return state.pid


def processes_of(engine):
    """Return the live processes of an engine's stack."""
    return [p for p in psutil.process_iter(["environ"]) if Supervisor(engine.root)._is_of_stack(p)]


def test_up_waits_for_readiness_and_destroy_leaves_no_process(engine, free_port):
    engine.web("web", free_port)
    assert engine.up().status == 0
    assert responds(free_port)
    pid = pid_of(engine, "web")
    second = engine.up()
    assert "3 unchanged" in second.text
    assert not any(word in second.text for word in ("created", "updated", "replaced", "deleted"))
    assert pid_of(engine, "web") == pid
    assert engine.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert not psutil.pid_exists(pid)
    assert not responds(free_port)
    assert not engine.root.exists()
    assert processes_of(engine) == []


def test_supervisor_restarts_a_killed_process(engine, free_port):
    engine.web("web", free_port)
    engine.up()
    pid = pid_of(engine, "web")
    psutil.Process(pid).kill()
    assert until(lambda: Supervisor(engine.root).state("web").pid not in {0, pid} and responds(free_port))
    healed = pid_of(engine, "web")
    assert "3 unchanged" in engine.up("--refresh").text
    assert pid_of(engine, "web") == healed


@pytest.mark.slow
def test_killed_supervisor_ends_its_processes_and_refresh_restores_them(engine, free_port):
    engine.web("web", free_port)
    engine.up()
    psutil.Process(Supervisor(engine.root).pid()).kill()
    assert until(lambda: not responds(free_port))
    healed = engine.up("--refresh")
    assert healed.status == 0, healed.text
    assert responds(free_port)


@pytest.mark.slow
def test_stopped_process_is_drift(engine, free_port):
    engine.web("web", free_port)
    engine.up()
    Supervisor(engine.root).stop("web")
    assert engine.up("--refresh").status == 0
    assert responds(free_port)


@pytest.mark.slow
def test_service_that_exits_with_0_is_not_restarted_and_is_drift(engine, tmp_path):
    runs, fails = tmp_path / "runs", tmp_path / "fails"
    fails.touch()
    wait = f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
    script = f"echo run >> {runs}\n{wait}\n[ -e {fails} ] && rm {fails} && exit 3\nrm {tmp_path}/go\nsleep 2\n"
    engine.process("job", script, restart="on_failure")
    assert engine.up().status == 0
    (tmp_path / "go").touch()
    supervisor = Supervisor(engine.root)
    # supervisord calls a failed process EXITED too, for a moment, before it starts it again.
    assert until(lambda: not fails.exists() and not (tmp_path / "go").exists())
    assert until(lambda: supervisor.require_state("job").status == "EXITED")
    assert runs.read_text().split() == ["run", "run"], "restarted after the failure only"
    assert engine.up("--refresh").status == 0
    assert supervisor.require_state("job").running
    assert len(runs.read_text().split()) == 3


def test_changed_script_restarts_only_its_process(make_engine, free_port):
    engine = make_engine()
    engine.web("web", free_port, "first")
    engine.process("other", "exec sleep 1000\n")
    created = engine.up()
    assert created.status == 0, created.text
    before = {state.name: state.pid for state in Supervisor(engine.root).states()}
    engine.web("web", free_port, "second")
    changed = engine.up("--diff")
    assert "~ script" in changed.text
    after = {state.name: state.pid for state in Supervisor(engine.root).states()}
    assert after["web"] != before["web"]
    assert after["other"] == before["other"]


@pytest.mark.slow
def test_volume_survives_an_update_and_a_file_is_replaced(engine):
    engine.process("p", "date > volumes/data/kept; exec sleep 1000\n", volumes=["data"], files={"a": "1"})
    engine.up()
    folder = engine.root / "services" / "p"
    assert until(lambda: (folder / "volumes" / "data" / "kept").exists())
    engine.process("p", "exec sleep 1001\n", volumes=["data"], files={"b": "2"})
    engine.up()
    assert (folder / "volumes" / "data" / "kept").exists()
    assert [path.name for path in (folder / "files").iterdir()] == ["b"]


def test_process_that_exits_at_start_fails_the_update_with_its_log(engine, free_port):
    engine.process("sick", "echo 'no such table: bids'; exit 3\n")
    engine.web("web", free_port)
    failed = engine.up()
    assert failed.status != 0
    assert "sick ended while it was starting" in failed.text
    assert "no such table: bids" in failed.text
    assert Supervisor(engine.root).state("sick") is None
    engine.process("sick", "exec sleep 1000\n")
    corrected = engine.up()
    assert corrected.status == 0, corrected.text
    assert engine.resources() == {"supervisor", "sick", "web"}


@pytest.mark.slow
def test_process_that_never_becomes_ready_is_removed(engine, free_port):
    probe = {"host": "127.0.0.1", "port": free_port, "path": "", "seconds": 2}
    engine.process("mute", "exec sleep 1000\n", probe=probe)
    failed = engine.up()
    assert f"mute was not ready (127.0.0.1:{free_port}) after 2 s" in failed.text
    assert Supervisor(engine.root).state("mute") is None


def test_ctrl_c_during_create_leaves_no_orphan(engine, free_port):
    probe = {"host": "127.0.0.1", "port": free_port, "path": "", "seconds": 100}
    engine.process("mute", "exec sleep 1000\n", probe=probe)
    update = engine.start("up", "--yes", "--skip-preview")
    assert until(lambda: (engine.root / "services" / "mute" / "log").exists())
    update.send_signal(signal.SIGINT)
    text, _ = update.communicate(timeout=30)
    assert update.returncode != 0, text
    assert Supervisor(engine.root).state("mute") is None
    assert "mute" not in engine.resources()


@pytest.mark.slow
def test_update_killed_during_create_can_be_repeated(engine, free_port):
    probe = {"host": "127.0.0.1", "port": free_port, "path": "", "seconds": 100}
    engine.process("late", "exec sleep 1000\n", probe=probe)
    update = engine.start("up", "--yes", "--skip-preview")
    assert until(lambda: (engine.root / "services" / "late" / "log").exists())
    update.kill()
    update.communicate(timeout=30)
    engine.pulumi("cancel", "--yes")
    engine.process("late", "exec sleep 1000\n")
    engine.pulumi("refresh", "--yes", "--skip-preview", "--clear-pending-creates")
    resumed = engine.up()
    assert resumed.status == 0, resumed.text
    assert [state.status for state in Supervisor(engine.root).states()] == ["RUNNING"]
    assert engine.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert processes_of(engine) == []


def test_busy_port_is_reported_with_its_process_before_any_start(make_engine):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        engine = make_engine("busy", {"kafka broker": port})
        engine.process("p", "exec sleep 1000\n")
        failed = engine.up()
    assert f"port {port} (kafka broker) is held by " in failed.text
    assert "portOffset" in failed.text
    assert engine.resources() == set()


@pytest.mark.slow
def test_insufficient_memory_is_reported_with_figures_and_can_be_overridden(engine):
    engine.wanted["supervisor"]["memory_mib"] = 10**8
    engine.process("p", "exec sleep 1000\n")
    refused = engine.up()
    assert "memory: the chosen services need 100000000 MiB" in refused.text
    assert "lineage-lab:preflight: warn in Pulumi.stack.yaml" in refused.text
    assert engine.resources() == set()
    engine.wanted["supervisor"]["preflight"] = "warn"
    assert engine.up().status == 0


@pytest.mark.slow
def test_foreign_listener_on_the_port_does_not_pass_the_readiness_probe(engine, free_port):
    engine.web("web", free_port)
    engine.wanted["processes"][0]["ports"] = {"web api": free_port}
    engine.up()
    Supervisor(engine.root).stop("web")
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", free_port))
        thief.listen()
        failed = engine.up("--refresh")
    assert f"web cannot start: port {free_port} (web api) is held by " in failed.text
    assert engine.up("--refresh").status == 0


@pytest.mark.slow
def test_state_of_another_kit_version_can_be_destroyed(engine, free_port):
    engine.web("web", free_port)
    engine.up()
    deployment = json.loads(engine.pulumi("stack", "export").text)
    (web,) = (r for r in deployment["deployment"]["resources"] if r["urn"].endswith("::web"))
    for properties in (web["inputs"], web["outputs"]):
        properties["patience"] = 1
        del properties["revision"]
    state = engine.folder / "other.json"
    state.write_text(json.dumps(deployment))
    assert engine.pulumi("stack", "import", "--file", str(state)).status == 0
    assert engine.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert processes_of(engine) == []


@pytest.mark.slow
def test_two_stacks_run_concurrently(make_engine, free_port):
    one, two = make_engine("one"), make_engine("two")
    one.process("p", "exec sleep 1000\n")
    two.process("p", "exec sleep 1000\n")
    assert one.up().status == two.up().status == 0
    assert one.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert Supervisor(two.root).state("p").running


def test_unknown_or_mistyped_property_is_named(engine):
    engine.wanted["supervisor"]["preflight"] = "lax"
    program = (
        (engine.folder / "__main__.py")
        .read_text()
        .replace(
            'SupervisorInputs(**wanted["supervisor"])',
            'SupervisorInputs.model_construct(**wanted["supervisor"])',
        )
    )
    (engine.folder / "__main__.py").write_text(program)
    failed = engine.up()
    assert "preflight" in failed.text
    assert "'strict' or 'warn'" in failed.text
