# SPDX-License-Identifier: Apache-2.0
"""Calls of kubectl, found on PATH, with the kubeconfig of the environment."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_READY_TIMEOUT = 60


class KubectlError(Exception):
    """kubectl failed; the message is its error output."""


@dataclass(frozen=True)
class Kubectl:
    """kubectl in a namespace; empty: the default one."""

    namespace: str = ""

    def run(self, *arguments: str, manifests: str | None = None) -> str:
        """Run kubectl, with manifests on standard input, and return its output. Raises KubectlError."""
        done = subprocess.run(self._command(*arguments), input=manifests, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise KubectlError(done.stderr.strip())
        return done.stdout.strip()

    def apply(self, *manifests: dict[str, Any], options: tuple[str, ...] = ()) -> str:
        """Create or update objects. Raises KubectlError."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        return self.run("apply", "-f", "-", *options, manifests=json.dumps(items))

    def get(self, *arguments: str) -> dict[str, Any] | None:
        """Return an object, or None if it does not exist. Raises KubectlError."""
        output = self.run("get", *arguments, "--output=json", "--ignore-not-found")
        return json.loads(output) if output else None

    def await_condition(self, condition: str, *objects: str, seconds: int = _READY_TIMEOUT) -> None:
        """Wait for a condition, as in `condition=Ready`. Raises KubectlError after `seconds`."""
        self.run("wait", f"--for={condition}", f"--timeout={seconds}s", *objects)

    def exec(self, pod: str, *command: str) -> str:
        """Run a command in a pod and return its output. Raises KubectlError."""
        return self.run("exec", pod, "--", *command)

    @contextmanager
    def port_forward(self, target: str, port: int) -> Iterator[int]:
        """Forward a free port of loopback to a port of a pod or Service; yield the local port."""
        command = self._command("port-forward", target, f":{port}", "--address=127.0.0.1")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                line = process.stdout.readline()
                found = re.match(r"Forwarding from 127\.0\.0\.1:(\d+)", line)
                if not found:
                    raise KubectlError(line + process.stderr.read())
                yield int(found.group(1))
            finally:
                process.terminate()
                process.communicate()

    def _command(self, *arguments: str) -> list[str]:
        return ["kubectl", *(["--namespace", self.namespace] if self.namespace else []), *arguments]
