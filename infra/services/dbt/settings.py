# SPDX-License-Identifier: Apache-2.0
"""Settings of the dbt project, apart from its task, as the lineage service needs them too."""

from pydantic import Field

from infra.services.dashboard.settings import DashboardSettings
from infra.services.definition import FULL
from infra.settings import BooleanSetting, Settings, SettingsSection

FEATURE = "dbt"
"""Name under which the lineage contract requires the models."""


class DbtSettings(SettingsSection):
    """Settings of the dbt project."""

    dbt: BooleanSetting = Field(False, description="add the task dbt_build, which builds the dbt project jobs/dbt")


def included(settings: Settings) -> bool:
    """Return True if the lab builds the dbt project."""
    needed = settings.section(DbtSettings).dbt or settings.section(DashboardSettings).dashboard
    return settings.profile == FULL and needed


def features(settings: Settings) -> frozenset[str]:
    """Return the feature of the project, as the lineage contract names it (`requires`)."""
    return frozenset({FEATURE}) if included(settings) else frozenset()
