# SPDX-License-Identifier: Apache-2.0
"""Tests of the `Runtime` interface, for every target: test modules import them and define the fixture `runtime`.

The fixture is a runtime with three more methods: `create(name, script, is_service)` creates a shell script as a
service, which is started, or as a task; `process(name)` returns an identifier of the process of a running service, and
`scratch(name)` the folder of temporary files of a script.
"""

import threading
from itertools import takewhile

import pytest

from infra.cli.tasks import run_task
from infra.errors import LabError, ServiceError
from infra.targets.launch_script import RUN_VARIABLES

SERVICE_SCRIPT = 'trap "echo bye; exit 0" TERM; echo "hello $$"; while :; do sleep 0.1; done'
"""Service that prints its pid and shuts down gracefully."""


def await_truthy(condition):
    waiter = threading.Event()
    for _ in range(300):
        if value := condition():
            return value
        waiter.wait(0.1)
    pytest.fail("the condition was not met within 30 s")


def test_each_run_of_a_task_shows_only_its_own_lines(runtime):
    runtime.create("counter", "echo one; sleep 0.3; echo two >&2; sleep 0.3; echo three", is_service=False)
    assert runtime.require_state("counter").status == "STOPPED"
    for _ in range(2):
        lines = []
        run_task(runtime, "counter", lines.append)
        assert lines == ["one", "two", "three"]
    assert (runtime.require_state("counter").status, runtime.require_state("counter").exit_status) == ("EXITED", 0)
    assert runtime.require_state("counter").healthy


def test_variables_of_a_run_are_not_those_of_the_next(runtime):
    file = f"{runtime.scratch('teller')}/{RUN_VARIABLES}"
    script = f"[ ! -f '{file}' ] || {{ . '{file}'; rm '{file}'; }}; echo \"told ${{TOLD:-nothing}}\""
    runtime.create("teller", script, is_service=False)
    lines = []
    run_task(runtime, "teller", lines.append, {"TOLD": "it's $one", "OTHER": "x"})
    run_task(runtime, "teller", lines.append)
    assert lines == ["told it's $one", "told nothing"]


def test_error_of_a_failed_task_has_exit_status_and_end_of_log(runtime):
    runtime.create("failing", "echo before the end; exit 7", is_service=False)
    with pytest.raises(ServiceError, match=r"(?s)failing failed \(exit status 7\).*log.*before the end"):
        run_task(runtime, "failing")
    assert not runtime.require_state("failing").healthy


def test_interrupt_stops_the_task(runtime):
    runtime.create("sleeper", "echo started; exec sleep 600", is_service=False)

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_task(runtime, "sleeper", interrupt)
    assert not runtime.require_state("sleeper").alive


def test_running_task_cannot_be_run_again(runtime):
    runtime.create("sleeper", "exec sleep 600", is_service=False)
    runtime.run("sleeper")
    await_truthy(lambda: runtime.require_state("sleeper").alive)
    with pytest.raises(LabError, match="sleeper is already running"):
        run_task(runtime, "sleeper")


def test_service_is_stopped_and_started(runtime):
    runtime.create("server", SERVICE_SCRIPT, is_service=True)
    runtime.create("counter", "true", is_service=False)
    assert (runtime.is_service("server"), runtime.is_service("counter")) == (True, False)
    await_truthy(lambda: runtime.require_state("server").running)
    first = runtime.process("server")
    assert runtime.require_state("server").started
    await_truthy(lambda: runtime.memory().get("server"))
    assert "counter" not in runtime.memory()
    runtime.stop("server")
    runtime.stop("server")  # no effect
    assert runtime.require_state("server").status == "STOPPED"
    runtime.run("server")
    runtime.run("server")  # no effect
    await_truthy(lambda: runtime.require_state("server").running)
    assert runtime.process("server") != first


def test_error_about_an_unknown_name_lists_the_existing_names(runtime):
    runtime.create("one", "true", is_service=False)
    runtime.create("two", "true", is_service=False)
    assert runtime.state("three") is None
    with pytest.raises(ServiceError, match="no service or task three; it has one, two"):
        runtime.require_state("three")


def test_followed_log_continues_after_a_restart(runtime):
    runtime.create("server", SERVICE_SCRIPT, is_service=True)
    await_truthy(lambda: "hello" in runtime.log_tail("server"))
    lines = runtime.follow("server", 5)
    assert next(lines).startswith("hello")
    runtime.stop("server")
    runtime.run("server")
    assert "bye" in list(takewhile(lambda line: not line.startswith("hello"), lines))


def test_log_is_empty_before_the_first_run(runtime):
    runtime.create("never", "true", is_service=False)
    assert runtime.log_tail("never").startswith("  (")


def test_shut_down_stops_everything(runtime):
    runtime.create("server", SERVICE_SCRIPT, is_service=True)
    runtime.create("sleeper", "exec sleep 600", is_service=False)
    runtime.run("sleeper")
    assert runtime.exists()
    assert runtime.shut_down()
    assert not runtime.exists()
    assert not runtime.shut_down()
