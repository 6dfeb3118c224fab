# SPDX-License-Identifier: Apache-2.0
"""Pulumi's plugin for Docker: the vendor's, which the stack's target is written for.

It is the one thing of the toolchain that the kit can neither build nor bring: its vendor publishes it. It is installed
once, into the download cache.
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

NAME = "docker"
SWITCH = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"


def ensure_plugin(lab: Stack) -> None:
    """Installs the plugin of the SDK's version where Pulumi would not find one.

    Raises:
        LabError: it is not there, and could not be installed or must not be; the text has the command.
    """
    if _is_found():
        return
    words = ("plugin", "install", "resource", NAME, f"v{_version()}")
    remedy = f'Where its vendor can be reached: eval "$(bin/lab env)"; pulumi {" ".join(words)}'
    if switched_off(os.environ):
        raise LabError(f"Pulumi's plugin {NAME} {words[-1]} is missing, and {SWITCH} forbids to install it.\n{remedy}")
    out.print(f"installing Pulumi's plugin {NAME} {words[-1]}")
    result = subprocess.run(
        ("pulumi", *words), env=lab.environment(), cwd=PROJECT, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise LabError(
            f"Pulumi's plugin {NAME} {words[-1]} is missing, and installing it failed:\n"
            f"{_causes(result.stderr)}\n{remedy}"
        )


def switched_off(environment: Mapping[str, str]) -> bool:
    """Whether the user forbids to install plugins. What `lab env` exports is the lab's own, and not meant so."""
    ours = environment.get("PULUMI_HOME") == str(PULUMI_STATE / "home")
    return not ours and environment.get(SWITCH, "").lower() in {"1", "true"}


def _is_found() -> bool:
    """Whether Pulumi would find the plugin: named by the project or by a debugger, on the path, or installed."""
    project: Any = yaml.safe_load((PROJECT / "Pulumi.yaml").read_text(encoding="utf-8"))
    named = [plugin["name"] for plugin in project.get("plugins", {}).get("providers", ())]
    attached = [entry.partition(":")[0] for entry in os.environ.get("PULUMI_DEBUG_PROVIDERS", "").split(",")]
    return (
        NAME in named
        or NAME in attached
        or shutil.which(f"pulumi-resource-{NAME}") is not None
        or (plugin_folder() / f"resource-{NAME}-v{_version()}").is_dir()
    )


def _version() -> str:
    """SDK and plugin of one release go together."""
    return version("pulumi-docker")


def _causes(text: str) -> str:
    """What Pulumi says, once: it tries five times."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("Will retry")]
    return "\n".join(f"  {line}" for line in dict.fromkeys(lines))
