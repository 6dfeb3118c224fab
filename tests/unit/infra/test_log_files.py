# SPDX-License-Identifier: Apache-2.0
"""Following a log that is a file."""

from infra.targets.local.log_files import Follower, last_lines


def test_only_what_is_appended_is_read_and_only_whole_lines(tmp_path):
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


def test_a_log_that_is_not_there_yet_is_read_from_its_beginning(tmp_path):
    log = tmp_path / "log"
    with Follower(log) as follower:
        assert list(follower.new_lines()) == []
        log.write_text("first\n")
        assert list(follower.new_lines()) == ["first"]


def test_nothing_is_lost_when_a_log_is_rotated_or_removed(tmp_path):
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
        log.write_text("anew\n")
        assert list(follower.new_lines()) == ["anew"]


def test_the_last_lines_are_the_last_of_a_long_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert last_lines(log, 2) == ["line 99998", "line 99999"]
