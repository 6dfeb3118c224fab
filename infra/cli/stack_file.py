# SPDX-License-Identifier: Apache-2.0
"""Configuration of a stack, read from its file and the project's without Pulumi."""

from pathlib import Path
from typing import Any

import yaml

from infra.catalog import LabSettings
from infra.errors import SettingsError
from infra.project import NAME, PROJECT
from infra.settings import TLS, Settings, lab_config, lab_keys, parse_settings
from infra.targets.kubernetes.stack_namespace import stack_namespace


def stack_settings(stack: str) -> Settings:
    """Return the settings in `Pulumi.<stack>.yaml` and in the block `config` of `Pulumi.yaml`, else the defaults.

    Raises:
        SettingsError: a file is not YAML, or a setting is invalid.
    """
    return parse_settings(lab_config(_read_config(stack)), LabSettings)


def stack_target(stack: str) -> str:
    """Return the target of a stack, even if other settings are invalid: an existing lab stays removable.

    Raises:
        SettingsError: the file is not YAML.
    """
    return lab_keys(_read_config(stack)).get("target", str(Settings.model_fields["target"].default))


def has_tls(stack: str) -> bool:
    """Return whether a stack is configured with TLS, even if other settings are invalid.

    Raises:
        SettingsError: the file is not YAML.
    """
    return lab_keys(_read_config(stack)).get("security") == TLS


def stack_place(stack: str) -> tuple[str, str]:
    """Return context and namespace of a stack on Kubernetes, even if other settings are invalid.

    Raises:
        SettingsError: the file is not YAML.
    """
    config = lab_keys(_read_config(stack))
    return config.get("kubernetesContext", ""), stack_namespace(stack, config.get("kubernetesNamespace", ""))


def config_text(value: object) -> str:
    """Return a configuration value as the text that Pulumi passes to the program."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_config(stack: str) -> dict[str, str]:
    """Return the keys in the stack's file and in the project's; the stack's take precedence."""
    project = _config_in(PROJECT / "Pulumi.yaml")
    own = {key if ":" in key else f"{NAME}:{key}": _default_of(value) for key, value in project.items()}
    everything = own | _config_in(PROJECT / f"Pulumi.{stack}.yaml")
    return {key: config_text(value) for key, value in everything.items()}


def _config_in(path: Path) -> dict[str, Any]:
    """Return the block `config` of a file; empty if there is none."""
    try:
        document: Any = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (OSError, yaml.YAMLError) as error:
        raise SettingsError(f"cannot read {path.name}: {error}") from error
    config = document.get("config") if isinstance(document, dict) else None
    if config is not None and not isinstance(config, dict):
        raise SettingsError(f"cannot read {path.name}: `config` must be a mapping of keys to values")
    return {str(key): value for key, value in (config or {}).items()}


def _default_of(value: object) -> object:
    """Return the value of a key in the project's file, where it can be declared with a type and a default."""
    if isinstance(value, dict):
        return value.get("value", value.get("default"))
    return value
