# SPDX-License-Identifier: Apache-2.0
"""The configuration of a stack, read from its file without Pulumi."""

from typing import Any

import yaml

from infra.catalog import LabSettings
from infra.errors import SettingsError
from infra.project import NAME, PROJECT
from infra.settings import Settings, settings_from


def stack_settings(stack: str) -> Settings:
    """The settings in `Pulumi.<stack>.yaml`; the defaults where there is no such file.

    Raises:
        SettingsError: the file is no YAML, or its configuration makes no sense.
    """
    return settings_from(_config(stack), LabSettings)


def stack_target(stack: str) -> str:
    """Where the stack runs, by its file: also where the rest of the configuration makes no sense, as a lab that is
    there already can be looked at and taken down all the same.

    Raises:
        SettingsError: the file is no YAML.
    """
    return _config(stack).get("target", str(Settings.model_fields["target"].default))


def _config(stack: str) -> dict[str, str]:
    """The lab's keys in the stack's file, without their prefix, as the text that Pulumi hands to the program."""
    path = PROJECT / f"Pulumi.{stack}.yaml"
    try:
        document: Any = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (OSError, yaml.YAMLError) as error:
        raise SettingsError(f"{path.name} cannot be read: {error}") from error
    config = document.get("config") if isinstance(document, dict) else None
    prefix = f"{NAME}:"
    return {key.removeprefix(prefix): text_of(value) for key, value in (config or {}).items() if key.startswith(prefix)}


def text_of(value: object) -> str:
    """A value as Pulumi hands it to the program."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
