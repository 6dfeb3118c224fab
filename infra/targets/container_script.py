# SPDX-License-Identifier: Apache-2.0
"""Start script of a container: prepares its writable folders and files, and then executes the service."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from infra.model import Java, Service, Task
from infra.targets.container_paths import (
    CREDENTIALS_FOLDER,
    CREDENTIALS_NAME,
    JARS,
    PROJECT_FOLDER,
    SCRATCH,
    USER,
    VOLUMES,
)
from infra.targets.launch_script import Launcher, Programs


def container_launcher(programs: Programs) -> Launcher:
    """Return the renderer of start scripts that run in the lab's images."""
    return Launcher(programs, Path(PROJECT_FOLDER), Path(CREDENTIALS_FOLDER) / CREDENTIALS_NAME, "linux", USER)


def container_script(part: Service | Task, launcher: Launcher, file_commands: Iterable[str]) -> str:
    """Return the start script of a part; `file_commands` put its configuration files into place."""
    volumes = part.volumes if isinstance(part, Service) else ()
    lines = [
        "set -eu",
        f"export HOME={SCRATCH}",
        *(f"mkdir -p {VOLUMES}/{name}" for name in volumes),
        *file_commands,
        launcher.script(_with_jar_in_image(part), Path(SCRATCH)).removeprefix("#!/bin/sh\n"),
    ]
    return "\n".join(lines)


def _with_jar_in_image(part: Service | Task) -> Service | Task:
    """Return the part with the path of the user's jar in the image."""
    if isinstance(part.run, Java) and part.run.jar:
        return replace(part, run=replace(part.run, jar=f"{JARS}/{PurePosixPath(part.run.jar).name}"))
    return part
