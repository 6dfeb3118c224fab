# SPDX-License-Identifier: Apache-2.0
"""One stack as the command sees it: Pulumi run with the kit's own tools and state, and its outputs."""

import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil

from infra.cli import checkpoint
from infra.cli.console import DEFAULT_STACK, out
from infra.cli.stack_file import stack_target
from infra.errors import Interrupted, LabError
from infra.project import NAME, PROJECT, PULUMI_STATE, STATE, stack_root
from infra.targets.local.supervisor import Supervisor
from infra.targets.runtime import Runtime
from infra.toolchain import Artifacts
from infra.toolchain.bootstrap import bytecode_environment

STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def pulumi_environment(artifacts: Artifacts) -> dict[str, str]:
    """What plain `pulumi` needs in its environment to work in this project.

    The passphrase is empty because no secret is in the state: credentials live in files of their own. A
    `PULUMI_CONFIG_PASSPHRASE` that is exported for other projects would only stop the lab.
    """
    folders = [str(artifacts.binary_dir("pulumi")), str(artifacts.python("kit").parent)]
    return {
        "PATH": os.pathsep.join([*folders, os.environ.get("PATH", "")]),
        "PULUMI_HOME": str(PULUMI_STATE / "home"),
        "PULUMI_BACKEND_URL": f"file://{PULUMI_STATE}",
        "PULUMI_CONFIG_PASSPHRASE": os.environ.get("LINEAGE_LAB_PASSPHRASE", ""),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        **bytecode_environment(artifacts.cache),
    }


def plugin_folder() -> Path:
    """Where Pulumi looks for plugins that their vendors published."""
    return PULUMI_STATE / "home" / "plugins"


@dataclass(frozen=True)
class Stack:
    """A stack by name, and the tools to work on it.

    Raises:
        LabError: the name cannot be one of a stack.
    """

    name: str
    artifacts: Artifacts

    def __post_init__(self) -> None:
        if not STACK_NAME.fullmatch(self.name):
            raise LabError(f"{self.name!r} cannot name a stack: use letters, digits, '-', '_' and '.'")

    @property
    def root(self) -> Path:
        """The stack's folder."""
        return stack_root(self.name)

    @cached_property
    def runtime(self) -> Runtime:
        """What keeps the stack's services running, as its configuration says.

        Raises:
            SettingsError: the configuration cannot be read.
        """
        if stack_target(self.name) == "docker":
            from infra.targets.docker.runtime import (
                Containers,  # brings Docker's SDK, which a local stack has no use for
            )

            return Containers(self.name)
        return Supervisor(self.root)

    def pulumi(self, *words: str) -> None:
        """Runs Pulumi on the stack, its output going to the user.

        Raises:
            LabError: it failed; it has said why.
            Interrupted: the user stopped it.
        """
        self._unlock()
        process = subprocess.Popen(self._command(words), env=self.environment(), cwd=PROJECT)
        try:
            status = process.wait()
        except KeyboardInterrupt:  # Pulumi got the signal too; it ends what it was doing in good order
            process.wait()
            raise
        if status in {-signal.SIGINT, 130}:
            raise Interrupted(f"pulumi {words[0]} was stopped")
        if status != 0:
            raise LabError(f"pulumi {words[0]} of stack {self.name} failed; see what it says above")

    def _unlock(self) -> None:
        """Takes away the locks of updates that were killed: nobody else will."""
        folder = PULUMI_STATE / ".pulumi" / "locks" / "organization" / NAME / self.name
        locks = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
        if locks and all(_is_dead(lock) for lock in locks):
            out.print("an earlier update was killed; taking its lock away")
            self._quiet("cancel", "--yes")

    def exists(self) -> bool:
        """Whether Pulumi knows the stack."""
        return self._checkpoint.exists()

    @property
    def _checkpoint(self) -> Path:
        """Pulumi's own file about the stack."""
        return PULUMI_STATE / ".pulumi" / "stacks" / NAME / f"{self.name}.json"

    def ensure(self) -> None:
        """Makes the stack where Pulumi does not know it yet."""
        self._keep_plugins()
        if not self.exists():
            self._quiet("stack", "init", self.name)

    def resource_ids(self) -> set[str]:
        """The ids of everything that is in the stack's state; none where there is no such stack."""
        known = checkpoint.resources(self._checkpoint) if self.exists() else []
        return {resource["id"] for resource in known if "id" in resource}

    def _keep_plugins(self) -> None:
        """Puts Pulumi's folder of vendors' plugins into the download cache: they outlive the last stack's state."""
        kept = self.artifacts.cache.root / "pulumi-plugins"
        kept.mkdir(exist_ok=True)
        folder = plugin_folder()
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.is_symlink() and folder.readlink() != kept:
            folder.unlink()  # of another cache
        if not folder.exists():
            folder.symlink_to(kept)

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs; none where there is no such stack, or it has never come up."""
        return checkpoint.outputs(checkpoint.resources(self._checkpoint)) if self.exists() else {}

    def endpoints(self) -> Mapping[str, str]:
        """Where everything is: URL or `host:port` by name.

        Raises:
            LabError: there is no such stack, or it has never come up.
        """
        endpoints: dict[str, str] | None = self.outputs().get("endpoints")
        if endpoints:
            return endpoints
        raise self.no_lab()

    def no_lab(self) -> LabError:
        """The error about a stack that nothing runs of."""
        stack, option = ("", "") if self.name == DEFAULT_STACK else (f" STACK={self.name}", f" --stack {self.name}")
        return LabError(
            f"there is no lab in stack {self.name} that runs; start it: make up{stack} (or bin/lab up{option})"
        )

    def forget(self, force: bool = False) -> None:
        """Removes the stack from Pulumi's state, and the state itself where no stack is left.

        With `force`, the state may be as broken as it likes.
        """
        if force:
            self._erase()
        elif self.exists():
            self._quiet("stack", "rm", self.name, "--yes", "--preserve-config")
        if not list((PULUMI_STATE / ".pulumi" / "stacks").glob("*/*.json")):
            shutil.rmtree(PULUMI_STATE, ignore_errors=True)
        if STATE.exists() and not any(STATE.iterdir()):
            STATE.rmdir()

    def _erase(self) -> None:
        """Removes Pulumi's files about the stack; Pulumi itself would have to read them first."""
        state = PULUMI_STATE / ".pulumi"
        for path in (state / "stacks" / NAME).glob(f"{glob.escape(self.name)}.json*"):
            path.unlink()
        for folder in ("history", "backups", "locks/organization"):
            shutil.rmtree(state / folder / NAME / self.name, ignore_errors=True)

    def _quiet(self, *words: str) -> str:
        result = subprocess.run(
            self._command(words), env=self.environment(), cwd=PROJECT, capture_output=True, text=True
        )
        if result.returncode != 0:
            raise LabError(f"pulumi {' '.join(words)} failed:\n{result.stderr.strip()}")
        return result.stdout

    def _command(self, words: tuple[str, ...]) -> list[str]:
        names_it_itself = words[:2] in {("stack", "init"), ("stack", "rm")}
        return ["pulumi", *words, *([] if names_it_itself else ["--stack", self.name]), "--non-interactive"]

    def environment(self) -> dict[str, str]:
        """The user's environment with what Pulumi needs to work on this stack."""
        return {**os.environ, **self.variables()}

    def variables(self) -> dict[str, str]:
        """What plain `pulumi` needs in its environment to work on this stack."""
        return {**pulumi_environment(self.artifacts), **self._daemon()}

    def _daemon(self) -> dict[str, str]:
        """The Docker daemon that the kit speaks to, also by a context: Pulumi's plugin knows this variable alone."""
        if stack_target(self.name) != "docker":
            return {}
        from infra.targets.docker.engine import engine_host

        return {"DOCKER_HOST": engine_host()}


def _is_dead(lock: Mapping[str, Any]) -> bool:
    """Whether the holder of one of Pulumi's locks is a process of this machine that is gone."""
    if lock["hostname"] != platform.node():
        return False
    try:
        return not psutil.Process(int(lock["pid"])).name().startswith("pulumi")
    except psutil.NoSuchProcess:
        return True
