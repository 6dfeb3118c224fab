# SPDX-License-Identifier: Apache-2.0
"""Settings of the forecast, apart from its task, as the lineage service needs them too."""

from pydantic import Field

from infra.services.definition import FULL
from infra.settings import BooleanSetting, Settings, SettingsSection

FEATURE = "forecast"
"""Name under which the lineage contract requires the feature table and the model."""


class ForecastSettings(SettingsSection):
    """Settings of the forecast."""

    forecast: BooleanSetting = Field(
        False, description="add the tasks supplier_features and price_forecast_training, a model on a feature table"
    )


def included(settings: Settings) -> bool:
    """Return True if the lab has the forecast."""
    return settings.profile == FULL and settings.section(ForecastSettings).forecast


def features(settings: Settings) -> frozenset[str]:
    """Return the feature of the forecast, as the lineage contract names it (`requires`)."""
    return frozenset({FEATURE}) if included(settings) else frozenset()
