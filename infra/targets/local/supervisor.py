# SPDX-License-Identifier: Apache-2.0
"""Start and API of the supervisord that runs the processes of a local stack.

Used by the provider's kinds, which add and remove programs, and by the `lab` command. Files of a stack:

    {root}/supervisor/supervisord.conf, programs/{name}.conf, supervisord.log
    {root}/services/{name}/run, files/, volumes/, scratch/, log
"""

import configparser
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import xmlrpc.client
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import psutil
from supervisor.xmlrpc import Faults, SupervisorTransport

from infra.errors import ServiceError
from infra.targets.launch_script import RUN_VARIABLES, run_variables
from infra.targets.local.log_files import Follower, last_lines, log_tail
from infra.targets.local.memory import memory_mib
from infra.targets.local.process_end import end_processes
from infra.targets.local.supervisor_config import Program, daemon_config, program_config, socket_path
from infra.targets.runtime import State, unknown_program

ROOT_VARIABLE = "LINEAGE_LAB_STACK_ROOT"
"""Environment variable of all processes of a stack; its value is the stack's folder."""

INHERITED_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ")

POLL_SECONDS = 0.2
"""Polling interval of followed logs and running tasks."""

_NOT_STARTED = frozenset({"BACKOFF", "FATAL"})
"""States of a program whose process could not be started, or of a service that failed within its first second."""

_programs_lock = threading.Lock()


def _private_folder(folder: Path) -> None:
    """Create a folder with mode 0700; reject an existing one with another owner or mode."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ServiceError(f"{folder} is not a private folder of this user: remove it, and try again")


def inherited_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the lab's processes inherit from the user's environment.

    Others could change their behaviour: a cloud session token, a proxy for loopback, another Spark installation.
    """
    passed = {name: environment[name] for name in INHERITED_VARIABLES if name in environment}
    return passed | {"NO_PROXY": "127.0.0.1,localhost"}


class Supervisor:
    """The supervisord of one stack, reached over its unix socket; a `Runtime` of processes of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def log_path(self, program: str) -> Path:
        """Return the log file of a program."""
        return self.root / "services" / program / "log"

    def log_location(self, name: str) -> str:
        """Return the path of a program's log."""
        return str(self.log_path(name))

    def log_tail(self, name: str, lines: int = 25) -> str:
        """Return the last lines of a program's log, indented."""
        return log_tail(self.log_path(name), lines)

    def follow(self, name: str, lines: int) -> Iterator[str]:
        """Yield the last lines of a program's log and new ones; a task that never ran has no log yet."""
        log, waiter = self.log_path(name), threading.Event()
        with Follower(log) as follower:
            yield from last_lines(log, lines) if log.exists() else ()
            while True:
                yield from follower.new_lines()
                waiter.wait(POLL_SECONDS)

    def exists(self) -> bool:
        """Return whether supervisord responds."""
        return self.pid() is not None

    def pid(self) -> int | None:
        """Return the process id of supervisord; None if it does not respond."""
        try:
            return int(self._call(lambda api: api.getPID()))
        except ServiceError:
            return None

    def start(self) -> None:
        """Start supervisord, detached and without programs, and wait until it responds.

        Raises:
            ServiceError: it did not respond within 10 s; the message contains the tail of its log.
        """
        folder = self.root / "supervisor"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        (folder / "programs").mkdir()
        _private_folder(socket_path(self.root).parent)
        config = folder / "supervisord.conf"
        config.write_text(daemon_config(self.root), encoding="utf-8")
        output = folder / "output"
        with output.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=folder,
                env=inherited_environment(os.environ) | {ROOT_VARIABLE: str(self.root)},
            )
        for _ in _poll(10):
            if self.pid() is not None:
                return
            if process.poll() is not None:
                break
        raise ServiceError(f"supervisord did not start in {folder}:\n{log_tail(output)}")

    def data(self, name: str, volume: str) -> AbstractContextManager[Path]:
        """Open the folder of a service's volume."""
        return nullcontext(Path(self.volume_location(name, volume)))

    def volume_location(self, name: str, volume: str) -> str:
        """Return the path of a volume."""
        return str(self.root / "services" / name / "volumes" / volume)

    def remove_unmanaged(self, known: Callable[[], set[str]]) -> None:
        """Do nothing: an update replaces programs by name, and a new supervisord terminates orphans."""

    def shut_down(self) -> bool:
        """Stop all programs and supervisord and wait for their end; return True if any process was running."""
        if runs := self.exists():
            self._call(lambda api: api.stopAllProcesses(True))
            self._call(lambda api: api.shutdown())
        orphans = self.terminate_orphans(grace_seconds=20)
        socket_folder = socket_path(self.root).parent
        if not socket_folder.is_relative_to(self.root):
            shutil.rmtree(socket_folder, ignore_errors=True)
        return runs or orphans

    def terminate_orphans(self, grace_seconds: float = 0) -> bool:
        """Terminate orphaned processes of this stack: after `grace_seconds` with SIGTERM, 20 s later with SIGKILL.

        A killed supervisord may leave orphans. They are identified by `ROOT_VARIABLE`, which they inherit from it.

        Returns:
            True if there were any.
        """
        orphans = [process for process in psutil.process_iter(["environ"]) if self._is_of_stack(process)]
        _, alive = psutil.wait_procs(orphans, timeout=grace_seconds)
        end_processes(alive, seconds=20)
        return bool(orphans)

    def _is_of_stack(self, process: psutil.Process) -> bool:
        return (process.info["environ"] or {}).get(ROOT_VARIABLE) == str(self.root)

    def add(self, program: Program) -> None:
        """Add a program whose name is unused; a service starts at once."""
        folder = self.root / "supervisor" / "programs"
        temporary = folder / f"{program.name}.new"
        temporary.write_text(program_config(self.root, program, shutil.which("setpriv") is not None), encoding="utf-8")
        with _programs_lock:  # a partial file would break the other programs
            temporary.rename(folder / f"{program.name}.conf")
            self._call(lambda api: api.reloadConfig())
            self._call(lambda api: api.addProcessGroup(program.name))

    def remove(self, name: str) -> None:
        """Stop and remove a program; does nothing if it does not exist."""
        if self.state(name) is not None:
            self.stop(name)
            self._call(lambda api: api.removeProcessGroup(name))
        with _programs_lock:
            (self.root / "supervisor" / "programs" / f"{name}.conf").unlink(missing_ok=True)
            self._call(lambda api: api.reloadConfig())

    def run(self, name: str) -> None:
        """Start a program; does nothing if it runs.

        Raises:
            ServiceError: it cannot be started. One that was started and failed at once is none: supervisord rejects the
                request also if the program has ended before its response.
        """
        if self._call(lambda api: api.startProcess(name, False), Faults.ALREADY_STARTED, Faults.SPAWN_ERROR):
            return
        state = self.state(name)
        if state is not None and state.status in _NOT_STARTED:
            raise ServiceError(f"{name} cannot be started: {state.explanation}; log: {self.log_path(name)}")

    def run_to_end(
        self, name: str, show: Callable[[str], None] | None = None, variables: Mapping[str, str] | None = None
    ) -> State | None:
        """Start a program and wait for its end; `show` receives each line of its output."""
        waiter = threading.Event()
        file = self.root / "services" / name / "scratch" / RUN_VARIABLES
        file.unlink(missing_ok=True)  # of a run that could not start
        if variables:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(run_variables(variables), encoding="utf-8")
        with Follower(self.log_path(name)) as follower:
            self.run(name)
            while True:
                state = self.state(name)
                for line in follower.new_lines():
                    if show:
                        show(line)
                if state is None or not state.alive:
                    return state
                waiter.wait(POLL_SECONDS)

    def memory(self) -> dict[str, float]:
        """Return the memory of each program and its children, in MiB."""
        return {state.name: memory_mib(state.pid) for state in self.states() if state.pid}

    def stop(self, name: str) -> None:
        """Stop a program and wait for its end."""
        self._call(lambda api: api.stopProcess(name, True), Faults.NOT_RUNNING)

    def states(self) -> list[State]:
        """Return the states of all programs, sorted by name."""
        return sorted(
            (_state_from_info(info) for info in self._call(lambda api: api.getAllProcessInfo())), key=lambda s: s.name
        )

    def state(self, name: str) -> State | None:
        """Return a program's state; None if it does not exist."""
        info = self._call(lambda api: api.getProcessInfo(name), Faults.BAD_NAME)
        return None if info is None else _state_from_info(info)

    def require_state(self, name: str) -> State:
        """Return a program's state.

        Raises:
            ServiceError: the program does not exist; the message lists the existing ones.
        """
        state = self.state(name)
        if state is None:
            raise unknown_program(name, self.states())
        return state

    def is_service(self, name: str) -> bool:
        """Return True for a service, False for a task.

        Raises:
            ServiceError: its configuration cannot be read.
        """
        path = self.root / "supervisor" / "programs" / f"{name}.conf"
        config = configparser.ConfigParser(interpolation=None)
        try:
            config.read_string(path.read_text(encoding="utf-8"))
            return config.getboolean(f"program:{name}", "autostart")
        except (OSError, configparser.Error, ValueError) as error:
            raise ServiceError(f"{path} cannot be read ({error}); `pulumi up --refresh` rewrites it") from error

    def _call(self, request: Callable[[Any], Any], *harmless: int) -> Any:  # noqa: ANN401
        """Call the XML-RPC API over a new connection, as the transport is not thread-safe.

        Returns None for a fault with one of the codes `harmless`.
        """
        transport = SupervisorTransport(None, None, f"unix://{socket_path(self.root)}")
        try:
            return request(xmlrpc.client.ServerProxy("http://lab", transport=transport).supervisor)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode in harmless:
                return None
            raise ServiceError(f"supervisord of {self.root} rejected the request: {fault.faultString}") from fault
        except (OSError, xmlrpc.client.ProtocolError) as error:
            raise ServiceError(
                f"supervisord of {self.root} does not respond ({error}); `pulumi up --refresh` restarts it"
            ) from error
        finally:
            transport.close()


def _state_from_info(info: dict[str, Any]) -> State:
    return State(
        name=info["name"],
        status=info["statename"],
        pid=info["pid"],
        started=info["start"],
        exit_status=info["exitstatus"],
        explanation=re.sub(r"\s+", " ", info["spawnerr"] or info["description"]),
    )


def _poll(seconds: float) -> Iterator[None]:
    waiter = threading.Event()
    for _ in range(int(seconds * 10)):
        yield
        waiter.wait(0.1)
