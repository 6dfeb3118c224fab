# SPDX-License-Identifier: Apache-2.0
"""Settings of the lineage history, apart from its parts, as the lineage service needs them too."""

from pydantic import Field

from infra.services.definition import FULL
from infra.settings import BooleanSetting, Settings, SettingsSection


class LineageHistorySettings(SettingsSection):
    """Settings of the lineage history."""

    lineage_history: BooleanSetting = Field(
        False, description="keep all lineage events in the table lake.lineage.events, through Kafka and an Iceberg sink"
    )


def included(settings: Settings) -> bool:
    """Return True if the lab keeps its lineage history in the lake."""
    return settings.profile == FULL and settings.section(LineageHistorySettings).lineage_history
