# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError, Cancelled
from infra.toolchain.process import Command, Runner, sigterm_as_keyboard_interrupt


def command(cache: Cache, script: str, **env: str) -> Command:
    return Command(
        arguments=[sys.executable, "-c", script],
        attempt="Trying it",
        remedy="try again",
        log=cache.log("test"),
        env=env,
    )


def test_output_is_logged_and_passed_on_by_line(cache: Cache, runner: Runner) -> None:
    lines: list[str] = []
    script = "import os, sys; print('one'); print(file=sys.stderr); print(os.environ['EXTRA'], os.environ['TMPDIR'])"
    runner.run(command(cache, script, EXTRA="two"), lines.append)
    assert lines == ["one", f"two {cache.tmp}"]
    assert cache.log("test").read_text() == f"one\n\ntwo {cache.tmp}\n"


def test_error_of_a_failed_command_shows_the_end_of_its_output_and_the_log(cache: Cache, runner: Runner) -> None:
    with pytest.raises(ArtifactError) as raised:
        runner.run(command(cache, "for i in range(50): print('line', i)\nraise SystemExit(3)"))
    text = str(raised.value)
    assert text.startswith("Trying it: ")
    assert "exited with status 3" in text
    assert str(cache.log("test")) in text
    assert "  | line 49" in text
    assert "line 30" not in text
    assert text.endswith("Remedy: try again")
    assert len(text.splitlines()) < 24


def test_missing_program_is_reported(cache: Cache, runner: Runner, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="cannot run /nowhere/mvn"):
        runner.run(Command(arguments=["/nowhere/mvn"], attempt="Trying it", remedy="install it", log=cache.log("test")))


def test_stop_terminates_a_command_with_its_children(cache: Cache, runner: Runner) -> None:
    script = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)\n"
        "print(child.pid, flush=True); child.wait()"
    )
    pids: list[int] = []
    started = threading.Event()

    def on_line(line: str) -> None:
        pids.append(int(line))
        started.set()

    raised: list[BaseException] = []

    def work() -> None:
        try:
            runner.run(command(cache, script), on_line)
        except Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(60)
    runner.stop()
    thread.join(60)
    assert len(raised) == 1
    assert _ends(pids[0])
    with pytest.raises(Cancelled):
        runner.run(command(cache, "print('never')"))


def test_error_in_the_callback_terminates_the_command(cache: Cache, runner: Runner) -> None:
    pids: list[int] = []

    def on_line(line: str) -> None:
        pids.append(int(line))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(command(cache, "import os; print(os.getpid(), flush=True); input()"), on_line)
    assert _ends(pids[0])


def test_sigterm_raises_keyboard_interrupt() -> None:
    before = signal.getsignal(signal.SIGTERM)

    def terminated() -> None:
        with sigterm_as_keyboard_interrupt():
            os.kill(os.getpid(), signal.SIGTERM)
            threading.Event().wait(60)

    with pytest.raises(KeyboardInterrupt):
        terminated()
    assert signal.getsignal(signal.SIGTERM) == before


def _ends(pid: int) -> bool:
    """Return True if a process, not a child of this one, exits within 60 s."""
    deadline = time.monotonic() + 60
    while _alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _alive(pid: int) -> bool:
    """Return True if a process runs; a zombie that init has not reaped does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
