# SPDX-License-Identifier: Apache-2.0
"""Steps of `lab test`, their summary, the `slow` marker and the deadline of slow tests."""

import signal
import subprocess
import sys
import time

import pytest

from infra.cli.test_report import Report
from infra.cli.test_steps import Result, Step, StepRunner
from infra.cli.testing import FAST, SLOW_LANES
from infra.project import PROJECT
from tests import conftest

JUNIT = """<testsuites><testsuite>
  <testcase classname="tests.unit.infra.test_a" name="a" time="1.5"/>
  <testcase classname="tests.stack.test_b" name="b" time="2"><failure message="no"/></testcase>
  <testcase classname="tests.stack.test_b" name="c" time="0"><error message="no"/></testcase>
  <testcase classname="tests.page.test_c" name="d" time="0"><skipped message="no browser"/></testcase>
  <testcase classname="tests.page.test_c" name="e" time="0"><skipped message="no browser"/></testcase>
</testsuite></testsuites>"""


def python(name, script, **more):
    return Step(name, [sys.executable, "-c", script], **more)


def result(step, status=0, started=0.0):
    return Result(step, status, started, 1.0)


def test_the_summary_counts_by_layer_and_ends_with_the_total(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(JUNIT)
    lines = Report([result(python("unit", "", reports=[path]), status=1)]).lines()
    assert lines[-1] == "1 passed, 2 failed, 2 skipped"
    assert "    2 skipped: no browser" in lines
    assert [line.split()[:2] for line in lines if line.startswith("page")] == [["page", "did"]]


def test_reports_of_a_folder_count_for_their_step(tmp_path):
    (tmp_path / "TEST-A.xml").write_text(
        '<testsuite><testcase classname="dev.lab.ATest" name="a" time="1"/></testsuite>'
    )
    report = Report([result(python("java", "", reports=[tmp_path]))])
    assert report.layers["java"].passed == 1


@pytest.mark.parametrize("status", [0, 1])
def test_a_step_without_reports_counts_as_one_test(status):
    total = Report([result(python("lint", ""), status=status)]).total
    assert (total.passed, total.failed) == (1 - status, status)


def test_a_step_that_failed_without_a_failed_test_is_a_failure(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text('<testsuite><testcase classname="tests.unit.test_a" name="a" time="0"/></testsuite>')
    assert Report([result(python("unit", "", reports=[path]), status=3)]).total.failed == 1
    assert Report([result(python("unit", "", reports=[tmp_path / "none.xml"]), status=3)]).total.failed == 1


def test_a_report_of_an_earlier_run_is_not_counted(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(JUNIT)
    report = Report([result(python("unit", "", reports=[path]), started=time.time() + 60)])
    assert (report.total.passed, report.total.failed, report.total.skipped) == (0, 0, 0)


def test_lanes_run_side_by_side_and_a_failure_does_not_stop_the_others(tmp_path, capsys):
    """Each lane waits for the other one's file."""
    script = "import pathlib, time\n{made}.touch()\nwhile not {other}.exists(): time.sleep(0.01)"
    paths = [f"pathlib.Path({str(tmp_path / name)!r})" for name in ("one", "two")]
    lanes = [
        [
            python("one", script.format(made=paths[0], other=paths[1])),
            python("bad", "print('why'); raise SystemExit(4)"),
        ],
        [python("two", script.format(made=paths[1], other=paths[0])), python("good", "")],
    ]
    results = StepRunner().run([lanes, [[python("last", "")]]])
    assert {each.step.name: each.status for each in results} == {"one": 0, "two": 0, "bad": 4, "good": 0, "last": 0}
    printed = capsys.readouterr().out
    assert "bad  | why" in printed
    assert "bad  | FAILED (exit status 4)" in printed


def test_steps_that_run_at_the_end_of_the_time_are_stopped_and_no_other_is_started():
    started = time.monotonic()
    lane = [python("endless", "import time; time.sleep(60)"), python("next", "")]
    results = StepRunner(stop_at=time.time() + 1).run([[lane]])
    assert all(each.status != 0 for each in results)
    assert results[1].seconds == 0
    assert time.monotonic() - started < 30


def test_every_folder_of_tests_is_run():
    """`bench` measures, `chaos` is run by hand."""
    tests = PROJECT / "tests"
    folders = {path.relative_to(tests).parts[0] for path in tests.rglob("test_*.py")}
    assert {layer for lane in SLOW_LANES for layer in lane} == folders
    assert set(FAST) | {"unit", "smoke"} == folders - conftest.SLOW_LAYERS


@pytest.mark.parametrize(("minutes", "ordinary", "docker"), [(60, True, True), (10, True, False), (-1, False, False)])
def test_slow_tests_start_only_where_there_is_time_for_them(monkeypatch, minutes, ordinary, docker):
    monkeypatch.setenv(conftest.DEADLINE, str(time.time() + 60 * minutes))
    conftest._was_begun.cache_clear()
    assert conftest._may_start("smoke") is ordinary
    assert conftest._may_start("docker") is docker
    monkeypatch.setenv(conftest.DEADLINE, "0")
    assert conftest._may_start("docker") is docker, "the first test of a folder decides"
    conftest._was_begun.cache_clear()


def test_without_a_deadline_every_test_starts(monkeypatch):
    monkeypatch.delenv(conftest.DEADLINE, raising=False)
    assert conftest._may_start("smoke")


def test_an_interrupted_run_interrupts_its_steps_once_and_starts_no_other(tmp_path):
    """Only the run gets the signal, as from `kill`; Ctrl-C reaches no step either, which is in a session of its own."""
    noted = tmp_path / "noted"
    step = f"""
import pathlib, time
noted = pathlib.Path({str(noted)!r})
try:
    noted.write_text("started ")
    time.sleep(60)
except KeyboardInterrupt:
    noted.write_text(noted.read_text() + "stopped")
"""
    run = f"""
import signal
import subprocess
import sys
from infra.cli.test_steps import Step, StepRunner
lane = [Step("one", [sys.executable, "-c", {step!r}]), Step("next", ["touch", {str(tmp_path / "next")!r}])]
StepRunner().run([[lane]])
"""
    with subprocess.Popen([sys.executable, "-c", run], cwd=PROJECT, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not noted.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) != 0
    assert noted.read_text() == "started stopped"
    assert not (tmp_path / "next").exists()
