# SPDX-License-Identifier: Apache-2.0
"""Installation of Pulumi's Docker plugin, on which the Docker target is built.

It is the only part of the toolchain that the lab neither builds nor resolves from a package registry: its vendor
publishes it. It is installed once, into the download cache.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import yaml

from infra.cli.console import out
from infra.cli.stack import Stack, plugin_folder
from infra.errors import LabError
from infra.project import PROJECT, PULUMI_STATE

PLUGIN_NAME = "docker"
DISABLING_VARIABLE = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"


def ensure_plugin(stack: Stack) -> None:
    """Install the plugin unless Pulumi finds one.

    Raises:
        LabError: the plugin is missing, and its installation failed or is disabled; the message has the command.
    """
    if _is_plugin_available():
        return
    tag = f"v{plugin_version()}"
    words = ("plugin", "install", "resource", PLUGIN_NAME, tag)
    missing = f"Pulumi's plugin {PLUGIN_NAME} {tag} is missing"
    remedy = f'With access to its vendor, run: eval "$(bin/lab env)"; pulumi {" ".join(words)}'
    if installation_disabled(os.environ):
        raise LabError(f"{missing}, and {DISABLING_VARIABLE} disables its installation.\n{remedy}")
    out.print(f"installing Pulumi's plugin {PLUGIN_NAME} {tag}")
    result = subprocess.run(
        ("pulumi", *words), env=stack.environment(), cwd=PROJECT, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise LabError(f"{missing}, and its installation failed:\n{_distinct_errors(result.stderr)}\n{remedy}")


def installation_disabled(environment: Mapping[str, str]) -> bool:
    """Return True if the user disabled the installation of plugins; the value that `lab env` exports does not count."""
    from_lab_env = environment.get("PULUMI_HOME") == str(PULUMI_STATE / "home")
    return not from_lab_env and environment.get(DISABLING_VARIABLE, "").lower() in {"1", "true"}


def plugin_version() -> str:
    """Return the version of the plugin, which is released together with its SDK."""
    return version("pulumi-docker")


def _is_plugin_available() -> bool:
    """Return True if Pulumi finds the plugin: named by the project, attached to a debugger, on PATH, or installed."""
    project: Any = yaml.safe_load((PROJECT / "Pulumi.yaml").read_text(encoding="utf-8"))
    named = [plugin["name"] for plugin in project.get("plugins", {}).get("providers", ())]
    attached = [entry.partition(":")[0] for entry in os.environ.get("PULUMI_DEBUG_PROVIDERS", "").split(",")]
    return (
        PLUGIN_NAME in named
        or PLUGIN_NAME in attached
        or shutil.which(f"pulumi-resource-{PLUGIN_NAME}") is not None
        or (plugin_folder() / f"resource-{PLUGIN_NAME}-v{plugin_version()}").is_dir()
    )


def _distinct_errors(stderr: str) -> str:
    """Return the lines of Pulumi's error output without repetitions: it tries five times."""
    lines = [line for line in stderr.splitlines() if line.strip() and not line.startswith("Will retry")]
    return "\n".join(f"  {line}" for line in dict.fromkeys(lines))
