# SPDX-License-Identifier: Apache-2.0
"""Installation of Pulumi plugins that their vendor publishes: those of the Docker and the Kubernetes target.

They are the only part of the toolchain that the lab neither builds nor resolves from a package registry. A plugin is
installed once, into the download cache.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import yaml

from infra.cli.console import out
from infra.cli.stack import Stack, plugin_folder
from infra.errors import LabError
from infra.project import PROJECT, PULUMI_STATE

DISABLING_VARIABLE = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"


@dataclass(frozen=True)
class VendorPlugin:
    """Plugin by its name in Pulumi.

    Attributes:
        name: `docker` for the program `pulumi-resource-docker`.
        sdk: name of its SDK on PyPI, which is released together with the plugin, in the same version.
    """

    name: str
    sdk: str

    @property
    def tag(self) -> str:
        """Version of the plugin that matches the installed SDK, with a leading `v`."""
        return f"v{version(self.sdk)}"

    @property
    def installation(self) -> tuple[str, ...]:
        """Arguments of the `pulumi` command that installs it."""
        return ("plugin", "install", "resource", self.name, self.tag)


DOCKER = VendorPlugin("docker", "pulumi-docker")
KUBERNETES = VendorPlugin("kubernetes", "pulumi-kubernetes")


def ensure_plugin(plugin: VendorPlugin, stack: Stack) -> None:
    """Install a plugin unless Pulumi finds one.

    Raises:
        LabError: the plugin is missing, and its installation failed or is disabled; the message has the commands.
    """
    if _is_available(plugin):
        return
    missing = f"Pulumi's plugin {plugin.name} {plugin.tag} is missing"
    if installation_disabled(os.environ):
        raise LabError(f"{missing}, and {DISABLING_VARIABLE} disables its installation.\n{_remedy(plugin)}")
    out.print(f"installing Pulumi's plugin {plugin.name} {plugin.tag}")
    command = ("pulumi", *plugin.installation)
    result = subprocess.run(command, env=stack.environment(), cwd=PROJECT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        errors = _distinct_errors(result.stderr)
        raise LabError(f"{missing}, and its installation failed:\n{errors}\n{_remedy(plugin)}")


def installation_disabled(environment: Mapping[str, str]) -> bool:
    """Return True if the user disabled the installation of plugins; the value that `lab env` exports does not count."""
    from_lab_env = environment.get("PULUMI_HOME") == str(PULUMI_STATE / "home")
    return not from_lab_env and environment.get(DISABLING_VARIABLE, "").lower() in {"1", "true"}


def _is_available(plugin: VendorPlugin) -> bool:
    """Return True if Pulumi finds the plugin: named by the project, attached to a debugger, on PATH, or installed."""
    project: Any = yaml.safe_load((PROJECT / "Pulumi.yaml").read_text(encoding="utf-8"))
    named = [declared["name"] for declared in project.get("plugins", {}).get("providers", ())]
    attached = [entry.partition(":")[0] for entry in os.environ.get("PULUMI_DEBUG_PROVIDERS", "").split(",")]
    return (
        plugin.name in named
        or plugin.name in attached
        or shutil.which(f"pulumi-resource-{plugin.name}") is not None
        or (plugin_folder() / f"resource-{plugin.name}-{plugin.tag}").is_dir()
    )


def _remedy(plugin: VendorPlugin) -> str:
    """Return the commands that install a plugin with and without access to its vendor."""
    command = f'eval "$(bin/lab env)"; pulumi {" ".join(plugin.installation)}'
    return (
        f"With access to its vendor, run: {command}\n"
        f"Without, copy the vendor's archive pulumi-resource-{plugin.name}-{plugin.tag}-OS-PROCESSOR.tar.gz to this "
        f"machine, check it against the vendor's checksums, and run: {command} --file PATH"
    )


def _distinct_errors(stderr: str) -> str:
    """Return the lines of Pulumi's error output without repetitions: it tries five times."""
    lines = [line for line in stderr.splitlines() if line.strip() and not line.startswith("Will retry")]
    return "\n".join(f"  {line}" for line in dict.fromkeys(lines))
