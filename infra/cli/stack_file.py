# SPDX-License-Identifier: Apache-2.0
"""Configuration of a stack, read from its file without Pulumi."""

from typing import Any

import yaml

from infra.catalog import LabSettings
from infra.errors import SettingsError
from infra.project import NAME, PROJECT
from infra.settings import Settings, parse_settings
from infra.targets.kubernetes.stack_namespace import stack_namespace


def stack_settings(stack: str) -> Settings:
    """Return the settings in `Pulumi.<stack>.yaml`, or the defaults if the file does not exist.

    Raises:
        SettingsError: the file is not YAML, or a setting is invalid.
    """
    return parse_settings(_read_config(stack), LabSettings)


def stack_target(stack: str) -> str:
    """Return the target of a stack, even if other settings are invalid: an existing lab stays removable.

    Raises:
        SettingsError: the file is not YAML.
    """
    return _read_config(stack).get("target", str(Settings.model_fields["target"].default))


def stack_place(stack: str) -> tuple[str, str]:
    """Return context and namespace of a stack on Kubernetes, even if other settings are invalid.

    Raises:
        SettingsError: the file is not YAML.
    """
    config = _read_config(stack)
    return config.get("kubernetesContext", ""), stack_namespace(stack, config.get("kubernetesNamespace", ""))


def config_text(value: object) -> str:
    """Return a configuration value as the text that Pulumi passes to the program."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_config(stack: str) -> dict[str, str]:
    """Return the lab's keys in the stack's file, without their prefix."""
    path = PROJECT / f"Pulumi.{stack}.yaml"
    try:
        document: Any = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (OSError, yaml.YAMLError) as error:
        raise SettingsError(f"cannot read {path.name}: {error}") from error
    config = document.get("config") if isinstance(document, dict) else None
    prefix = f"{NAME}:"
    return {
        key.removeprefix(prefix): config_text(value) for key, value in (config or {}).items() if key.startswith(prefix)
    }
