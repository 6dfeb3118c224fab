# SPDX-License-Identifier: Apache-2.0
"""One supervisord per stack: it keeps the local lab's processes running. Its start, and its API.

Used by the provider's kinds, which add and remove programs, and by the `lab` command, which starts, stops and
looks. Everything of a stack lies in one folder:

    {root}/supervisor/supervisord.conf, programs/{name}.conf, supervisord.log
    {root}/services/{name}/run, files/, volumes/, scratch/, log
"""

import configparser
import os
import re
import shutil
import signal
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
from infra.targets.local.log_files import Follower, last_lines, log_tail
from infra.targets.local.memory import memory_mib
from infra.targets.local.supervisor_config import Program, daemon_config, program_config, socket_path
from infra.targets.runtime import State, unknown_program

ROOT_VARIABLE = "LINEAGE_LAB_STACK_ROOT"
"""Environment variable that all processes of a stack carry: its folder."""

INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ")

POLL_SECONDS = 0.2
"""How often a log is looked at, and the state of a task that is waited for."""

_programs = threading.Lock()


def _private_folder(folder: Path) -> None:
    """Makes a folder that only this user can enter; refuses one that somebody else put there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ServiceError(f"{folder} is not a private folder of this user: remove it, and try again")


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What the lab's processes may take over from the user's environment.

    Anything else could change what they do: another cloud's session token beside the lab's keys, a proxy
    before loopback, a Spark of the user's own.
    """
    kept = {name: environment[name] for name in INHERITED if name in environment}
    return kept | {"NO_PROXY": "127.0.0.1,localhost"}


class Supervisor:
    """The supervisord of one stack, reached over its unix socket; a `Runtime` of processes of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def log_of(self, program: str) -> Path:
        """Where a program's output goes."""
        return self.root / "services" / program / "log"

    def log_location(self, name: str) -> str:
        """The path of a program's log."""
        return str(self.log_of(name))

    def log_tail(self, name: str, lines: int = 25) -> str:
        """The end of a program's log, indented."""
        return log_tail(self.log_of(name), lines)

    def follow(self, name: str, lines: int) -> Iterator[str]:
        """The end of a program's log and all that comes; a task that never ran has none yet."""
        log, waiter = self.log_of(name), threading.Event()
        with Follower(log) as follower:
            yield from last_lines(log, lines) if log.exists() else ()
            while True:
                yield from follower.new_lines()
                waiter.wait(POLL_SECONDS)

    def exists(self) -> bool:
        """Whether supervisord answers."""
        return self.pid() is not None

    def pid(self) -> int | None:
        """Process id of the running supervisord; None where it does not answer."""
        try:
            return int(self._ask(lambda api: api.getPID()))
        except ServiceError:
            return None

    def start(self) -> None:
        """Starts supervisord, detached, without programs, and waits until it answers.

        Raises:
            ServiceError: it did not; its log's tail is in the text.
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
                env=inherited(os.environ) | {ROOT_VARIABLE: str(self.root)},
            )
        for _ in _poll(10):
            if self.pid() is not None:
                return
            if process.poll() is not None:
                break
        raise ServiceError(f"supervisord did not start in {folder}:\n{log_tail(output)}")

    def data(self, name: str, volume: str) -> AbstractContextManager[Path]:
        """The folder of a service's volume itself."""
        return nullcontext(Path(self.volume_location(name, volume)))

    def volume_location(self, name: str, volume: str) -> str:
        """Its path."""
        return str(self.root / "services" / name / "volumes" / volume)

    def remove_unmanaged(self, known: Callable[[], set[str]]) -> None:
        """Nothing: a program's name is freed by the update that wants it, and strays end with a new supervisord."""

    def shut_down(self) -> bool:
        """Stops every program and supervisord itself, and waits until all are gone; says whether there were any."""
        if runs := self.exists():
            self._ask(lambda api: api.stopAllProcesses(True))
            self._ask(lambda api: api.shutdown())
        strays = self.end_orphans(patience=20)
        short = socket_path(self.root).parent
        if not short.is_relative_to(self.root):
            shutil.rmtree(short, ignore_errors=True)
        return runs or strays

    def end_orphans(self, patience: float = 0) -> bool:
        """Ends what is left of this stack's processes: after `patience` seconds with SIGTERM, then SIGKILL.

        Returns whether there were any.

        They are told by a variable in their environment that supervisord hands down; a supervisord that was
        killed may leave some behind.
        """
        strays = [process for process in psutil.process_iter(["environ"]) if self._owns(process)]
        _, alive = psutil.wait_procs(strays, timeout=patience)
        for process in alive:
            _signal(process, signal.SIGTERM)
        _, alive = psutil.wait_procs(alive, timeout=20)
        for process in alive:
            _signal(process, signal.SIGKILL)
        psutil.wait_procs(alive, timeout=5)
        return bool(strays)

    def _owns(self, process: psutil.Process) -> bool:
        return (process.info["environ"] or {}).get(ROOT_VARIABLE) == str(self.root)

    def add(self, program: Program) -> None:
        """Hands over a program whose name is free; a service is started by that."""
        folder = self.root / "supervisor" / "programs"
        beside = folder / f"{program.name}.new"
        beside.write_text(program_config(self.root, program, shutil.which("setpriv") is not None), encoding="utf-8")
        with _programs:  # one half-written file would break the others
            beside.rename(folder / f"{program.name}.conf")
            self._ask(lambda api: api.reloadConfig())
            self._ask(lambda api: api.addProcessGroup(program.name))

    def remove(self, name: str) -> None:
        """Stops a program and forgets it; harmless where there is none."""
        if self.state(name) is not None:
            self.stop(name)
            self._ask(lambda api: api.removeProcessGroup(name))
        with _programs:
            (self.root / "supervisor" / "programs" / f"{name}.conf").unlink(missing_ok=True)
            self._ask(lambda api: api.reloadConfig())

    def run(self, name: str) -> None:
        """Starts a program that is not running."""
        self._ask(lambda api: api.startProcess(name, False), Faults.ALREADY_STARTED)

    def run_to_end(self, name: str, show: Callable[[str], None] | None = None) -> State | None:
        """Starts a program and waits until it is gone; `show` gets each line that it prints, as it does."""
        waiter = threading.Event()
        with Follower(self.log_of(name)) as follower:
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
        """What each program and its children take, in MiB."""
        return {state.name: memory_mib(state.pid) for state in self.states() if state.pid}

    def stop(self, name: str) -> None:
        """Stops a program and waits until it is gone."""
        self._ask(lambda api: api.stopProcess(name, True), Faults.NOT_RUNNING)

    def states(self) -> list[State]:
        """Every program's state, by name."""
        return sorted((_state(info) for info in self._ask(lambda api: api.getAllProcessInfo())), key=lambda s: s.name)

    def state(self, name: str) -> State | None:
        """A program's state; None where supervisord does not know it."""
        info = self._ask(lambda api: api.getProcessInfo(name), Faults.BAD_NAME)
        return None if info is None else _state(info)

    def require_state(self, name: str) -> State:
        """The state of a program that is meant to be there.

        Raises:
            ServiceError: it is not; the text has the names of those that are.
        """
        state = self.state(name)
        if state is None:
            raise unknown_program(name, self.states())
        return state

    def is_service(self, name: str) -> bool:
        """Whether a program that is there is a service, rather than a task.

        Raises:
            ServiceError: its configuration cannot be read.
        """
        path = self.root / "supervisor" / "programs" / f"{name}.conf"
        config = configparser.ConfigParser(interpolation=None)
        try:
            config.read_string(path.read_text(encoding="utf-8"))
            return config.getboolean(f"program:{name}", "autostart")
        except (OSError, configparser.Error, ValueError) as error:
            raise ServiceError(f"{path} cannot be read ({error}); `pulumi up --refresh` makes it anew") from error

    def _ask(self, question: Callable[[Any], Any], harmless: int | None = None) -> Any:  # noqa: ANN401
        """Asks over a connection of its own, as the transport is not made for several threads.

        A fault of the code `harmless` gives None.
        """
        transport = SupervisorTransport(None, None, f"unix://{socket_path(self.root)}")
        try:
            return question(xmlrpc.client.ServerProxy("http://lab", transport=transport).supervisor)
        except xmlrpc.client.Fault as fault:
            if harmless is not None and fault.faultCode == harmless:
                return None
            raise ServiceError(f"supervisord of {self.root} refused: {fault.faultString}") from fault
        except (OSError, xmlrpc.client.ProtocolError) as error:
            raise ServiceError(
                f"supervisord of {self.root} does not answer ({error}); `pulumi up --refresh` starts it again"
            ) from error
        finally:
            transport.close()


def _state(info: dict[str, Any]) -> State:
    return State(
        name=info["name"],
        status=info["statename"],
        pid=info["pid"],
        started=info["start"],
        exit_status=info["exitstatus"],
        explanation=re.sub(r"\s+", " ", info["spawnerr"] or info["description"]),
    )


def _signal(process: psutil.Process, number: int) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return  # it went by itself in the meantime


def _poll(seconds: float) -> Iterator[None]:
    waiter = threading.Event()
    for _ in range(int(seconds * 10)):
        yield
        waiter.wait(0.1)
