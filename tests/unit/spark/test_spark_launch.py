# SPDX-License-Identifier: Apache-2.0
"""Launcher: settings of its driver, signals, and events of runs that ended without a terminal event.

The drivers are small Python modules; the lineage service is real.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import httpx
import psutil
import pytest

from infra.namespaces import JOB_NAMESPACE
from infra.project import PROJECT, python_path
from lineagelab_common.identifiers import new_run_id
from lineagelab_common.open_runs import OpenRuns, take_terminal_events, terminal_events
from lineagelab_spark.application import ApplicationRun
from lineagelab_spark.launch_process import DriverExit
from tests.bench.service_process import running_service
from tests.stack.polling import HANGING_SECONDS, until
from tests.unit.integrations.lineage_endpoint import free_port
from tests.unit.spark.launchers import ended, launchers

TERMINAL = {"COMPLETE", "FAIL", "ABORT"}

PRINT_ENVIRONMENT = "import os, json; print(json.dumps(dict(os.environ)))"
OPEN_A_RUN = """
import json, os
event = {
    "producer": "urn:t", "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": os.environ["RUN_ID"], "facets": {}}, "job": {"namespace": "lineage-lab", "name": "query"},
    "inputs": [{"namespace": "kafka://kafka:9092", "name": "orders"}], "outputs": [],
}
open(os.environ["LINEAGE_OPEN_RUNS"], "w").write(json.dumps({os.environ["RUN_ID"]: event}))
"""
REPORT_READY = "open(os.environ['READY'], 'w').close()\n"
WAIT_FOR_SIGNAL = "import os, signal\n" + REPORT_READY + "signal.pause()\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("lineage")) as running:
        yield running.url


@pytest.fixture
def launch(tmp_path, service):
    """Return a function that starts a launcher with the given driver source; remaining processes are killed."""
    with launchers(tmp_path, service) as made:
        yield made.start


def running(launch, tmp_path, source=WAIT_FOR_SIGNAL, *words, **environment):
    """Provide a launcher whose driver has started, and the driver."""
    (tmp_path / "ready").unlink(missing_ok=True)
    process = launch(source, *words, **environment)
    until((tmp_path / "ready").exists)
    (driver,) = psutil.Process(process.pid).children()
    return process, driver


def events(service, job):
    """Return all events of a job, oldest first."""
    found = httpx.get(f"{service}/api/v1/events/lineage", params={"limit": 1000, "sortDirection": "asc"}).json()
    return [event for event in found["events"] if event["job"]["name"] == job]


def runs(service, job):
    return httpx.get(f"{service}/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs").json()["runs"]


@pytest.mark.parametrize(("source", "code"), [("", 0), ("raise SystemExit(7)", 7), ("raise ValueError", 1)])
def test_exit_code_is_that_of_the_driver(launch, source, code):
    assert ended(launch(source))[0] == code


def test_driver_ended_by_a_signal_has_exit_code_128_plus_signal(launch):
    assert ended(launch("import os; os.kill(os.getpid(), 9)"))[0] == 137


def test_arguments_and_output_are_passed_through(launch, tmp_path):
    (tmp_path / "driver.py").write_text("import sys; print(sys.argv[1:]); print('no', file=sys.stderr)")
    words = [sys.executable, "-m", "lineagelab_spark.launch", "driver", "--source", "a b"]
    environment = {**os.environ, "PYTHONPATH": f"{python_path(PROJECT)}{os.pathsep}{tmp_path}"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("['--source', 'a b']\n", "no\n")


def test_agent_receives_name_run_and_parent_of_the_application(launch):
    submit = "--driver-class-path x pyspark-shell"
    variables = {
        "OPENLINEAGE_PARENT_ID": "air/flow/dag.task/01890000-0000-7000-8000-000000000000",
        "OPENLINEAGE_ROOT_PARENT_ID": "air/flow/dag/01890000-0000-7000-8000-000000000001",
    }
    process = launch(PRINT_ENVIRONMENT, "--application", "told", PYSPARK_SUBMIT_ARGS=submit, **variables)
    environment = json.loads(ended(process)[1])
    words = environment["PYSPARK_SUBMIT_ARGS"].removesuffix(submit).split()
    conf = dict(word.removeprefix("spark.openlineage.").split("=") for word in words if word != "--conf")
    run = conf.pop("applicationRunId")
    assert UUID(run).version == 7
    assert conf == {
        "appName": "told",
        "parentJobNamespace": "air/flow",
        "parentJobName": "dag.task",
        "parentRunId": "01890000-0000-7000-8000-000000000000",
        "rootParentJobNamespace": "air/flow",
        "rootParentJobName": "dag",
        "rootParentRunId": "01890000-0000-7000-8000-000000000001",
    }
    assert environment["OPENLINEAGE_PARENT_ID"] == f"lineage-lab/told/{run}"


def test_observed_application_has_the_parent_and_the_root_of_the_environment(launch, service):
    parent, root = (f"air/flow/{job}/01890000-0000-7000-8000-00000000000{n}" for n, job in enumerate(("dag.t", "dag")))
    process = launch(
        "", "--application", "child", "--observe", OPENLINEAGE_PARENT_ID=parent, OPENLINEAGE_ROOT_PARENT_ID=root
    )
    assert ended(process)[0] == 0
    facets = [event["run"]["facets"]["parent"] for event in events(service, "child")]
    assert len(facets) == 2
    for facet in facets:
        assert (facet["job"]["name"], facet["root"]["job"]["name"]) == ("dag.t", "dag")
        assert f"air/flow/dag/{facet['root']['run']['runId']}" == root


def test_driver_settings_are_unchanged_without_an_application(launch):
    environment = json.loads(ended(launch(PRINT_ENVIRONMENT, PYSPARK_SUBMIT_ARGS="x pyspark-shell"))[1])
    assert environment["PYSPARK_SUBMIT_ARGS"] == "x pyspark-shell"
    assert "OPENLINEAGE_PARENT_ID" not in environment


def test_the_driver_imports_packages_of_a_folder_and_tells_its_executors(launch, tmp_path):
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "of_the_user.py").write_text("NAME = 'mine'")
    source = "import os, of_the_user; print(of_the_user.NAME, os.environ['PYSPARK_SUBMIT_ARGS'])"
    code, output, errors = ended(launch(source, SPARK_PYTHON_PACKAGES=str(tmp_path / "packages")))
    assert code == 0, errors
    assert output.startswith("mine ")
    assert f"spark.executorEnv.PYTHONPATH={tmp_path / 'packages'}" in output


def test_launcher_sends_no_event_for_a_completed_job(launch, service, tmp_path):
    assert ended(launch("", "--application", "well"))[0] == 0
    assert events(service, "well") == []
    assert not list(tmp_path.glob("open_runs*"))


def test_job_that_fails_before_its_first_event_is_a_failed_run(launch, service):
    assert ended(launch("raise SystemExit(2)", "--application", "early"))[0] == 2
    assert [event["eventType"] for event in events(service, "early")] == ["START", "FAIL"]
    (run,) = runs(service, "early")
    assert run["state"] == "FAILED"
    message = events(service, "early")[-1]["run"]["facets"]["errorMessage"]["message"]
    assert message == "the driver ended with exit code 2; its log says why"


def test_application_fails_with_its_process_despite_a_complete_event(launch, service):
    source = """
import json, os, urllib.request
namespace, job, run = os.environ["OPENLINEAGE_PARENT_ID"].split("/")
for when, kind in enumerate(("START", "COMPLETE")):
    event = {
        "eventType": kind, "eventTime": f"2026-01-01T00:00:0{when}Z", "producer": "urn:agent",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run}, "job": {"namespace": namespace, "name": job}, "inputs": [], "outputs": [],
    }
    url = os.environ["LINEAGE_URL"] + "/api/v1/lineage"
    data = json.dumps(event).encode()
    urllib.request.urlopen(urllib.request.Request(url, data, {"Content-Type": "application/json"})).read()
raise SystemExit(1)
"""
    assert ended(launch(source, "--application", "late", NO_PROXY="127.0.0.1"))[0] == 1
    assert [event["eventType"] for event in events(service, "late")] == ["START", "COMPLETE", "FAIL"]
    (run,) = runs(service, "late")
    assert run["state"] == "FAILED"


def test_open_runs_of_a_killed_driver_are_ended_with_their_last_datasets(launch, service, tmp_path):
    run = new_run_id()
    source = OPEN_A_RUN + "os.kill(os.getpid(), 9)"
    assert ended(launch(source, RUN_ID=run))[0] == 137
    (event,) = [event for event in events(service, "query") if event["run"]["runId"] == run]
    assert event["eventType"] == "FAIL"
    assert event["run"]["facets"]["errorMessage"]["message"] == "the driver was ended by signal 9 (SIGKILL)"
    assert event["inputs"] == [{"namespace": "kafka://kafka:9092", "name": "orders"}]
    assert not list(tmp_path.glob("open_runs*"))


def test_undelivered_terminal_event_of_the_driver_is_sent_unchanged(launch, service):
    run = new_run_id()
    source = OPEN_A_RUN.replace(
        '"producer"', '"eventType": "COMPLETE", "eventTime": "2026-01-01T00:00:00Z", "producer"'
    )
    assert ended(launch(source + "os.kill(os.getpid(), 9)", RUN_ID=run))[0] == 137
    (event,) = [event for event in events(service, "query") if event["run"]["runId"] == run]
    assert event["eventType"] == "COMPLETE"


def test_sigterm_reaches_only_the_driver_and_its_exit_code_is_returned(launch, tmp_path):
    """supervisord signals the whole process group; the JVM that the driver started must not receive the signal."""
    source = f"""
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read(); print('child left well')"],
                         stdin=subprocess.PIPE)
signal.signal(signal.SIGTERM, lambda *_: (child.communicate(), print("stopped"), sys.exit(0)))
{REPORT_READY}
signal.pause()
"""
    process, _ = running(launch, tmp_path, source)
    os.killpg(process.pid, signal.SIGTERM)
    code, out, _ = ended(process)
    assert code == 0
    assert sorted(out.splitlines()) == ["child left well", "stopped"]


def test_stopped_job_is_aborted_not_failed(launch, service, tmp_path):
    process, _ = running(launch, tmp_path, WAIT_FOR_SIGNAL, "--application", "stopped")
    process.terminate()
    assert ended(process)[0] == 143
    (run,) = runs(service, "stopped")
    assert run["state"] == "ABORTED"


def test_driver_dies_with_a_killed_launcher_and_the_next_launch_reports_it(launch, service, tmp_path):
    process, driver = running(launch, tmp_path, WAIT_FOR_SIGNAL, "--application", "killed")
    process.kill()
    driver.wait(HANGING_SECONDS)
    process.communicate()
    assert ended(launch("", "--application", "killed"))[0] == 0
    (run,) = runs(service, "killed")
    assert run["state"] == "FAILED"
    assert "its launcher were killed" in events(service, "killed")[-1]["run"]["facets"]["errorMessage"]["message"]


def test_children_of_a_dead_driver_are_waited_for(launch, tmp_path):
    """The JVM may send events after its Python process has died; the launcher's event must be the last."""
    child = "import sys, time; sys.stdin.read(); time.sleep(0.5); open(sys.argv[1], 'w').write('said')"
    source = f"""
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", {child!r}, {str(tmp_path / "said")!r}], stdin=subprocess.PIPE)
os.kill(os.getpid(), 9)
"""
    assert ended(launch(source))[0] == 137
    assert (tmp_path / "said").read_text() == "said"


def test_remaining_children_of_a_dead_driver_are_killed(tmp_path):
    (tmp_path / "driver.py").write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        "print(child.pid, flush=True)\n"
    )
    launcher = (
        "import os, sys\nfrom lineagelab_spark import launch_process\nlaunch_process.GROUP_EXIT_TIMEOUT = 0.3\n"
        "sys.exit(launch_process.run_driver([sys.executable, '-m', 'driver'], os.environ).exit_code)"
    )
    environment = {**os.environ, "PYTHONPATH": f"{python_path(PROJECT)}{os.pathsep}{tmp_path}"}
    done = subprocess.run(
        [sys.executable, "-c", launcher], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert not psutil.pid_exists(int(done.stdout))


def test_undelivered_events_are_sent_by_the_next_launch(launch, service, tmp_path):
    nobody = "http://127.0.0.1:1"
    code, _, errors = ended(launch("raise SystemExit(3)", "--application", "later", LINEAGE_URL=nobody))
    assert code == 3
    assert f"of later was not accepted by {nobody}" in errors
    assert ended(launch("raise SystemExit(4)", "--application", "later", LINEAGE_URL=nobody))[0] == 4
    assert ended(launch("", "--application", "later"))[0] == 0
    assert [event["eventType"] for event in events(service, "later")] == ["START", "FAIL"] * 2
    assert not list(tmp_path.glob("open_runs*"))


def test_ends_of_an_earlier_launch_are_sent_as_soon_as_the_service_responds(launch, tmp_path):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    assert ended(launch(OPEN_A_RUN, RUN_ID=new_run_id(), LINEAGE_URL=url))[0] == 0
    process, _ = running(launch, tmp_path, OPEN_A_RUN + WAIT_FOR_SIGNAL, RUN_ID=new_run_id(), LINEAGE_URL=url)
    with running_service(tmp_path / "later", "--port", port) as later:
        until(lambda: [event["eventType"] for event in events(later.url, "query")] == ["FAIL"])
        assert process.poll() is None, "the driver runs on"
        process.terminate()
        assert ended(process)[0] == 143
        assert [event["eventType"] for event in events(later.url, "query")] == ["FAIL", "ABORT"]
    assert not list(tmp_path.glob("open_runs*"))


def test_what_cannot_be_sent_while_the_driver_runs_is_kept_with_its_own_end(launch, service, tmp_path):
    """The launcher tries again in the background, and must not lose what it adds at its driver's end."""
    earlier, nobody = new_run_id(), "http://127.0.0.1:1"
    assert ended(launch(OPEN_A_RUN, RUN_ID=earlier, LINEAGE_URL=nobody))[0] == 0
    process, _ = running(launch, tmp_path, WAIT_FOR_SIGNAL, "--application", "patient", LINEAGE_URL=nobody)
    process.terminate()
    assert ended(process)[0] == 143
    assert ended(launch("", "--application", "patient"))[0] == 0
    assert [found["state"] for found in runs(service, "patient")] == ["ABORTED"]
    (event,) = [event for event in events(service, "query") if event["run"]["runId"] == earlier]
    assert event["eventType"] == "FAIL"
    assert not list(tmp_path.glob("open_runs*"))


def test_stop_during_a_service_outage_is_reported_as_abort(launch, service, tmp_path):
    process, _ = running(launch, tmp_path, WAIT_FOR_SIGNAL, "--application", "quiet", LINEAGE_URL="http://127.0.0.1:1")
    process.terminate()
    assert ended(process)[0] == 143
    assert ended(launch("", "--application", "quiet"))[0] == 0
    (run,) = runs(service, "quiet")
    assert run["state"] == "ABORTED"


def test_no_state_is_stored_without_a_lineage_service(launch, tmp_path):
    code, _, errors = ended(launch("raise SystemExit(3)", "--application", "mute", LINEAGE_URL=""))
    assert (code, errors) == (3, "")
    assert not list(tmp_path.glob("open_runs*"))


@pytest.mark.parametrize("found", ["", "{", "[]", "[1, {}]", '{"a": 1}', '{"a": {}}', '"x"'])
def test_damaged_file_of_open_runs_is_ignored(launch, tmp_path, found):
    for name in ("open_runs.json", "open_runs.json.undelivered", "open_runs.json.application"):
        (tmp_path / name).write_text(found)
    assert ended(launch(""))[0] == 0
    assert not list(tmp_path.glob("open_runs*"))


def test_rejected_event_is_not_retried(launch, tmp_path):
    event = {"run": {"runId": "no UUID"}, "job": {"namespace": "n", "name": "refused"}}
    (tmp_path / "open_runs.json").write_text(json.dumps({"a": event}))
    code, _, errors = ended(launch(""))
    assert code == 0
    assert "HTTP status 4" in errors
    assert not list(tmp_path.glob("open_runs*"))


def test_unwritable_state_folder_does_not_fail_the_job(launch, tmp_path):
    (tmp_path / "file").touch()
    place = str(tmp_path / "file" / "open_runs.json")
    code, _, errors = ended(launch("raise SystemExit(4)", "--application", "placeless", LINEAGE_OPEN_RUNS=place))
    assert code == 4
    assert f"cannot write {place}.application" in errors


def java_options(launched):
    """Return the options of the driver's JVM, and the output of the launcher."""
    code, out, errors = ended(launched)
    assert code == 0
    words = shlex.split(json.loads(out).get("PYSPARK_SUBMIT_ARGS", ""))
    conf = dict(word.split("=", 1) for word in words if word.startswith("spark."))
    return conf.get("spark.driver.extraJavaOptions"), conf.get("spark.executor.extraJavaOptions"), errors


def describe_archive(archive):
    found = archive.stat()
    Path(f"{archive}.stat").write_text(f"{found.st_size} {found.st_mtime_ns}\n")


def test_valid_class_data_archive_is_passed_to_driver_and_executors(launch, tmp_path):
    archive = tmp_path / "data" / "classes.jsa"
    archive.parent.mkdir()
    archive.write_text("sound")
    describe_archive(archive)
    option = f"-XX:SharedArchiveFile={archive}"
    assert java_options(launch(PRINT_ENVIRONMENT, CLASS_DATA=str(archive))) == (option, option, "")


def test_missing_or_damaged_archive_is_logged_and_omitted(launch, tmp_path):
    """A JVM crashes with a truncated archive."""
    archive = tmp_path / "data" / "classes.jsa"
    archive.parent.mkdir()
    *options, errors = java_options(launch(PRINT_ENVIRONMENT, CLASS_DATA=str(archive)))
    assert options == [None, None]
    assert f"cannot read {archive}.stat: No such file" in errors
    archive.write_text("sound")
    describe_archive(archive)
    archive.write_text("cut")
    *options, errors = java_options(launch(PRINT_ENVIRONMENT, CLASS_DATA=str(archive)))
    assert options == [None, None]
    assert f"{archive} was modified after it was created" in errors


def test_driver_is_relaunched_until_stopped(launch, tmp_path):
    source = f"open({str(tmp_path / 'times')!r}, 'a').write('x'); raise SystemExit(5)"
    process = launch(source, "0.05", module="lineagelab_spark.launch_every")
    until(lambda: (tmp_path / "times").exists() and len((tmp_path / "times").read_text()) >= 3)
    process.terminate()
    code, _, errors = ended(process)
    assert code == 0
    assert "driver: the driver ended with exit code 5; its log says why. Next run in 0.05 s" in errors


def test_stop_between_or_during_launches_ends_the_schedule(launch, tmp_path):
    idle = launch("", "3600", module="lineagelab_spark.launch_every")
    until(lambda: psutil.Process(idle.pid).num_ctx_switches().voluntary > 0 and _catches(idle.pid, signal.SIGTERM))
    idle.terminate()
    assert ended(idle)[0] == 0
    busy = launch(WAIT_FOR_SIGNAL, "0.01", module="lineagelab_spark.launch_every")
    until((tmp_path / "ready").exists)
    busy.terminate()
    assert ended(busy)[0] == 0


def _catches(pid, number):
    """Return True if a process handles a signal, according to /proc."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1]
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_text_of_an_exit_status():
    assert str(DriverExit(-9)) == "the driver was ended by signal 9 (SIGKILL)"
    assert str(DriverExit(-35)) == "the driver was ended by signal 35"
    assert str(DriverExit(1)) == "the driver ended with exit code 1; its log says why"
    assert str(DriverExit(-15, stop_requested=True)).endswith("signal 15 (SIGTERM), after it was asked to stop")


def test_only_a_failed_run_has_an_error_message():
    run = ApplicationRun(JOB_NAMESPACE, "job", "id", "2026-01-01T00:00:00Z")
    (aborted,) = terminal_events(run.event, "ABORT", "why", "when")
    (failed,) = terminal_events(run.event, "FAIL", "why", "when")
    assert aborted["run"]["facets"] == {}
    assert failed["run"]["facets"]["errorMessage"]["message"] == "why"
    assert run.event["run"]["facets"] == {}


def test_unreported_run_is_stored_with_its_start_and_taken_once(tmp_path):
    run = ApplicationRun(JOB_NAMESPACE, "job", "id", "2026-01-01T00:00:00Z")
    OpenRuns(tmp_path / "runs").store_unreported(run.event, run.began)
    assert json.loads((tmp_path / "runs").read_text()) == {"id": {**run.event, "eventTime": run.began}}
    taken = take_terminal_events(tmp_path / "runs", "ABORT", "why", "when")
    assert [(event["eventType"], event["eventTime"]) for event in taken] == [("START", run.began), ("ABORT", "when")]
    assert take_terminal_events(tmp_path / "runs", "ABORT", "why", "when") == []


def test_an_invalid_parent_is_ignored_and_reported(launch):
    _, out, errors = ended(launch(PRINT_ENVIRONMENT, "--application", "orphan", OPENLINEAGE_PARENT_ID="a/b"))
    assert "parentRunId" not in json.loads(out)["PYSPARK_SUBMIT_ARGS"]
    assert "OPENLINEAGE_PARENT_ID is ignored: invalid parent run 'a/b'" in errors


def test_launcher_uses_little_memory():
    """The launcher runs as long as the driver, so it must use little memory."""
    code = "import sys, lineagelab_spark.launch; print({'pyspark', 'openlineage', 'httpx'} & sys.modules.keys())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": python_path(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"


def test_a_second_launcher_with_the_same_file_does_not_end_the_runs_of_the_first(launch, service, tmp_path):
    first_run, second_run = new_run_id(), new_run_id()
    source = OPEN_A_RUN.replace('"name": "query"', '"name": "shared"') + WAIT_FOR_SIGNAL
    first, _ = running(launch, tmp_path, source, RUN_ID=first_run)
    second, driver = running(launch, tmp_path, source, RUN_ID=second_run)
    driver.kill()
    code, _, errors = ended(second)
    assert code == 137
    assert f"LINEAGE_OPEN_RUNS names {tmp_path / 'open_runs.json'}, which another launcher uses" in errors
    until(lambda: any(event["run"]["runId"] == second_run for event in events(service, "shared")))
    assert {event["run"]["runId"] for event in events(service, "shared")} == {second_run}
    first.terminate()
    ended(first)
    states = {run["id"]: run["state"] for run in runs(service, "shared")}
    assert states == {first_run: "ABORTED", second_run: "FAILED"}
