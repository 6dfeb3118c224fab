# SPDX-License-Identifier: Apache-2.0
"""Cause of a JobManager's end, as its output says it."""

import subprocess

import pytest

from lineagelab_flink.application_cluster import JobManagerOutput

FATAL = "2026-11-29 ERROR Fatal error occurred in the cluster entrypoint. (ClusterEntrypoint)"


def failure(text, tmp_path):
    file = tmp_path / "log"
    file.write_text(text)
    process = subprocess.Popen(["cat", file], stdout=subprocess.PIPE)
    output = JobManagerOutput(process)
    process.wait()
    return output.failure(1)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"{FATAL}\norg.Some: outer\n\tat a\nCaused by: java.lang.Own: inner\n\tat b\n", ": Own: inner"),
        (f"Caused by: java.lang.Earlier: checkpoint\n{FATAL}\njava.lang.Own: inner\n", ": Own: inner"),
        ("Caused by: java.lang.Earlier: checkpoint\n", "; its log says why"),
        ("", "; its log says why"),
    ],
)
def test_the_cause_is_that_of_the_fatal_error(text, cause, tmp_path):
    assert failure(text, tmp_path) == f"the JobManager ended with exit code 1{cause}"


def test_the_output_is_copied(capfdbinary, tmp_path):
    failure(f"one\n{FATAL}\ntwo\n", tmp_path)
    assert capfdbinary.readouterr().out == f"one\n{FATAL}\ntwo\n".encode()
