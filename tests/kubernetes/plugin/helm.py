# SPDX-License-Identifier: Apache-2.0
"""Runs the program `helm` for one cluster."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tests.kubernetes.plugin.kubeconfig import is_path, read_kubeconfig, with_overrides
from tests.vendor_plugin.properties import Properties

NOT_FOUND = "release: not found"
UNREACHABLE = "Kubernetes cluster unreachable"
POLL_SECONDS = 0.2


class HelmError(Exception):
    """A command failed; the text is Helm's error message."""


class ClusterUnreachableError(HelmError):
    """The API server does not respond, or the kubeconfig has no usable context."""


@dataclass(frozen=True)
class ReleaseRecord:
    """A release in the cluster: values of the user, and what Helm records about it.

    Attributes:
        metadata: output of `helm get metadata`: name, namespace, chart, version, appVersion, revision, status.
        values: values of the user, without the chart's defaults.
        manifest: the release's objects as YAML documents, without hooks.
    """

    metadata: Mapping[str, Any]
    values: Properties
    manifest: str

    @property
    def revision(self) -> int:
        return int(self.metadata["revision"])


@dataclass(frozen=True)
class Helm:
    """Program `helm` for one cluster.

    Attributes:
        options: options that select the cluster.
        descriptors: open files that the options name.
        stopped: event that is set when the user stops the update.
    """

    options: tuple[str, ...]
    descriptors: tuple[int, ...]
    stopped: threading.Event

    @classmethod
    def select(cls, settings: Mapping[str, Any], stopped: threading.Event) -> "Helm":
        """Return Helm for the cluster that a provider's configuration selects."""
        given, context = settings.get("kubeconfig"), settings.get("context")
        if settings.get("cluster") or (given and not is_path(given)):
            descriptor = os.memfd_create("kubeconfig")  # Helm has no option for either
            os.write(descriptor, yaml.safe_dump(with_overrides(read_kubeconfig(settings), settings)).encode())
            return cls(("--kubeconfig", f"/proc/self/fd/{descriptor}"), (descriptor,), stopped)
        options = {"--kubeconfig": given, "--kube-context": context}
        return cls(tuple(word for pair in options.items() if pair[1] for word in pair), (), stopped)

    def chart_version(self, chart: str) -> str:
        """Return the version of a chart. Raises HelmError."""
        return str(yaml.safe_load(self.run("show", "chart", chart))["version"])

    def find(self, name: str, namespace: str) -> ReleaseRecord | None:
        """Return a release; None if it does not exist. Raises HelmError."""
        identity = (name, "--namespace", namespace, "--output", "json")
        try:
            metadata = json.loads(self.run("get", "metadata", *identity))
            status = json.loads(self.run("status", *identity))
        except HelmError as error:
            if NOT_FOUND in str(error):
                return None
            raise
        return ReleaseRecord(metadata, status.get("config") or {}, status.get("manifest", ""))

    def run(self, *arguments: str, values: Properties | None = None, cancellable: bool = False) -> str:
        """Run a command and return its output.

        Args:
            arguments: command with arguments.
            values: values of a release, which the command reads from standard input (`--values -`).
            cancellable: True to terminate the command when the user stops the update.

        Raises:
            ClusterUnreachableError: there is no cluster.
            HelmError: the command failed for another reason.
        """
        with subprocess.Popen(
            (self._program(), *arguments, *self.options),
            env={name: value for name, value in os.environ.items() if not name.startswith("HELM_")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=self.descriptors,
        ) as process:
            output, errors = self._communicate(process, json.dumps(values or {}), cancellable)
        if process.returncode == 0:
            return output
        text = errors.strip().removeprefix("Error: ")
        raise ClusterUnreachableError(text) if UNREACHABLE in text else HelmError(text)

    def _program(self) -> str:
        if found := shutil.which("helm"):
            return found
        raise HelmError("the fake plugin requires the program `helm` on PATH")

    def _communicate(self, process: "subprocess.Popen[str]", sent: str, cancellable: bool) -> tuple[str, str]:
        terminated, remaining = False, sent or None
        while True:
            try:
                return process.communicate(remaining, timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                remaining = None  # the process keeps what it has not written yet
                if cancellable and self.stopped.is_set() and not terminated:
                    process.terminate()  # Helm marks the release as failed, or removes an atomic one
                    terminated = True
