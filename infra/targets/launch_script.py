# SPDX-License-Identifier: Apache-2.0
"""Start scripts of services and tasks: short shell scripts that can also be run by hand."""

import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.errors import LabError
from infra.model import Binary, ClassData, Java, Prepare, PublicImage, Python, Run, Service, Task
from infra.project import python_path, user_path
from infra.toolchain.class_data import ARCHIVE_FILE, CONFIGURATION_FOLDER

RUN_VARIABLES = "run-variables"
"""File in a task's scratch folder with environment variables of its next run; the start script removes it."""

NOBODY = 65534
"""Uid and gid of the user `nobody`."""


class Programs(Protocol):
    """Locations of installed programs, implemented by `infra.toolchain.Artifacts`."""

    def component(self, name: str) -> Path:
        """Return the folder of a component, with jars in `lib/` or native programs in `bin/`."""

    def python(self, environment: str) -> Path:
        """Return the Python interpreter of one of the kit's virtual environments."""

    def java(self, runtime: int = 17) -> Path:
        """Return the `java` program of a Java release."""

    def binary(self, name: str) -> Path:
        """Return the path of a native program."""

    def has(self, name: str) -> bool:
        """Return whether a component is installed."""

    def class_data(self, name: str) -> Path:
        """Return the folder of a component's class data sharing archive, which may not exist yet."""


def class_data(programs: Programs, component: str) -> ClassData:
    """Return the paths of a component's class data sharing archive and its configuration."""
    folder = programs.class_data(component)
    return ClassData(str(folder / ARCHIVE_FILE), str(folder / CONFIGURATION_FOLDER))


def unprivileged_prefix(platform: str, user: int) -> tuple[str, ...]:
    """Return the command prefix with which `user` (a uid) can run a program that refuses to run as root.

    Root becomes `nobody` in a user namespace: files stay owned by root, and a checkout below `/root` remains
    readable, unlike for a second system user. The user must be in passwd, as initdb looks it up.

    Raises:
        LabError: root on a system without user namespaces.
    """
    if user != 0:
        return ()
    if not platform.startswith("linux"):
        raise LabError(
            "Postgres refuses to run as root, and this system has no user namespaces: run the lab as another user"
        )
    return ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}")


def check_unprivileged(platform: str, user: int) -> None:
    """Check that a program that refuses to run as root can be started by `user` (a uid).

    Raises:
        LabError: root must not create user namespaces, as in most containers, or the system has none.
    """
    prefix = unprivileged_prefix(platform, user)
    if not prefix:
        return
    try:
        subprocess.run([*prefix, "true"], capture_output=True, text=True, check=True)
        return
    except subprocess.CalledProcessError as error:
        cause = error.stderr.strip() or str(error)
    except OSError as error:
        cause = str(error)
    raise LabError(
        f"Postgres refuses to run as root, and root must not create user namespaces here ({cause}). Run the lab as"
        " another user (useradd -m lab; su lab), or allow them: in a container by --security-opt seccomp=unconfined,"
        " on the host by sysctl user.max_user_namespaces"
    )


def run_variables(values: Mapping[str, str]) -> str:
    """Return the content of `RUN_VARIABLES`."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(values.items()))


def _run_variables_lines(path: Path) -> tuple[str, ...]:
    file = shlex.quote(str(path))
    return (f"[ ! -f {file} ] || {{ . {file}; rm -f {file}; }}",)


def _secret_file_lines(path: str, text: str) -> str:
    return f"( umask 077; cat > {shlex.quote(path)} <<END\n{text}\nEND\n)"


@dataclass(frozen=True)
class Launcher:
    """Renderer of the start scripts of one stack.

    Attributes:
        programs: locations of jars, Java and Python runtimes and binaries.
        project: the project's folder, root of its Python modules.
        credentials: the file from which scripts read credentials at run time.
        platform: Python's name of the operating system (`sys.platform`).
        user: the uid that everything runs as.
    """

    programs: Programs
    project: Path
    credentials: Path
    platform: str = "linux"
    user: int = 1000

    def script(self, part: Service | Task, scratch: Path) -> str:
        """Return the start script of a service or task. It contains no secrets but reads them at run time."""
        prepare = part.prepare if isinstance(part, Service) else ()
        lines = [
            "#!/bin/sh",
            f"# Runs `{part.name}`. Rendered by `pulumi up` from infra/services/; changes are overwritten.",
            "set -eu",
            *(f"export {name}={shlex.quote(value)}" for name, value in self._environment(part, scratch).items()),
            *self._secret_lines(part.secrets),
            *(_secret_file_lines(path, text) for path, text in part.secret_files.items()),
            *(self._preparation_lines(step, scratch) for step in prepare),
            *(_run_variables_lines(scratch / RUN_VARIABLES) if isinstance(part, Task) else ()),
            f"exec {self._command_line(part.run, scratch)}",
        ]
        return "\n".join(lines) + "\n"

    def _environment(self, part: Service | Task, scratch: Path) -> dict[str, str]:
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

    def _secret_lines(self, secrets: Mapping[str, str]) -> list[str]:
        if not secrets:
            return []
        return [
            f". {shlex.quote(str(self.credentials))}",
            *(f'export {name}="${secret}"' for name, secret in secrets.items()),
        ]

    def _preparation_lines(self, step: Prepare, scratch: Path) -> str:
        command = self._command_line(step.run, scratch)
        if step.stdin:
            command += f" <<END\n{step.stdin}\nEND"
        if not step.unless:
            return command
        made = shlex.quote(step.unless)
        if not step.staged:
            return f"[ -e {made} ] || {command}"
        staged = shlex.quote(step.staged)
        return f"[ -e {made} ] || {{\nrm -rf {staged}\n{command}\nmv {staged} {made}\n}}"

    def _command_line(self, run: Run, scratch: Path) -> str:
        return " \\\n  ".join(shlex.quote(word) for word in self._argument_words(run, scratch))

    def _argument_words(self, run: Run, scratch: Path) -> list[str]:
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
        return ":".join(str(folder / place) for place in run.class_path.split(":"))

    def _program(self, run: Binary) -> Path:
        if run.component:
            return self.programs.component(run.component) / "bin" / run.name
        return self.programs.binary(run.name)
