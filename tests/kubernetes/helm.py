# SPDX-License-Identifier: Apache-2.0
"""Calls of Helm with the lab's chart."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infra.targets.kubernetes.chart import CHART
from infra.targets.kubernetes.names import RELEASE

Manifest = dict[str, Any]


class HelmError(Exception):
    """Helm failed; the message is its error output."""


@dataclass(frozen=True)
class Helm:
    """Helm, with the kubeconfig of the environment."""

    program: Path

    def run(self, *arguments: str, values: Mapping[str, Any] | None = None) -> str:
        """Run Helm, with values on standard input, and return its output. Raises HelmError."""
        options = ["--values", "-"] if values is not None else []
        text = json.dumps(values) if values is not None else None
        command = [self.program, *arguments, *options]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise HelmError(done.stderr.strip() or done.stdout.strip())
        return done.stdout

    def lint(self, values: Mapping[str, Any] | None = None) -> str:
        """Run the strict checks of Helm and return its report. Raises HelmError."""
        return self.run("lint", "--strict", str(CHART), values=values)

    def template(self, values: Mapping[str, Any], *options: str) -> list[Manifest]:
        """Return the manifests of a release in the namespace `lab`. Raises HelmError."""
        output = self.run("template", RELEASE, str(CHART), "--namespace", "lab", *options, values=values)
        return [manifest for manifest in yaml.safe_load_all(output) if manifest]
