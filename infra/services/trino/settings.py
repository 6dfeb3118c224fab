# SPDX-License-Identifier: Apache-2.0
"""Settings of Trino."""

from pydantic import Field

from infra.services.definition import FULL
from infra.settings import BooleanSetting, Settings, SettingsSection


class TrinoSettings(SettingsSection):
    """Settings of Trino."""

    trino: BooleanSetting = Field(False, description="add Trino, with the Iceberg catalog mounted as lake")
    trino_heap_mib: int = Field(768, ge=512, description="maximum heap of Trino, MiB")


def included(settings: Settings) -> bool:
    """Return True if the lab has Trino."""
    return settings.profile == FULL and settings.section(TrinoSettings).trino
