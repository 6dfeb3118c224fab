# SPDX-License-Identifier: Apache-2.0
"""What supervisord is told: its own configuration and that of each program, and where its socket is."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MAX_SOCKET_PATH_BYTES = 100
"""AF_UNIX paths end at 104 to 108 bytes, and supervisord appends a suffix while it binds."""


@dataclass(frozen=True)
class Program:
    """A program as supervisord sees it.

    Attributes:
        name: unique in the stack.
        is_service: True for a service (started at once, restarted when it ends), False for a task (started on
            request, runs to its end).
        stop_seconds: time between `stop_signal` and SIGKILL.
        stop_signal: what asks it to stop, as supervisord names signals.
        restart: of a service: `always`, or `on_failure` where it may end well and is then left alone.
    """

    name: str
    is_service: bool
    stop_seconds: int = 30
    stop_signal: str = "TERM"
    restart: Literal["always", "on_failure"] = "always"


def socket_path(root: Path) -> Path:
    """The control socket of a stack: in its folder, or in a short private one where that path is too long.

    The short one does not hang on TMPDIR: whoever comes later, from another shell, must find it too.
    """
    beside = root / "supervisor" / "control.sock"
    if len(os.fsencode(beside)) <= MAX_SOCKET_PATH_BYTES:
        return beside
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return Path("/tmp") / f"lineage-lab-{os.getuid()}-{digest}" / "control.sock"


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
stdout_logfile_backups=2
"""


def _autorestart(program: Program) -> str:
    """supervisord's word; what it expects is exit code 0."""
    if not program.is_service:
        return "false"
    return "unexpected" if program.restart == "on_failure" else "true"
