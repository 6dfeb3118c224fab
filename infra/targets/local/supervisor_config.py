# SPDX-License-Identifier: Apache-2.0
"""Configuration files of supervisord and of its programs, and the path of its socket."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from infra.targets.local.log_files import BACKUPS

MAX_SOCKET_PATH_BYTES = 100
"""AF_UNIX paths are limited to 104 to 108 bytes, and supervisord appends a suffix while binding."""


@dataclass(frozen=True)
class Program:
    """A program under supervisord.

    Attributes:
        name: unique in the stack.
        is_service: True for a service (started at once, restarted when it ends), False for a task (started on
            request, runs to its end).
        stop_seconds: time between `stop_signal` and SIGKILL.
        stop_signal: signal of a graceful shutdown, as supervisord names signals.
        restart: of a service: `always`, or `on_failure` if it may exit with status 0 and then stays stopped.
    """

    name: str
    is_service: bool
    stop_seconds: int = 30
    stop_signal: str = "TERM"
    restart: Literal["always", "on_failure"] = "always"


def socket_path(root: Path) -> Path:
    """Return the control socket of a stack: in its folder, or in a private one below /tmp if that path is too long.

    Independent of TMPDIR, so that commands in other shells find it.
    """
    preferred = root / "supervisor" / "control.sock"
    if len(os.fsencode(preferred)) <= MAX_SOCKET_PATH_BYTES:
        return preferred
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return Path("/tmp") / f"lineage-lab-{os.getuid()}-{digest}" / "control.sock"


def program_names(root: Path) -> set[str]:
    """Return the names of all services and tasks of a stack; empty if it has none."""
    return {path.stem for path in (root / "supervisor" / "programs").glob("*.conf")}


def daemon_config(root: Path) -> str:
    """Return the content of supervisord.conf."""
    folder = root / "supervisor"
    user = "user=root\n" if os.getuid() == 0 else ""  # avoids a warning at each start
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
    """Return the configuration of one program.

    With `death_signal` the kernel terminates the program if supervisord is killed; otherwise its ports would block
    the restart by the next supervisord.
    """
    folder = root / "services" / program.name
    wrapper = f"setpriv --pdeathsig {program.stop_signal} -- " if death_signal else ""
    stays = "true" if program.is_service else "false"
    return f"""[program:{program.name}]
command={wrapper}/bin/sh "{folder / "run"}"
directory={folder}
autostart={stays}
autorestart={_autorestart(program)}
startsecs={1 if program.is_service else 0}
startretries={100 if program.is_service else 0}
stopsignal={program.stop_signal}
stopwaitsecs={program.stop_seconds}
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile={folder / "log"}
stdout_logfile_maxbytes=10MB
stdout_logfile_backups={BACKUPS}
"""


def _autorestart(program: Program) -> str:
    """Return the value of `autorestart`; the expected exit code is 0."""
    if not program.is_service:
        return "false"
    return "unexpected" if program.restart == "on_failure" else "true"
