# SPDX-License-Identifier: Apache-2.0
"""Tests of PyFlink jobs: definition identity, declared columns, errors. Programs run in `tests/flink`."""

import pytest

from infra.services.flink.jobs import DATASET_NAMESPACES, WINDOWS_COLUMNS
from lineagelab_flink import launch_python
from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launch_python import PyFlink, PythonJob, failure_of, main


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "orders.py"
    path.write_text("print()")
    return path


def job(program, *arguments, python="/nowhere/python", **options):
    pyflink = PyFlink("http://127.0.0.1:1", python)
    return PythonJob(program, arguments, pyflink, **options)


def environment(**more):
    given = {"FLINK_URL": "http://x", "FLINK_PYTHON": "python"}
    return {**given, "FLINK_PYTHON_GATEWAY": "java", **more}


def test_a_changed_program_or_argument_changes_the_definition(program):
    first = job(program, "--a", "b").identity
    assert job(program, "--a", "b").identity == first
    assert job(program, "--a b").identity != first
    program.write_text("print(1)")
    changed = job(program, "--a", "b").identity
    assert changed != first
    module = program.with_name("helpers.py")
    module.write_text("")
    assert job(program, "--a", "b", modules=[module]).identity != changed


def test_declared_column_lineage_is_reported(program):
    described = job(program, columns=WINDOWS_COLUMNS, aliases=DATASET_NAMESPACES).describe()
    assert [output["name"] for output in described.outputs] == ["supplier-windows"]
    assert job(program, columns=WINDOWS_COLUMNS, derives_lineage=False).names_datasets


def test_a_job_of_the_listener_names_no_datasets(program):
    of_listener = job(program, derives_lineage=False)
    assert not of_listener.names_datasets
    assert (of_listener.describe().inputs, of_listener.describe().outputs) == ([], [])


def test_an_interpreter_that_does_not_run_is_named(program):
    with pytest.raises(FlinkError, match="cannot run Flink's planner as `/nowhere/python`"):
        job(program).describe()


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ("", "it printed nothing"),
        ("Traceback (most recent call last):\n  File x\nValueError: no word\n\n", "ValueError: no word"),
        (
            "py4j.protocol.Py4JJavaError: An error\n: java.lang.IllegalStateException: no\n\tat a.B",
            "IllegalStateException: no",
        ),
        ("x.TableException: a.TableException: b\nCaused by: a.B: c\nCaused by: a.C: d\n\tat e\n", "C: d"),
    ],
)
def test_the_cause_of_a_failure_is_the_deepest(output, cause):
    assert failure_of(output) == cause


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"FLINK_PYTHON": None}, "orders.py: environment variable FLINK_PYTHON is not set"),
        ({"FLINK_PYTHON_GATEWAY": None}, "orders.py: environment variable FLINK_PYTHON_GATEWAY is not set"),
    ],
)
def test_a_missing_setting_is_reported(monkeypatch, capsys, program, changes, message):
    given = {name: value for name, value in environment(**changes).items() if value is not None}
    monkeypatch.setattr(launch_python.os, "environ", given)
    assert main([str(program)]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_placeholder_is_reported(monkeypatch, capsys, program):
    monkeypatch.setattr(launch_python.os, "environ", environment())
    assert main([str(program), "--to", "${KAFKA_BOTSTRAP}"]) == 2
    assert "argument 2 of orders.py, line 1: unknown placeholder" in capsys.readouterr().err


def test_a_missing_program_is_reported(monkeypatch, capsys, program):
    monkeypatch.setattr(launch_python.os, "environ", environment())
    assert main([str(program.with_name("other.py"))]) == 2
    assert "other.py: [Errno 2] No such file or directory" in capsys.readouterr().err
