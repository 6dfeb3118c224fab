# SPDX-License-Identifier: Apache-2.0
"""Selection of the cluster by the provider's configuration and the kubeconfig."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.vendor_plugin.properties import Properties

DEFAULT_PATH = "~/.kube/config"
DEFAULT_NAMESPACE = "default"
LISTS = ("clusters", "contexts", "users")


def read_kubeconfig(settings: Mapping[str, Any]) -> Properties:
    """Return the kubeconfig of a provider: `kubeconfig`, which is a path or its contents, else the user's.

    A missing or damaged kubeconfig is empty; Helm reports it as an unreachable cluster.
    """
    given = settings.get("kubeconfig")
    if not given:
        paths = os.environ.get("KUBECONFIG") or str(Path(DEFAULT_PATH).expanduser())
        return _merged([_read(Path(path)) for path in paths.split(os.pathsep) if path])
    return _read(Path(given).expanduser()) if is_path(given) else _parse(given)


def is_path(kubeconfig: str) -> bool:
    """Return whether a provider's `kubeconfig` is a path, not the contents."""
    return "\n" not in kubeconfig and "{" not in kubeconfig


def with_overrides(config: Mapping[str, Any], settings: Mapping[str, Any]) -> Properties:
    """Return a kubeconfig whose current context is the provider's `context`, on its `cluster`."""
    context = settings.get("context") or config.get("current-context", "")
    entries = [
        {**entry, "context": {**entry["context"], "cluster": settings["cluster"]}}
        if settings.get("cluster") and entry["name"] == context
        else entry
        for entry in config.get("contexts") or []
    ]
    return {**config, "contexts": entries, "current-context": context}


def active_cluster(config: Mapping[str, Any]) -> Any:
    """Return the cluster of the current context; None if the kubeconfig has none."""
    return _named(config, "clusters", "cluster", _active_context(config).get("cluster"))


def default_namespace(config: Mapping[str, Any]) -> str:
    """Return the namespace of the current context, else Kubernetes' default."""
    return str(_active_context(config).get("namespace") or DEFAULT_NAMESPACE)


def _active_context(config: Mapping[str, Any]) -> Mapping[str, Any]:
    return _named(config, "contexts", "context", config.get("current-context")) or {}


def _named(config: Mapping[str, Any], entries: str, content: str, name: str | None) -> Any:
    return next((entry[content] for entry in config.get(entries) or [] if entry["name"] == name), None)


def _read(path: Path) -> Properties:
    try:
        return _parse(path.read_text())
    except OSError:
        return {}


def _parse(text: str) -> Properties:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _merged(configs: list[Properties]) -> Properties:
    """Merge kubeconfigs; the first file that has a name or a key wins."""
    merged: Properties = {key: value for config in reversed(configs) for key, value in config.items()}
    for entries in LISTS:
        by_name = {entry["name"]: entry for config in reversed(configs) for entry in config.get(entries) or []}
        merged[entries] = list(by_name.values())
    return merged
