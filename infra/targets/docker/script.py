# SPDX-License-Identifier: Apache-2.0
"""What a container runs: one shell script, which lays out the service's files and then becomes the service.

All of it is in the container's command. So nothing is mounted from the user's machine, the daemon may be anywhere,
and `docker inspect` shows what runs. No secret is in it.
"""

from dataclasses import replace
from pathlib import Path, PurePosixPath

from infra.errors import LabError
from infra.model import Java, Service, Task
from infra.targets.docker.names import FILES, SCRATCH, VOLUMES
from infra.targets.docker.site import JARS
from infra.targets.launch_script import Launcher

MAX_SCRIPT_BYTES = 128 * 1024 - 1
"""Bytes of one argument of a process (Linux: MAX_ARG_STRLEN, its closing zero among them)."""

_END = "END_OF_FILE"


def start_script(part: Service | Task, launcher: Launcher) -> str:
    """The script of a part.

    Raises:
        LabError: its files are larger than what can be handed to a container.
    """
    volumes = part.volumes if isinstance(part, Service) else ()
    lines = [
        "set -eu",
        f"export HOME={SCRATCH}",
        *(f"mkdir -p {VOLUMES}/{name}" for name in volumes),
        *(_written(name, text) for name, text in part.files.items()),
        launcher.script(_in_image(part), Path(SCRATCH)).removeprefix("#!/bin/sh\n"),
    ]
    script = "\n".join(lines)
    if len(script.encode()) > MAX_SCRIPT_BYTES:
        raise LabError(
            f"{part.name} has {sum(map(len, part.files.values())) // 1024} KiB of files ({', '.join(part.files)}): "
            f"on Docker, script and files together can have {MAX_SCRIPT_BYTES // 1024} KiB. Make them smaller"
        )
    return script


def _written(name: str, text: str) -> str:
    """A file, by a quoted here-document: the shell touches nothing in it. It ends with a line's end."""
    end = _END
    while end in text.splitlines():
        end += "_"
    body = text if text.endswith("\n") else text + "\n"
    folder = f"mkdir -p {(PurePosixPath(FILES) / name).parent}\n" if "/" in name else ""
    return f"{folder}cat > {FILES}/{name} <<'{end}'\n{body}{end}"


def _in_image(part: Service | Task) -> Service | Task:
    """A jar of the user's own was copied into the image."""
    if isinstance(part.run, Java) and part.run.jar:
        return replace(part, run=replace(part.run, jar=f"{JARS}/{PurePosixPath(part.run.jar).name}"))
    return part
