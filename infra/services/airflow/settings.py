# SPDX-License-Identifier: Apache-2.0
"""Settings of Airflow."""

from pydantic import Field

from infra.errors import SettingsError
from infra.services.definition import FULL
from infra.settings import BooleanSetting, Settings, SettingsSection


class AirflowSettings(SettingsSection):
    """Settings of Airflow."""

    airflow: BooleanSetting = Field(
        False, description="add Airflow, which runs the workflows of jobs/workflows as DAGs (target local)"
    )


def included(settings: Settings) -> bool:
    """Return True if the lab has Airflow."""
    return settings.profile == FULL and settings.section(AirflowSettings).airflow


def check(settings: Settings) -> None:
    """Raise SettingsError on a target whose processes cannot run `bin/lab`, as a task of a DAG does."""
    if included(settings) and settings.target != "local":
        raise SettingsError(
            f"lineage-lab:airflow is true, and target {settings.target} has no `bin/lab` in its containers, with which"
            " a DAG runs the lab's tasks: remove the setting, or set lineage-lab:target: local. An Airflow of your own"
            " can run `bin/lab run TASK` on this machine, see docs/how-to/run-with-airflow.md"
        )
