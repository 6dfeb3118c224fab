# SPDX-License-Identifier: Apache-2.0
"""The configuration of a stack, read from its file without Pulumi."""

from typing import Any

import yaml

from infra.errors import SettingsError
from infra.project import NAME, PROJECT
from infra.settings import Settings, settings_from


def stack_settings(stack: str) -> Settings:
    """The settings in `Pulumi.<stack>.yaml`; the defaults where there is no such file.

    Raises:
        SettingsError: the file is no YAML, or its configuration makes no sense.
    """
    path = PROJECT / f"Pulumi.{stack}.yaml"
    try:
        document: Any = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (OSError, yaml.YAMLError) as error:
        raise SettingsError(f"{path.name} cannot be read: {error}") from error
    config = document.get("config") if isinstance(document, dict) else None
    prefix = f"{NAME}:"
    return settings_from(
        {key.removeprefix(prefix): text_of(value) for key, value in (config or {}).items() if key.startswith(prefix)}
    )


def text_of(value: object) -> str:
    """A value as Pulumi hands it to the program."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
