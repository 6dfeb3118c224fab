# SPDX-License-Identifier: Apache-2.0
"""Contexts of the kubeconfig: the cluster that a stack is deployed to, and the user's credentials for it."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubernetes.client import Configuration
from kubernetes.config import ConfigException, kube_config
from yaml import YAMLError

from infra.errors import LabError

SETTING = "lineage-lab:kubernetesContext"
"""Setting of a stack that names its context."""

DEFAULT_PATH = "~/.kube/config"

_REMEDY = (
    "Create it with the cluster's own tool (`kind export kubeconfig`, `minikube update-context`, "
    "`aws eks update-kubeconfig`), or set KUBECONFIG to another file"
)


class ClusterError(LabError):
    """No usable Kubernetes cluster."""


def kubeconfig_path() -> str:
    """Return the paths of the kubeconfig files, separated like `PATH`: `KUBECONFIG`, else the default."""
    return os.environ.get("KUBECONFIG") or str(Path(DEFAULT_PATH).expanduser())


def load_configuration(context: str) -> Configuration:
    """Return the client's configuration for a context; it reads tokens again before they expire.

    Raises:
        ClusterError: there is no kubeconfig or no such context, or its credentials cannot be loaded.
    """
    servers = _servers()
    if context not in servers:
        known = "".join(f"\n  {name}  {server}" for name, server in sorted(servers.items()))
        problem = f"the kubeconfig {kubeconfig_path()} has no context {context!r}" if context else "no context is set"
        raise ClusterError(f"{problem}. Set {SETTING} to one of the contexts:{known}")
    configuration = Configuration()
    try:
        with _logged_errors() as problems:
            kube_config.load_kube_config(kubeconfig_path(), context, configuration)
    except (ConfigException, OSError, ValueError) as error:
        raise _credentials_error(context, str(error)) from error
    if problems:
        raise _credentials_error(context, "; ".join(problems))
    return configuration


def _credentials_error(context: str, problem: str) -> ClusterError:
    return ClusterError(
        f"the credentials of context {context} in {kubeconfig_path()} cannot be loaded: {problem}. "
        f"Check them with `kubectl --context {context} get namespaces`"
    )


@contextmanager
def _logged_errors() -> Iterator[list[str]]:
    """Collect the errors that the client library only logs: a program that provides the token has failed."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    collector = Collector(logging.ERROR)
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        yield messages
    finally:
        root.removeHandler(collector)


def _servers() -> dict[str, str]:
    """Return the API server's URL of each context."""
    try:
        merged = kube_config.KubeConfigMerger(kubeconfig_path()).config
        entries = {} if merged is None else {section: _entries(merged, section) for section in ("clusters", "contexts")}
    except (ConfigException, YAMLError, OSError, KeyError, TypeError, AttributeError) as error:
        raise ClusterError(f"the kubeconfig {kubeconfig_path()} cannot be read: {error}. {_REMEDY}") from error
    if not entries:
        raise ClusterError(f"there is no kubeconfig at {kubeconfig_path()}. {_REMEDY}")
    if not entries["contexts"]:
        raise ClusterError(f"the kubeconfig {kubeconfig_path()} has no context. {_REMEDY}")
    servers = {name: cluster.get("server", "") for name, cluster in entries["clusters"].items()}
    return {name: servers.get(context.get("cluster", ""), "") for name, context in entries["contexts"].items()}


def _entries(merged: kube_config.ConfigNode, section: str) -> dict[str, dict[str, str]]:
    """Return the clusters or contexts of a merged kubeconfig by name."""
    nodes = (node.value for node in merged.value[section])
    return {node["name"]: node[section.removesuffix("s")] for node in nodes}
