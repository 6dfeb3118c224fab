# SPDX-License-Identifier: Apache-2.0
"""Steps of `lab test`, their report, the `slow` marker and the deadline of slow tests."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from infra.cli.test_report import MAX_FAILURES, MAX_REASON_LENGTH, LayerReport
from infra.cli.test_steps import Step, StepResult, StepRunner
from infra.cli.testing import ALONE, CLUSTER_LANES, FAST_LAYERS, PROCESS_LANES, TWO_LANES_MEMORY, StepFactory
from infra.project import PROJECT
from infra.toolchain import Artifacts
from tests import conftest

JUNIT = """<testsuites><testsuite>
  <testcase classname="tests.unit.infra.test_a" name="a" time="1.5"/>
  <testcase classname="tests.stack.test_b" name="b" time="2"><failure message="no"/></testcase>
  <testcase classname="tests.stack.test_b" name="c" time="0"><error message="no"/></testcase>
  <testcase classname="tests.page.test_c" name="d" time="0"><skipped message="no browser"/></testcase>
  <testcase classname="tests.page.test_c" name="e" time="0"><skipped message="no browser"/></testcase>
</testsuite></testsuites>"""


def python_step(name, script, **arguments):
    return Step(name, [sys.executable, "-c", script], **arguments)


def result(step, status=0, started=0.0):
    return StepResult(step, status, started, 1.0)


def test_report_counts_by_layer_and_ends_with_the_total(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(JUNIT)
    lines = LayerReport([result(python_step("unit", "", reports=[path]), status=1)]).render()
    assert lines[-1] == "1 passed, 2 failed, 2 skipped"
    assert "    2 skipped: no browser" in lines
    assert [line for line in lines if "failed: " in line] == [
        "    failed: tests.stack.test_b.b: no",
        "    failed: tests.stack.test_b.c: no",
    ]
    assert [line.split()[:2] for line in lines if line.startswith("page")] == [["page", "did"]]


def test_report_lists_the_first_failures_in_a_line_each(tmp_path):
    path = tmp_path / "report.xml"
    case = '<testcase classname="tests.unit.test_a" name="t{}" time="0"><failure message="{}"/></testcase>'
    message = "assert 1&#10;&#10;  - " + "x" * 500
    path.write_text(f"<testsuite>{''.join(case.format(n, message) for n in range(MAX_FAILURES + 3))}</testsuite>")
    lines = LayerReport([result(python_step("unit", "", reports=[path]), status=1)]).render()
    assert lines[1].startswith("    failed: tests.unit.test_a.t0: assert 1 - ")
    assert len(lines) == 1 + MAX_FAILURES + 1 + 1
    assert lines[-2] == "    and 3 more failed tests"
    assert max(map(len, lines)) < 2 * MAX_REASON_LENGTH


def test_java_tests_in_a_report_folder_count_for_their_step(tmp_path):
    (tmp_path / "TEST-A.xml").write_text(
        '<testsuite><testcase classname="dev.lab.ATest" name="a" time="1"/></testsuite>'
    )
    report = LayerReport([result(python_step("java", "", reports=[tmp_path]))])
    assert report.layers["java"].passed == 1


@pytest.mark.parametrize("status", [0, 1])
def test_step_without_reports_counts_as_one_test(status):
    total = LayerReport([result(python_step("lint", ""), status=status)]).total
    assert (total.passed, total.failed) == (1 - status, status)


def test_failed_step_without_a_failed_test_counts_as_failed(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text('<testsuite><testcase classname="tests.unit.test_a" name="a" time="0"/></testsuite>')
    assert LayerReport([result(python_step("unit", "", reports=[path]), status=3)]).total.failed == 1
    assert LayerReport([result(python_step("unit", "", reports=[tmp_path / "none.xml"]), status=3)]).total.failed == 1


def test_report_file_of_an_earlier_run_is_ignored(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(JUNIT)
    report = LayerReport([result(python_step("unit", "", reports=[path]), started=time.time() + 60)])
    assert (report.total.passed, report.total.failed, report.total.skipped) == (0, 0, 0)


def test_lanes_run_in_parallel_and_a_failure_does_not_stop_other_steps(tmp_path, capsys):
    """The first step of each lane waits for a file that the other lane creates."""
    script = "import pathlib, time\n{own}.touch()\nwhile not {other}.exists(): time.sleep(0.01)"
    paths = [f"pathlib.Path({str(tmp_path / name)!r})" for name in ("one", "two")]
    lanes = [
        [
            python_step("one", script.format(own=paths[0], other=paths[1])),
            python_step("bad", "print('why'); raise SystemExit(4)"),
        ],
        [python_step("two", script.format(own=paths[1], other=paths[0])), python_step("good", "")],
    ]
    results = StepRunner().run([lanes, [[python_step("last", "")]]])
    assert {each.step.name: each.status for each in results} == {"one": 0, "two": 0, "bad": 4, "good": 0, "last": 0}
    printed = capsys.readouterr().out
    assert "bad  | why" in printed
    assert "bad  | FAILED (exit status 4)" in printed


def test_deadline_interrupts_running_steps_and_starts_no_further_one():
    started = time.monotonic()
    lane = [python_step("endless", "import time; time.sleep(60)"), python_step("next", "")]
    results = StepRunner(stop_at=time.time() + 1).run([[lane]])
    assert all(each.status != 0 for each in results)
    assert results[1].seconds == 0
    assert time.monotonic() - started < 30


def test_every_folder_with_tests_belongs_to_a_lane():
    """Folders without `test_*.py` do not count: `bench` measures, `chaos` is run by hand."""
    tests = PROJECT / "tests"
    folders = {path.relative_to(tests).parts[0] for path in tests.rglob("test_*.py")}
    layers = [layer for lane in (*PROCESS_LANES, *CLUSTER_LANES, ALONE) for layer in lane]
    assert sorted(layers) == sorted(folders)
    assert set(FAST_LAYERS) | {"unit", "smoke"} == folders - conftest.SLOW_LAYERS


@pytest.mark.parametrize("memory", [TWO_LANES_MEMORY, TWO_LANES_MEMORY - 1])
def test_either_half_of_the_slow_tests_can_be_first_and_both_run(monkeypatch, tmp_path, memory):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=memory))
    factory = StepFactory(Artifacts.open(), tmp_path)
    stages = [
        [{step.name for lane in stage for step in lane} for stage in factory.slow_stages(clusters_first=first)]
        for first in (False, True)
    ]
    processes, clusters = ({layer for lane in lanes for layer in lane} for lanes in (PROCESS_LANES, CLUSTER_LANES))
    assert stages == [[processes, clusters, {*ALONE}], [clusters, {*ALONE}, processes]]
    lanes = {len(stage) for stage in factory.slow_stages() if len(stage[0]) + len(stage) > 2}
    assert lanes == ({2} if memory == TWO_LANES_MEMORY else {1})


@pytest.mark.parametrize(("minutes", "smoke", "docker"), [(60, True, True), (10, True, False), (-1, False, False)])
def test_slow_tests_start_only_well_before_the_deadline(monkeypatch, minutes, smoke, docker):
    monkeypatch.setenv(conftest.DEADLINE, str(time.time() + 60 * minutes))
    conftest._was_begun.cache_clear()
    assert conftest._may_start("smoke") is smoke
    assert conftest._may_start("docker") is docker
    monkeypatch.setenv(conftest.DEADLINE, "0")
    assert conftest._may_start("docker") is docker, "the first Docker test decides for all"
    conftest._was_begun.cache_clear()


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("kubernetes/test_kubernetes_lab.py", "kubernetes/test_kubernetes_lab.py"),
        ("kubernetes/test_runtime.py", "kubernetes"),
        ("smoke/test_lab.py", "smoke"),
    ],
)
def test_tests_that_start_together(path, group):
    assert conftest.group_of(Path(path)) == group


def test_groups_are_folders_and_files_of_tests():
    assert [group for group in conftest.RESERVED_FOR_GROUP if not (PROJECT / "tests" / group).exists()] == []


def test_slow_tests_start_without_a_deadline(monkeypatch):
    monkeypatch.delenv(conftest.DEADLINE, raising=False)
    assert conftest._may_start("smoke")


def test_interrupted_run_interrupts_its_steps_once_and_starts_no_further_one(tmp_path):
    """The signal reaches only the runner, as with Ctrl-C: each step has its own session."""
    log = tmp_path / "log"
    step = f"""
import pathlib, time
log = pathlib.Path({str(log)!r})
try:
    log.write_text("started ")
    time.sleep(60)
except KeyboardInterrupt:
    log.write_text(log.read_text() + "interrupted")
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
        while not log.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) != 0
    assert log.read_text() == "started interrupted"
    assert not (tmp_path / "next").exists()
