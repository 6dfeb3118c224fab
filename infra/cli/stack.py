# SPDX-License-Identifier: Apache-2.0
"""Pulumi stack of a lab, operated with the lab's toolchain and Pulumi state."""

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

from infra import credentials
from infra.cli import docker_state
from infra.cli.console import DEFAULT_STACK, EXIT_INTERRUPTED, out
from infra.cli.foreground import run_in_foreground
from infra.cli.stack_file import has_tls, stack_place, stack_target
from infra.errors import Interrupted, LabError
from infra.project import CERTIFICATES_FOLDER, CREDENTIALS_FILE, NAME, PROJECT, PULUMI_STATE, STATE, stack_root
from infra.security.certificate_files import AUTHORITY, trusting_environment
from infra.security.kafka_login import admin_settings
from infra.targets.checkpoint import Resource, checkpoint_file, recorded_resources, stack_outputs
from infra.targets.deployed import SUPERVISOR_TYPE, deployed_target
from infra.targets.local.supervisor import Supervisor
from infra.targets.runtime import Runtime
from infra.toolchain import Artifacts
from infra.toolchain.bootstrap import bytecode_environment
from lineage.checks.authorities import AUTHORITY_VARIABLE

STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


_INHERITED = frozenset({"PULUMI_DEBUG_PROVIDERS"})
"""Variables of Pulumi that are inherited: plugins that are attached to a debugger."""


def pulumi_environment(artifacts: Artifacts) -> dict[str, str]:
    """Return the environment variables that plain `pulumi` requires in this project.

    The kit's Python is before that of other programs, and before Pulumi: a package manager's `pulumi` is often in a
    folder that has a `python3` of its own, with which Pulumi would start the program and the plugin.

    The passphrase is empty because the state has no secrets: credentials are in separate files. It overrides a
    `PULUMI_CONFIG_PASSPHRASE` that is exported for other projects, with which Pulumi would fail.
    """
    python = artifacts.python("kit")
    folders = [str(python.parent), str(artifacts.binary_dir("pulumi"))]
    return {
        "PATH": os.pathsep.join([*folders, os.environ.get("PATH", "")]),
        "PULUMI_PYTHON_CMD": str(python),
        "PULUMI_HOME": str(PULUMI_STATE / "home"),
        "PULUMI_BACKEND_URL": f"file://{PULUMI_STATE}",
        "PULUMI_CONFIG_PASSPHRASE": os.environ.get("LINEAGE_LAB_PASSPHRASE", ""),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        **bytecode_environment(artifacts.cache),
    }


def _is_for_other_projects(variable: str) -> bool:
    return variable.startswith("PULUMI_") and variable not in _INHERITED


def plugin_folder() -> Path:
    """Return the folder of Pulumi's installed plugins."""
    return PULUMI_STATE / "home" / "plugins"


@dataclass(frozen=True)
class Stack:
    """Pulumi stack of this checkout, by name.

    Raises:
        LabError: the name is invalid.
    """

    name: str
    artifacts: Artifacts

    def __post_init__(self) -> None:
        if not STACK_NAME.fullmatch(self.name):
            raise LabError(f"invalid stack name {self.name!r}: use letters, digits, '-', '_' and '.'")
        self._trust_authority()

    @property
    def root(self) -> Path:
        """Folder of the stack's files."""
        return stack_root(self.name)

    @cached_property
    def runtime(self) -> Runtime:
        """Processes, containers or pods of the stack, depending on the target of its lab, else on the configured one.

        Raises:
            SettingsError: the configuration cannot be read.
        """
        target = self._deployed_target() or stack_target(self.name)
        if target == "docker":
            # Imported here, because it imports Docker's SDK.
            from infra.targets.docker.runtime import Containers

            return Containers(self.name)
        if target == "kubernetes":
            # Imported here, because it imports the Kubernetes client.
            from infra.targets.kubernetes.runtime import Pods

            return Pods(*stack_place(self.name), self.name)
        return Supervisor(self.root)

    def exists(self) -> bool:
        """Return True if the stack is in Pulumi's state."""
        return self._checkpoint.exists()

    def create_if_missing(self) -> None:
        """Create the stack in Pulumi's state unless it exists."""
        self._link_plugin_folder()
        if not self.exists():
            self._run_quietly("stack", "init", self.name)

    def resources(self) -> list[Resource]:
        """Return all resources in the stack's state; empty if there is no stack."""
        return recorded_resources(self.name, PULUMI_STATE)

    def resource_ids(self) -> set[str]:
        """Return the ids of all resources in the stack's state; empty if there is no stack."""
        return {resource["id"] for resource in self.resources() if "id" in resource}

    def outputs(self) -> dict[str, Any]:
        """Return the stack's outputs; empty if there is no stack, or before its first update."""
        return stack_outputs(self.resources())

    def endpoints(self) -> Mapping[str, str]:
        """Return the addresses of the lab by name: URLs or `host:port`.

        Raises:
            LabError: there is no stack, or it was never updated.
        """
        endpoints: dict[str, str] | None = self.outputs().get("endpoints")
        if endpoints:
            return endpoints
        raise self.not_running_error()

    def credential(self, name: str) -> str:
        """Return a credential of the stack; empty if it has none, as before its first update."""
        path = self.root / CREDENTIALS_FILE
        return credentials.read(path).get(name, "") if path.exists() else ""

    @property
    def authority(self) -> Path:
        """File with the certificate that clients of the lab trust; missing without TLS."""
        return self.root / CERTIFICATES_FOLDER / AUTHORITY

    def kafka_login(self) -> dict[str, str]:
        """Return the settings of librdkafka by which the lab's own clients log in; empty without TLS."""
        if not self.authority.exists():
            return {}
        return admin_settings(str(self.authority), str(self.root / CREDENTIALS_FILE))

    def lineage_authorization(self) -> dict[str, str]:
        """Return the headers with the key that reads the lineage of the lab; empty before its first update."""
        key = self.credential(credentials.LINEAGE_READ_KEY)
        return {"Authorization": f"Bearer {key}"} if key else {}

    def not_running_error(self) -> LabError:
        """Return the error about a stack without a running lab."""
        variable, option = ("", "") if self.name == DEFAULT_STACK else (f" STACK={self.name}", f" --stack {self.name}")
        return LabError(f"stack {self.name} has no running lab; start it: make up{variable} (or bin/lab up{option})")

    def run_pulumi(self, *words: str, variables: Mapping[str, str] | None = None) -> None:
        """Run Pulumi on the stack, with its output on the terminal and additional environment variables.

        Raises:
            LabError: Pulumi failed; it printed the cause. Or the state is a copy of another checkout's.
            Interrupted: the user interrupted it.
        """
        self._reject_copy()
        self._release_stale_locks()
        environment = self.environment() | dict(variables or {})
        status = run_in_foreground(self._pulumi_command(words), environment, PROJECT)
        if status in {-signal.SIGINT, EXIT_INTERRUPTED}:
            raise Interrupted(f"pulumi {words[0]} was interrupted")
        if status != 0:
            raise LabError(f"pulumi {words[0]} of stack {self.name} failed; see its output above")
        self._trust_authority()

    def remove_state(self, even_if_broken: bool = False) -> None:
        """Remove the stack from Pulumi's state, and the state itself after the last stack.

        With `even_if_broken`, files are deleted without Pulumi, which would have to read them.
        """
        if even_if_broken:
            self._delete_state_files()
        elif self.exists():
            self._run_quietly("stack", "rm", self.name, "--yes", "--preserve-config")
        if not list((PULUMI_STATE / ".pulumi" / "stacks").glob("*/*.json")):
            shutil.rmtree(PULUMI_STATE, ignore_errors=True)
        if STATE.exists() and not any(STATE.iterdir()):
            STATE.rmdir()

    def environment(self) -> dict[str, str]:
        """Return the environment in which Pulumi runs for this stack.

        Variables of the user that change Pulumi (backend, format of the state, parallelism) are not in it.
        """
        inherited = {name: value for name, value in os.environ.items() if not _is_for_other_projects(name)}
        return inherited | self.pulumi_variables()

    def pulumi_variables(self) -> dict[str, str]:
        """Return the environment variables that plain `pulumi` requires for this stack."""
        variables = pulumi_environment(self.artifacts) | self.trust()
        if stack_target(self.name) == "docker":
            variables |= self._docker_variables()
        return variables

    def trust(self) -> dict[str, str]:
        """Return the variables by which Pulumi's plugin trusts the services of a lab with TLS; empty without."""
        if not self.authority.exists() and not has_tls(self.name):
            return {}
        return trusting_environment(str(self.authority))

    def _trust_authority(self) -> None:
        """Make the clients of this process trust the services of a lab with TLS."""
        if self.authority.exists():
            os.environ[AUTHORITY_VARIABLE] = str(self.authority)

    def _docker_variables(self) -> dict[str, str]:
        """Return the variables that select the same Docker daemon for all plugins, whose precedences differ.

        Refresh and destroy use the daemon's address in the state, unless they run the program.
        """
        from infra.targets.docker.engine import engine_host

        host = engine_host()
        moved = {"PULUMI_RUN_PROGRAM": "true"} if docker_state.has_moved(self.resources(), host) else {}
        return {"DOCKER_HOST": host, "DOCKER_CONTEXT": "", **moved}

    def _deployed_target(self) -> str | None:
        try:
            return deployed_target(self.resources())
        except LabError:  # a broken state, which `reset` removes; other commands report it when they need it
            return None

    @property
    def _checkpoint(self) -> Path:
        return checkpoint_file(self.name, PULUMI_STATE)

    def _link_plugin_folder(self) -> None:
        """Link Pulumi's plugin folder to the download cache, so that plugins survive the removal of the state."""
        cached = self.artifacts.cache.root / "pulumi-plugins"
        cached.mkdir(exist_ok=True)
        folder = plugin_folder()
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.is_symlink() and folder.readlink() != cached:
            folder.unlink()  # link to another cache
        if not folder.exists():
            folder.symlink_to(cached)

    def _reject_copy(self) -> None:
        """Reject a state whose lab is in another folder that exists: Pulumi would remove the lab of that checkout.

        After a checkout was moved, the folder does not exist any more.
        """
        roots = (
            Path(resource["inputs"]["root"]) for resource in self.resources() if resource["type"] == SUPERVISOR_TYPE
        )
        other = next((root for root in roots if root != self.root and root.exists()), None)
        if other is not None:
            raise LabError(
                f"{PROJECT} is a copy of the checkout whose lab is in {other}, which this command would remove; remove "
                f"the copied state: rm -r {STATE}"
            )

    def _release_stale_locks(self) -> None:
        """Release locks of killed updates, which Pulumi itself never does."""
        folder = PULUMI_STATE / ".pulumi" / "locks" / "organization" / NAME / self.name
        locks = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
        if locks and all(is_stale_lock(lock) for lock in locks):
            out.print("releasing the lock of an update that was killed")
            self._run_quietly("cancel", "--yes")

    def _delete_state_files(self) -> None:
        state = PULUMI_STATE / ".pulumi"
        for path in (state / "stacks" / NAME).glob(f"{glob.escape(self.name)}.json*"):
            path.unlink()
        for folder in ("history", "backups", "locks/organization"):
            shutil.rmtree(state / folder / NAME / self.name, ignore_errors=True)

    def _run_quietly(self, *words: str) -> None:
        """Run Pulumi on the stack; its output is shown only if it fails."""
        result = subprocess.run(
            self._pulumi_command(words), env=self.environment(), cwd=PROJECT, capture_output=True, text=True
        )
        if result.returncode != 0:
            raise LabError(f"pulumi {' '.join(words)} failed:\n{result.stderr.strip()}")

    def _pulumi_command(self, words: tuple[str, ...]) -> list[str]:
        has_stack_argument = words[:2] in {("stack", "init"), ("stack", "rm")}
        return ["pulumi", *words, *([] if has_stack_argument else ["--stack", self.name]), "--non-interactive"]


def is_stale_lock(lock: Mapping[str, Any]) -> bool:
    """Return True if a lock was taken on this machine, by a Pulumi process that has ended."""
    if lock["hostname"] != platform.node():
        return False
    try:
        return not psutil.Process(int(lock["pid"])).name().startswith("pulumi")
    except psutil.NoSuchProcess:
        return True
