# SPDX-License-Identifier: Apache-2.0
"""One supervisord per stack: it keeps the local lab's processes running. Configuration, start, and its API.

Used by the provider's kinds, which add and remove programs, and by the `lab` command, which starts, stops and
looks. Everything of a stack lies in one folder:

    {root}/supervisor/supervisord.conf, programs/{name}.conf, supervisord.log
    {root}/services/{name}/run, files/, volumes/, scratch/, log
"""

import configparser
import hashlib
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
from supervisor.xmlrpc import Faults, SupervisorTransport

from infra.errors import ServiceError

LONGEST_SOCKET_PATH = 100
"""AF_UNIX paths end at 104 to 108 bytes, and supervisord appends a suffix while it binds."""

ROOT_VARIABLE = "LINEAGE_LAB_STACK_ROOT"
"""Environment variable that all processes of a stack carry: its folder."""

INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ")

_programs = threading.Lock()


@dataclass(frozen=True)
class Program:
    """A program as supervisord sees it.

    Attributes:
        name: unique in the stack.
        stays: True for a service (started at once, restarted when it ends), False for a task (started on
            request, runs to its end).
        stop_seconds: time between `stop_signal` and SIGKILL.
        stop_signal: what asks it to stop, as supervisord names signals.
        restart: of a service: `always`, or `on_failure` where it may end well and is then left alone.
    """

    name: str
    stays: bool
    stop_seconds: int = 30
    stop_signal: str = "TERM"
    restart: Literal["always", "on_failure"] = "always"


@dataclass(frozen=True)
class State:
    """A program's state: supervisord's own word for it, the process id (0: none), start time, exit status."""

    name: str
    word: str
    pid: int
    started: int
    exit_status: int
    explanation: str

    @property
    def running(self) -> bool:
        return self.word == "RUNNING"

    @property
    def ended(self) -> bool:
        """It ran, or tried to, and is not running now."""
        return self.word in {"EXITED", "BACKOFF", "FATAL", "UNKNOWN"}


def socket_path(root: Path) -> Path:
    """The control socket of a stack: in its folder, or in a short private one where that path is too long.

    The short one does not hang on TMPDIR: whoever comes later, from another shell, must find it too.
    """
    beside = root / "supervisor" / "control.sock"
    if len(os.fsencode(beside)) <= LONGEST_SOCKET_PATH:
        return beside
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return Path("/tmp") / f"lineage-lab-{os.getuid()}-{digest}" / "control.sock"


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


def daemon_config(root: Path) -> str:
    """supervisord's own configuration."""
    folder = root / "supervisor"
    user = "user=root\n" if os.getuid() == 0 else ""  # without it a warning at each start
    return f"""[unix_http_server]
file={socket_path(root)}
chmod=0600

[supervisord]
logfile={folder / "supervisord.log"}
logfile_maxbytes=5MB
logfile_backups=1
pidfile={folder / "supervisord.pid"}
childlogdir={folder}
{user}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface

[include]
files={folder / "programs"}/*.conf
"""


def program_config(root: Path, program: Program, death_signal: bool) -> str:
    """One program's section. With `death_signal`, the kernel ends the program if supervisord is killed:
    else its successor could not start it again, as its ports would be taken."""
    folder = root / "services" / program.name
    wrapper = f"setpriv --pdeathsig {program.stop_signal} -- " if death_signal else ""
    stays = "true" if program.stays else "false"
    return f"""[program:{program.name}]
command={wrapper}/bin/sh "{folder / "run"}"
directory={folder}
autostart={stays}
autorestart={_autorestart(program)}
startsecs={1 if program.stays else 0}
startretries={100 if program.stays else 0}
stopsignal={program.stop_signal}
stopwaitsecs={program.stop_seconds}
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile={folder / "log"}
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=2
"""


def _autorestart(program: Program) -> str:
    """supervisord's word; what it expects is exit code 0."""
    if not program.stays:
        return "false"
    return "unexpected" if program.restart == "on_failure" else "true"


def log_tail(log: Path, lines: int = 25) -> str:
    """The last lines of a log, each indented by two; says so where there are none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 64 * 1024))
            text = file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return f"  ({log} does not exist: it never started)"
    last = [line for line in text.splitlines() if line.strip()][-lines:]
    return "\n".join(f"  {line[:400]}" for line in last) or f"  ({log} is empty)"


class Supervisor:
    """The supervisord of one stack, reached over its unix socket."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def log_of(self, program: str) -> Path:
        """Where a program's output goes."""
        return self.root / "services" / program / "log"

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
        for _ in _tenths(10):
            if self.pid() is not None:
                return
            if process.poll() is not None:
                break
        raise ServiceError(f"supervisord did not start in {folder}:\n{log_tail(output)}")

    def shut_down(self) -> None:
        """Stops every program and supervisord itself, and waits until all are gone."""
        if self.pid() is not None:
            self._ask(lambda api: api.stopAllProcesses(True))
            self._ask(lambda api: api.shutdown())
        self.end_strays(patience=20)
        short = socket_path(self.root).parent
        if not short.is_relative_to(self.root):
            shutil.rmtree(short, ignore_errors=True)

    def end_strays(self, patience: float = 0) -> None:
        """Ends what is left of this stack's processes: after `patience` seconds with SIGTERM, then SIGKILL.

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

    def known(self, name: str) -> State:
        """The state of a program that is meant to be there.

        Raises:
            ServiceError: it is not; the text has the names of those that are.
        """
        state = self.state(name)
        if state is None:
            names = ", ".join(known.name for known in self.states())
            raise ServiceError(f"the lab has no service or task {name}; it has {names}")
        return state

    def stays(self, name: str) -> bool:
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
        word=info["statename"],
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


def _tenths(seconds: float) -> Iterator[None]:
    waiter = threading.Event()
    for _ in range(int(seconds * 10)):
        yield
        waiter.wait(0.1)
