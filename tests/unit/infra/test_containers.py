# SPDX-License-Identifier: Apache-2.0
"""Parsing of the daemon's responses: states, memory, log lines. `test_runtime.py` uses a real daemon."""

import pytest

from infra.targets.docker.container_state import parse_state, used_memory_mib
from infra.targets.labels import PART_LABEL, ROLE_LABEL
from infra.targets.runtime import split_lines

NEVER = "0001-01-01T00:00:00Z"


def inspected(status, *, role="service", policy="unless-stopped", started="2026-01-31T12:00:00.5Z", **state):
    """Return the output of `docker inspect` for a container, with the fields that are parsed."""
    return {
        "State": {"Status": status, "Pid": 0, "ExitCode": 0, "Error": "", "OOMKilled": False, "StartedAt": started}
        | state,
        "Config": {"Labels": {PART_LABEL: "kafka", ROLE_LABEL: role}},
        "HostConfig": {"RestartPolicy": {"Name": policy}, "Memory": 512 * 2**20},
    }


@pytest.mark.parametrize(
    ("inspection", "status"),
    [
        (inspected("running"), "RUNNING"),
        (inspected("running", Health={"Status": "none"}), "RUNNING"),
        (inspected("running", Health={"Status": "healthy"}), "RUNNING"),
        (inspected("running", Health={"Status": "starting"}), "STARTING"),
        (inspected("running", Health={"Status": "unhealthy", "Log": None}), "UNHEALTHY"),
        (inspected("paused"), "PAUSED"),
        (inspected("restarting", ExitCode=1), "BACKOFF"),
        (inspected("removing"), "STOPPING"),
        (inspected("dead"), "FATAL"),
        (inspected("created"), "STOPPED"),
        (inspected("created", Error="port is already allocated"), "FATAL"),
        (inspected("something new"), "UNKNOWN"),
    ],
)
def test_docker_states_map_to_the_labs_statuses(inspection, status):
    assert parse_state(inspection).status == status


@pytest.mark.parametrize(
    ("inspection", "status"),
    [
        (inspected("exited"), "STOPPED"),
        (inspected("exited", ExitCode=143), "STOPPED"),
        (inspected("exited", ExitCode=1), "FATAL"),
        (inspected("exited", ExitCode=137, OOMKilled=True), "FATAL"),
        (inspected("exited", ExitCode=137, role="task"), "FATAL"),
        (inspected("exited", policy="on-failure"), "EXITED"),
        (inspected("exited", policy="on-failure", ExitCode=143), "STOPPED"),
        (inspected("exited", role="task", policy="no"), "EXITED"),
        (inspected("exited", role="task", policy="no", ExitCode=143), "EXITED"),
    ],
)
def test_the_exit_status_distinguishes_stopped_from_failed_services(inspection, status):
    assert parse_state(inspection).status == status


def test_a_container_that_never_ran_has_start_time_zero():
    assert parse_state(inspected("created", started=NEVER)).started == 0
    assert parse_state(inspected("exited")).started == 1769860800


@pytest.mark.parametrize(
    ("inspection", "explanation"),
    [
        (inspected("exited", OOMKilled=True, ExitCode=137), "out of memory (its limit is 512 MiB)"),
        (
            inspected("exited", ExitCode=137, role="task"),
            "killed by a user, or out of memory (its limit is 512 MiB)",
        ),
        (inspected("exited", ExitCode=137), ""),  # `docker stop` of a service that ignores SIGTERM
        (inspected("restarting", ExitCode=4), "exit status 4"),
        (inspected("created", Error="no such program"), "no such program"),
        (
            inspected("running", Health={"Status": "unhealthy", "Log": [{"Output": "a"}, {"Output": "b\n c"}]}),
            "b c",
        ),
        (inspected("running", OOMKilled=True), ""),  # long ago: it runs again
    ],
)
def test_unhealthy_states_have_an_explanation(inspection, explanation):
    assert parse_state(inspection).explanation == explanation


def test_lines_do_not_depend_on_chunk_boundaries():
    assert list(split_lines(iter([b"on", b"e\ntwo\r\nth", b"", b"ree"]))) == ["one", "two", "three"]
    assert list(split_lines(iter([]))) == []


def test_reclaimable_page_cache_does_not_count_as_memory():
    both = 3 * 2**20
    assert used_memory_mib({"usage": both, "stats": {"total_inactive_file": 2**20, "inactive_file": 5}}) == 2
    assert used_memory_mib({"usage": both, "stats": {"inactive_file": 2**20}}) == 2
    assert used_memory_mib({}) == 0
