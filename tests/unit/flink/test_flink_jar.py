# SPDX-License-Identifier: Apache-2.0
"""Jars as jobs: what they are told, what makes another job of them, what is known of their columns."""

import pytest

from jobs.flink import launch_jar
from jobs.flink.launch_jar import ARGUMENTS, JarJob, main

ENVIRONMENT = {"KAFKA_BOOTSTRAP": "127.0.0.1:9092", "SCHEMA_REGISTRY_URL": "http://127.0.0.1:8081"}


@pytest.fixture
def jar(tmp_path):
    path = tmp_path / "job.jar"
    path.write_bytes(b"classes")
    return path


def job(jar, *arguments, name="supplier_windows"):
    return JarJob(name, jar, arguments, "http://127.0.0.1:1")


def test_a_job_is_another_one_when_its_jar_or_its_arguments_change(jar):
    first = job(jar, "--a", "b").identity
    assert job(jar, "--a", "b").identity == first
    assert job(jar, "--a b").identity != first
    jar.write_bytes(b"other classes")
    assert job(jar, "--a", "b").identity != first


def test_supplier_windows_is_told_where_everything_is():
    arguments = ARGUMENTS["supplier_windows"](ENVIRONMENT)
    told = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert told == {
        "--name": "supplier_windows",
        "--bootstrap": "127.0.0.1:9092",
        "--registry": "http://127.0.0.1:8081",
        "--orders": "orders",
        "--windows": "supplier-windows",
    }


def test_declared_columns_are_what_is_known(jar):
    described = job(jar).describe()
    assert [output["name"] for output in described.outputs] == ["supplier-windows"]
    assert "columnLineage" in described.outputs[0]["facets"]
    assert described.definition == job(jar).identity


def test_a_jar_that_declares_nothing_is_known_by_its_listener_alone(jar):
    described = job(jar, name="nobody_s").describe()
    assert (described.inputs, described.outputs) == ([], [])


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "KAFKA_BOOTSTRAP is not in the environment"),
        (ENVIRONMENT, "FLINK_JOB_JAR is not in the environment"),
        ({**ENVIRONMENT, "FLINK_JOB_JAR": "/nowhere.jar", "FLINK_URL": "http://x"}, "its jar cannot be read"),
    ],
)
def test_what_is_missing_is_said(monkeypatch, capsys, environment, message):
    monkeypatch.setattr(launch_jar.os, "environ", environment)
    assert main(["supplier_windows"]) == 2
    assert message in capsys.readouterr().err
