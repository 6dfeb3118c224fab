# SPDX-License-Identifier: Apache-2.0
"""Following log files."""

from infra.provider.kind import OperationContext
from infra.targets.local.inputs import ProcessInputs
from infra.targets.local.kinds.process import ProcessKind
from infra.targets.local.log_files import Follower, last_lines, rotate
from infra.targets.local.supervisor import Supervisor


def test_an_update_keeps_the_logs_of_the_programs_before(tmp_path, monkeypatch):
    for name in ("remove", "add"):
        monkeypatch.setattr(Supervisor, name, lambda *_: None)
    fixed = {"files": {}, "volumes": [], "stop_seconds": 1, "fingerprint": "", "revision": ""}
    inputs = ProcessInputs(root=str(tmp_path), program="etl", script="exit 0", is_service=False, **fixed)
    log = tmp_path / "services" / "etl" / "log"
    log.parent.mkdir(parents=True)
    for text in ("one", "two", "three"):
        log.write_text(text)
        ProcessKind().create(inputs, OperationContext())
    assert {path.name: path.read_text() for path in log.parent.glob("log*")} == {"log.1": "three", "log.2": "two"}


def test_an_empty_log_replaces_no_backup(tmp_path):
    log, backup = tmp_path / "log", tmp_path / "log.1"
    backup.write_text("kept")
    rotate(log)
    log.touch()
    rotate(log)
    assert backup.read_text() == "kept"


def test_follower_yields_only_complete_appended_lines(tmp_path):
    log = tmp_path / "log"
    log.write_text("old\n")
    with Follower(log) as follower, log.open("a") as file:
        assert list(follower.new_lines()) == []
        file.write("one\ntw")
        file.flush()
        assert list(follower.new_lines()) == ["one"]
        file.write("o\n")
        file.flush()
        assert list(follower.new_lines()) == ["two"]


def test_follower_reads_a_new_log_from_its_beginning(tmp_path):
    log = tmp_path / "log"
    with Follower(log) as follower:
        assert list(follower.new_lines()) == []
        log.write_text("first\n")
        assert list(follower.new_lines()) == ["first"]


def test_follower_loses_no_line_at_rotation_or_removal(tmp_path):
    log = tmp_path / "log"
    log.write_text("old\n")
    with Follower(log) as follower:
        with log.open("a") as file:
            file.write("before\n")
        log.rename(tmp_path / "log.1")
        log.write_text("after\n")
        assert list(follower.new_lines()) == ["before", "after"]
        log.unlink()
        assert list(follower.new_lines()) == []
        log.write_text("second\n")
        assert list(follower.new_lines()) == ["second"]


def test_last_lines_of_a_long_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert last_lines(log, 2) == ["line 99998", "line 99999"]
