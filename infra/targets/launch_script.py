# SPDX-License-Identifier: Apache-2.0
"""How a part of the lab is started as a local process: a short shell script, to be read and run by hand."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.errors import LabError
from infra.model import Binary, ClassData, Java, Prepare, PublicImage, Python, Run, Service, Task
from infra.project import python_path, user_path
from infra.toolchain.class_data import ARCHIVE, CONFIGURATION

NOBODY = 65534
"""Uid and gid of the user `nobody`."""


class Programs(Protocol):
    """Where the programs of this machine are; `infra.toolchain.Artifacts` is one."""

    def component(self, name: str) -> Path:
        """The folder whose `lib/` holds the jars of a component, or whose `bin/` its native programs."""

    def python(self, environment: str) -> Path:
        """The Python of one of the kit's virtual environments."""

    def java(self, runtime: int = 17) -> Path:
        """The `java` of a release."""

    def binary(self, name: str) -> Path:
        """A native program."""

    def has(self, name: str) -> bool:
        """Whether a component is there."""

    def class_data(self, name: str) -> Path:
        """The folder for the archive of a component's loaded classes, whether it was made or not."""


def class_data(programs: Programs, component: str) -> ClassData:
    """Where a component's JVMs find their archive of classes, as a site tells its services."""
    folder = programs.class_data(component)
    return ClassData(str(folder / ARCHIVE), str(folder / CONFIGURATION))


def unprivileged_prefix(platform: str, user: int) -> tuple[str, ...]:
    """What is put before a program that refuses to be root, so that `user` (a uid) can run it on `platform`.

    Root becomes `nobody` in a user namespace: the program's files stay root's, and a checkout below `/root` can
    be reached, which a second user of the system could not. It has to be a user that is in passwd: initdb looks.

    Raises:
        LabError: root on a system without user namespaces.
    """
    if user != 0:
        return ()
    if not platform.startswith("linux"):
        raise LabError("Postgres refuses to run as root, and this system has no user namespaces: use another user")
    return ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}")


@dataclass(frozen=True)
class Launcher:
    """Renders scripts for one stack.

    Attributes:
        programs: finds jars, Javas, Pythons and binaries.
        project: the project's folder; Python modules are found from there.
        credentials: the file that scripts read credentials from, when they run.
        platform: Python's name of the operating system (`sys.platform`).
        user: the uid that everything runs as.
    """

    programs: Programs
    project: Path
    credentials: Path
    platform: str = "linux"
    user: int = 1000

    def script(self, part: Service | Task, scratch: Path) -> str:
        """The script that becomes the service or the task. Holds no secret: it reads them when it runs."""
        prepare = part.prepare if isinstance(part, Service) else ()
        lines = [
            "#!/bin/sh",
            f"# Runs `{part.name}`. Rendered by `pulumi up` from infra/services/; a change here is lost.",
            "set -eu",
            *(f"export {name}={shlex.quote(value)}" for name, value in self._env(part, scratch).items()),
            *self._secrets(part.secrets),
            *(self._prepare(step, scratch) for step in prepare),
            f"exec {self._command(part.run, scratch)}",
        ]
        return "\n".join(lines) + "\n"

    def _env(self, part: Service | Task, scratch: Path) -> dict[str, str]:
        env = {"TMPDIR": str(scratch), **part.env}
        if isinstance(part.run, Python):
            env |= {
                "PYTHONPATH": python_path(self.project),
                "PYTHONUNBUFFERED": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
            }
        if isinstance(part.run, Python) and part.run.environment == "spark":
            env |= {
                "JAVA_HOME": str(self.programs.java().parent.parent),
                "PYSPARK_PYTHON": str(self.programs.python("spark")),
            }
        return dict(sorted(env.items()))

    def _secrets(self, secrets: Mapping[str, str]) -> list[str]:
        if not secrets:
            return []
        return [
            f". {shlex.quote(str(self.credentials))}",
            *(f'export {name}="${secret}"' for name, secret in secrets.items()),
        ]

    def _prepare(self, step: Prepare, scratch: Path) -> str:
        command = self._command(step.run, scratch)
        if step.stdin:
            command += f" <<END\n{step.stdin}\nEND"
        if not step.unless:
            return command
        made = shlex.quote(step.unless)
        if not step.staged:
            return f"[ -e {made} ] || {command}"
        staged = shlex.quote(step.staged)
        return f"[ -e {made} ] || {{\nrm -rf {staged}\n{command}\nmv {staged} {made}\n}}"

    def _command(self, run: Run, scratch: Path) -> str:
        return " \\\n  ".join(shlex.quote(word) for word in self._words(run, scratch))

    def _words(self, run: Run, scratch: Path) -> list[str]:
        match run:
            case Java():
                return [
                    str(self.programs.java(run.runtime)),
                    f"-Xmx{run.heap_mib}m",
                    *run.options,
                    f"-Djava.io.tmpdir={scratch}",
                    "-cp",
                    self._class_path(run),
                    run.main,
                    *run.args,
                ]
            case Python():
                return [str(self.programs.python(run.environment)), "-m", run.module, *run.args]
            case Binary():
                prefix = unprivileged_prefix(self.platform, self.user) if run.unprivileged else ()
                return [*prefix, str(self._program(run)), *run.args]
            case PublicImage():
                return [run.program, *run.args]

    def _class_path(self, run: Java) -> str:
        if run.jar:
            return str(user_path(self.project, run.jar))
        folder = self.programs.component(run.component)
        return ":".join(f"{folder}/{place}" for place in run.class_path.split(":"))

    def _program(self, run: Binary) -> Path:
        if run.component:
            return self.programs.component(run.component) / "bin" / run.name
        return self.programs.binary(run.name)
