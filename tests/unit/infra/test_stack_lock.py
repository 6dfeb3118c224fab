# SPDX-License-Identifier: Apache-2.0
"""Lock of a stack: a second command is refused, a killed one leaves none."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from infra.cli import stack_lock
from infra.cli.__main__ import app
from infra.cli.stack_lock import changing
from infra.errors import LabError
from infra.project import PROJECT

HOLD = "import sys; from pathlib import Path; from infra.cli.stack_lock import changing\n"
HOLD += "with changing('one', Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of stack `one`."""
    arguments = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(arguments, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_command_is_refused_and_names_the_first_one(tmp_path, holder):
    refused = f"another command changes stack one: process {holder.pid}, .* nothing was changed"
    with pytest.raises(LabError, match=refused), changing("one", tmp_path):
        pytest.fail("both hold the lock")


def test_another_stack_is_not_locked(tmp_path, holder):
    with changing("two", tmp_path):
        assert holder.poll() is None


def test_a_killed_command_leaves_no_lock(tmp_path, holder):
    holder.kill()
    holder.wait()
    for _ in range(2):
        with changing("one", tmp_path):
            pass


def test_two_processes_never_hold_one_lock(tmp_path):
    """Each appends a line when it enters and when it leaves; refused ones try again."""
    script = (
        "import sys; from pathlib import Path\n"
        "from infra.cli.stack_lock import changing; from infra.errors import LabError\n"
        "folder, log = Path(sys.argv[1]), Path(sys.argv[2]); done = 0\n"
        "while done < 40:\n"
        "    try:\n"
        "        with changing('one', folder):\n"
        "            for word in ('in', 'out'):\n"
        "                with log.open('a') as file: file.write(word + chr(10))\n"
        "            done += 1\n"
        "    except LabError: pass\n"
    )
    log = tmp_path / "log"
    arguments = [sys.executable, "-c", script, str(tmp_path / "state" / "locks"), str(log)]
    processes = [subprocess.Popen(arguments, cwd=PROJECT) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert log.read_text().split() == ["in", "out"] * 120


def test_a_lock_leaves_no_file(tmp_path):
    with changing("one", tmp_path / "state" / "locks"):
        assert (tmp_path / "state" / "locks" / "one.lock").exists()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_other_locks_stays(tmp_path):
    with changing("one", tmp_path / "state" / "locks"):
        with changing("two", tmp_path / "state" / "locks"):
            pass
        assert [path.name for path in (tmp_path / "state" / "locks").iterdir()] == ["one.lock"]


def test_an_error_releases_the_lock(tmp_path):
    with pytest.raises(ValueError, match="broken"), changing("one", tmp_path):
        raise ValueError("broken")
    with changing("one", tmp_path):
        pass


@pytest.mark.parametrize("command", ["up", "down", "reset"])
def test_commands_that_change_a_lab_take_the_lock(command, tmp_path, monkeypatch):
    """Nothing but the lock is touched: the stack has no configuration."""
    monkeypatch.setattr(stack_lock.changing.__wrapped__, "__defaults__", (tmp_path,))
    with changing("locked", tmp_path):
        result = CliRunner().invoke(app, [command, "--stack", "locked"])
    assert result.exit_code == 1
    assert "another command changes stack locked" in result.output
