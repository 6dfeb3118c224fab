# SPDX-License-Identifier: Apache-2.0
"""Settings of the dashboard, apart from its service, as those of the dbt project need them too."""

from pydantic import Field

from infra.services.definition import FULL
from infra.settings import BooleanSetting, Settings, SettingsSection


class DashboardSettings(SettingsSection):
    """Settings of the dashboard."""

    dashboard: BooleanSetting = Field(False, description="add a dashboard of the sales, and dbt, whose tables it shows")


def included(settings: Settings) -> bool:
    """Return True if the lab has the dashboard."""
    return settings.profile == FULL and settings.section(DashboardSettings).dashboard
