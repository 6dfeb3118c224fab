# SPDX-License-Identifier: Apache-2.0
"""Airflow of the lab: its services, and the options that its processes get."""

import base64
import json
from pathlib import Path

import pytest

from infra.catalog import LabSettings, build_lab
from infra.cli.setup import required_artifacts
from infra.errors import SettingsError
from infra.services.airflow import settings as airflow
from infra.services.airflow.processes import SECRETS
from jobs.airflow.configuration import environment, options
from tests.unit.infra.test_services import FakeSite

NAMES = ("airflow", "airflow_scheduler", "airflow_dag_processor")
DAGS = Path("/lab/dags")


def build(**settings):
    return build_lab(FakeSite(), LabSettings(**settings))


def keys(lab):
    return {part.key for part in (*lab.services, *lab.resources)}


def variables(**changed):
    """Return the variables of a real lab's service, with values for its credentials."""
    env = build(airflow=True).service("airflow_scheduler").env
    return {**env, **dict.fromkeys(SECRETS, "s"), **changed}


def test_airflow_is_optional():
    assert not keys(build()) & {*NAMES, "database/airflow"}
    assert "airflow" not in required_artifacts(LabSettings())
    assert keys(build(airflow=True)) >= {*NAMES, "database/airflow"}
    assert "airflow" in required_artifacts(LabSettings(airflow=True))


def test_the_tables_exist_before_scheduler_and_dag_processor_start():
    lab = build(airflow=True)
    assert "airflow" in lab.service("airflow_scheduler").needs
    assert "airflow" in lab.service("airflow_dag_processor").needs
    assert "database/airflow" in lab.service("airflow").needs


@pytest.mark.parametrize("target", ["docker", "kubernetes"])
def test_a_target_without_the_command_in_its_containers_is_refused(target):
    with pytest.raises(SettingsError, match=f"target {target} has no `bin/lab` in its containers"):
        airflow.check(LabSettings(airflow=True, target=target))


def test_every_process_has_the_variables_of_its_options():
    lab = build(airflow=True)
    for name in NAMES:
        part = lab.service(name)
        assert options({**part.env, **dict.fromkeys(part.secrets, "s")}, DAGS)["core"]["dags_folder"] == DAGS


def test_a_password_with_any_character_stays_one_password():
    found = options(variables(POSTGRES_PASSWORD="a/b@c:d%"), DAGS)["database"]
    assert found["sql_alchemy_conn"] == "postgresql+psycopg2://postgres:a%2Fb%40c%3Ad%25@postgres:5432/airflow"
    assert found["sql_alchemy_conn_async"].partition(":")[2] == found["sql_alchemy_conn"].partition(":")[2]


def test_the_key_of_the_lineage_service_is_sent_if_there_is_one():
    def transport(**changed):
        return json.loads(options(variables(**changed), DAGS)["openlineage"]["transport"])

    assert transport(LINEAGE_API_KEY="k")["auth"] == {"type": "api_key", "apiKey": "k"}
    assert "auth" not in transport(LINEAGE_API_KEY="")
    assert transport()["url"] == build(airflow=True).service("airflow").env["OPENLINEAGE_URL"]


def test_keys_are_the_same_in_all_processes_differ_by_purpose_and_hide_the_password():
    first, again = (options(variables(LAB_AIRFLOW_PASSWORD="secret"), DAGS) for _ in range(2))
    assert first == again
    keys = [first["core"]["fernet_key"], first["api"]["secret_key"], first["api_auth"]["jwt_secret"]]
    assert len(set(keys)) == 3
    assert "secret" not in "".join(keys)
    assert len(base64.urlsafe_b64decode(keys[0])) == 32
    assert options(variables(LAB_AIRFLOW_PASSWORD="other"), DAGS)["api_auth"] != first["api_auth"]


def test_options_are_environment_variables():
    assert environment({"api": {"port": 8080}, "core": {"load_examples": False}}) == {
        "AIRFLOW__API__PORT": "8080",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }


def test_nothing_is_reported_to_a_vendor_and_only_the_api_server_listens():
    found = options(variables(LAB_AIRFLOW_URL="http://127.0.0.1:8080"), DAGS)
    assert found["usage_data_collection"] == {"enabled": False}
    assert (found["api"]["host"], found["api"]["port"]) == ("127.0.0.1", "8080")
    assert "--skip-serve-logs" in build(airflow=True).service("airflow_scheduler").run.args
