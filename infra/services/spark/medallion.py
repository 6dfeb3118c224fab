# SPDX-License-Identifier: Apache-2.0
"""Settings of the optional medallion jobs, apart from their drivers, as the lineage service needs them too."""

from pydantic import Field

from infra.services.definition import FULL
from infra.settings import BooleanSetting, Settings, SettingsSection

FEATURE = "medallion"
"""Name under which the lineage contract requires the jobs."""

_DAY = r"\d{4}-\d{2}-\d{2}"


class MedallionSettings(SettingsSection):
    """Settings of the medallion jobs."""

    medallion: BooleanSetting = Field(
        False, description="add enriched_orders, its backfill and supplier_activity, a second streaming driver"
    )
    backfill_days: str = Field(
        "",
        pattern=rf"^({_DAY}(,{_DAY})*)?$",
        description="days that the task enriched_orders_backfill computes: 2026-11-23,2026-11-24; empty: all",
    )


def included(settings: Settings) -> bool:
    """Return True if the lab has the medallion jobs."""
    return settings.profile == FULL and settings.section(MedallionSettings).medallion


def features(settings: Settings) -> frozenset[str]:
    """Return the optional features of the jobs, as the lineage contract names them (`requires`)."""
    return frozenset({FEATURE}) if included(settings) else frozenset()
