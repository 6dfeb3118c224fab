# SPDX-License-Identifier: Apache-2.0
"""Configuration of supervisord and its programs, and the path of its socket."""

import configparser
from pathlib import Path

import pytest

from infra.errors import ServiceError
from infra.targets.local.log_files import log_tail
from infra.targets.local.supervisor import Supervisor, inherited_environment
from infra.targets.local.supervisor_config import (
    MAX_SOCKET_PATH_BYTES,
    Program,
    daemon_config,
    program_config,
    socket_path,
)


def parsed(text):
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return parser


def test_socket_path_is_private_and_short_for_long_folders():
    short = Path("/home/me/lab/.lab/dev")
    long = Path("/home/me") / ("deep/" * 30) / ".lab/dev"
    assert socket_path(short).is_relative_to(short)
    assert len(str(socket_path(long))) <= MAX_SOCKET_PATH_BYTES
    assert socket_path(long) != socket_path(long / "other")
    assert parsed(daemon_config(short))["unix_http_server"]["chmod"] == "0600"


def test_autostart_and_autorestart_of_services_and_tasks():
    service = parsed(program_config(Path("/lab"), Program("kafka", True, 45), True))["program:kafka"]
    task = parsed(program_config(Path("/lab"), Program("job", False), True))["program:job"]
    assert (service["autostart"], service["autorestart"]) == ("true", "true")
    assert service["stopwaitsecs"] == "45"
    assert (task["autostart"], task["autorestart"]) == ("false", "false")
    may_exit = parsed(program_config(Path("/lab"), Program("job", True, restart="on_failure"), True))["program:job"]
    assert (may_exit["autostart"], may_exit["autorestart"]) == ("true", "unexpected")


def test_stop_signal_is_also_the_parent_death_signal():
    section = parsed(program_config(Path("/lab"), Program("p", True, stop_signal="INT"), True))["program:p"]
    assert section["stopsignal"] == "INT"
    assert section["command"].startswith("setpriv --pdeathsig INT -- ")


def test_setpriv_is_used_only_if_available():
    with_signal = parsed(program_config(Path("/lab"), Program("p", True), True))["program:p"]["command"]
    without = parsed(program_config(Path("/lab"), Program("p", True), False))["program:p"]["command"]
    assert with_signal == f"setpriv --pdeathsig TERM -- {without}"


def test_socket_path_does_not_depend_on_tmpdir(monkeypatch):
    long = Path("/home/me") / ("deep/" * 30) / ".lab/dev"
    first = socket_path(long)
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    assert socket_path(long) == first


def test_only_listed_variables_are_inherited():
    user = {"PATH": "/bin", "HOME": "/h", "AWS_SESSION_TOKEN": "t", "SPARK_HOME": "/s", "http_proxy": "p"}
    assert inherited_environment(user) == {"PATH": "/bin", "HOME": "/h", "NO_PROXY": "127.0.0.1,localhost"}


def test_log_tail_returns_the_last_lines_or_a_note(tmp_path):
    log = tmp_path / "log"
    assert "never started" in log_tail(log)
    log.write_text("")
    assert "is empty" in log_tail(log)
    log.write_text("\n".join(f"line {n}" for n in range(100)) + "\n\n")
    assert log_tail(log, 2) == "  line 98\n  line 99"


@pytest.mark.parametrize("is_service", [True, False])
def test_is_service_reads_the_program_configuration(tmp_path, is_service):
    programs = tmp_path / "supervisor" / "programs"
    programs.mkdir(parents=True)
    (programs / "one.conf").write_text(program_config(tmp_path, Program("one", is_service), death_signal=True))
    assert Supervisor(tmp_path).is_service("one") is is_service


def test_missing_program_configuration_is_reported(tmp_path):
    with pytest.raises(ServiceError, match=r"one\.conf cannot be read"):
        Supervisor(tmp_path).is_service("one")
