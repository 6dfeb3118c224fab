# SPDX-License-Identifier: Apache-2.0
"""Start script of a container: writes the service's configuration files and then executes the service.

The script is the container's command: nothing is mounted from the user's machine, the daemon may run on another
machine, and `docker inspect` shows all of it. It contains no secrets.
"""

from pathlib import PurePosixPath

from infra.errors import LabError
from infra.model import Service, Task
from infra.targets.container_paths import FILES
from infra.targets.container_script import container_script
from infra.targets.launch_script import Launcher

MAX_SCRIPT_BYTES = 128 * 1024 - 1
"""Maximum size of one argument of a process: Linux's MAX_ARG_STRLEN, which includes the terminating zero."""

_END_MARKER = "END_OF_FILE"


def start_script(part: Service | Task, launcher: Launcher) -> str:
    """Return the start script of a part.

    Raises:
        LabError: script and files exceed `MAX_SCRIPT_BYTES`.
    """
    script = container_script(part, launcher, (_write_file(name, text) for name, text in part.files.items()))
    if len(script.encode()) > MAX_SCRIPT_BYTES:
        raise LabError(
            f"{part.name} has {sum(map(len, part.files.values())) // 1024} KiB of files ({', '.join(part.files)}): "
            f"the limit on Docker, for start script and files, is {MAX_SCRIPT_BYTES // 1024} KiB. Shorten the files"
        )
    return script


def _write_file(name: str, text: str) -> str:
    """Return commands that write a file, as a quoted here-document, which the shell does not expand."""
    end = _END_MARKER
    while end in text.splitlines():
        end += "_"
    body = text if text.endswith("\n") else text + "\n"
    folder = f"mkdir -p {(PurePosixPath(FILES) / name).parent}\n" if "/" in name else ""
    return f"{folder}cat > {FILES}/{name} <<'{end}'\n{body}{end}"
