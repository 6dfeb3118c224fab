# SPDX-License-Identifier: Apache-2.0
"""How a part of the lab is started as a local process: a short shell script, to be read and run by hand."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.model import Binary, Java, Prepare, Python, Run, Service, Task


class Programs(Protocol):
    """Where the programs of this machine are; `infra.artifacts.Artifacts` is one."""

    def component(self, name: str) -> Path:
        """The folder whose `lib/` holds the jars of a component."""

    def python(self, environment: str) -> Path:
        """The Python of one of the kit's virtual environments."""

    def binary(self, name: str) -> Path:
        """A native program."""


@dataclass(frozen=True)
class Launcher:
    """Renders scripts for one stack.

    Attributes:
        programs: finds jars, Pythons and binaries.
        java: the `java` that runs the JVMs.
        project: the project's folder; Python modules are found from there.
        credentials: the file that scripts read credentials from, when they run.
    """

    programs: Programs
    java: str
    project: Path
    credentials: Path

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
                "PYTHONPATH": str(self.project),
                "PYTHONUNBUFFERED": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
            }
        if isinstance(part.run, Python) and part.run.environment == "spark":
            env |= {
                "JAVA_HOME": str(Path(self.java).parent.parent),
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
        return f"[ -e {shlex.quote(step.unless)} ] || {self._command(step.run, scratch)}"

    def _command(self, run: Run, scratch: Path) -> str:
        return " \\\n  ".join(shlex.quote(word) for word in self._words(run, scratch))

    def _words(self, run: Run, scratch: Path) -> list[str]:
        match run:
            case Java():
                return [
                    self.java,
                    f"-Xmx{run.heap_mib}m",
                    *run.options,
                    f"-Djava.io.tmpdir={scratch}",
                    "-cp",
                    f"{self.programs.component(run.component) / 'lib'}/*",
                    run.main,
                    *run.args,
                ]
            case Python():
                return [str(self.programs.python(run.environment)), "-m", run.module, *run.args]
            case Binary():
                return [str(self.programs.binary(run.name)), *run.args]
