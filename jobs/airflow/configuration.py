# SPDX-License-Identifier: Apache-2.0
"""Airflow's options, from the variables that the lab's service sets. Pure.

Airflow reads an option `key` of `[section]` from the variable `AIRFLOW__SECTION__KEY`, so it needs no file with
credentials.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

Options = dict[str, dict[str, object]]

PARALLEL_TASKS = 4
"""Tasks that run at the same time; each waiting worker takes 9 MB."""

DELIVERY_RETRIES = 8
"""Further attempts to deliver an event, with pauses of 0.5 s, 1 s, 2 s ... 64 s between them."""

DELIVERY_SECONDS = 180
"""Time limit of reporting an event, with its retries; Airflow's own is 10 s."""


def options(variables: Mapping[str, str], dags: Path) -> Options:
    """Return Airflow's options by section.

    Args:
        variables: `AIRFLOW_HOME`, `LAB_AIRFLOW_URL` (of the API server), `LAB_AIRFLOW_DATABASE` (`host:port/name`),
            `LAB_AIRFLOW_DATABASE_USER`, `POSTGRES_PASSWORD`, `LAB_AIRFLOW_USER`, `LAB_AIRFLOW_PASSWORD`,
            `LAB_AIRFLOW_PASSWORDS_FILE`, `OPENLINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, and `LINEAGE_API_KEY` if the
            lineage service requires keys.
        dags: folder of the DAGs.

    Raises:
        KeyError: a variable is missing.
    """
    url, password = variables["LAB_AIRFLOW_URL"], variables["LAB_AIRFLOW_PASSWORD"]
    host, _, port = url.removeprefix("http://").partition(":")
    user, secret = (quote(variables[name], safe="") for name in ("LAB_AIRFLOW_DATABASE_USER", "POSTGRES_PASSWORD"))
    database = f"{user}:{secret}@{variables['LAB_AIRFLOW_DATABASE']}"
    return {
        "core": {
            "dags_folder": dags,
            "load_examples": False,
            "dags_are_paused_at_creation": False,
            "executor": "LocalExecutor",
            "parallelism": PARALLEL_TASKS,
            "execution_api_server_url": f"{url}/execution/",
            "fernet_key": _fernet_key(password),
            "simple_auth_manager_users": f"{variables['LAB_AIRFLOW_USER']}:admin",
            "simple_auth_manager_passwords_file": variables["LAB_AIRFLOW_PASSWORDS_FILE"],
        },
        # Three processes share the 60 connections of the lab's Postgres with all others.
        "database": {
            "sql_alchemy_conn": f"postgresql+psycopg2://{database}",
            "sql_alchemy_conn_async": f"postgresql+asyncpg://{database}",
            "sql_alchemy_pool_size": 2,
            "sql_alchemy_max_overflow": 4,
        },
        "api": {"host": host, "port": port, "base_url": url, "workers": 1, "secret_key": _derived(password, "session")},
        "api_auth": {"jwt_secret": _derived(password, "token")},
        "logging": {"base_log_folder": f"{variables['AIRFLOW_HOME']}/logs"},
        # A new file is a DAG within a minute, instead of five.
        "dag_processor": {"parsing_processes": 1, "refresh_interval": 30, "min_file_process_interval": 30},
        # A task whose process was killed has failed after a minute, instead of five.
        "scheduler": {"task_instance_heartbeat_timeout": 60, "task_instance_heartbeat_timeout_detection_interval": 5},
        # While a lab starts on two cores, an answer takes longer than the 5 s after which Airflow fails the task.
        "workers": {"execution_api_timeout": 60},
        "usage_data_collection": {"enabled": False},
        "openlineage": {
            "namespace": variables["OPENLINEAGE_NAMESPACE"],
            "transport": json.dumps(_transport(variables["OPENLINEAGE_URL"], variables.get("LINEAGE_API_KEY", ""))),
            "execution_timeout": DELIVERY_SECONDS,
        },
    }


def environment(sections: Options) -> dict[str, str]:
    """Return the environment variables of options."""
    return {
        f"AIRFLOW__{section}__{key}".upper(): str(value)
        for section, pairs in sections.items()
        for key, value in pairs.items()
    }


def _transport(url: str, key: str) -> dict[str, object]:
    """Return the transport of the OpenLineage client: HTTP that outlives a restart of the lineage service."""
    retry = {
        "total": DELIVERY_RETRIES,
        "backoff_factor": 0.5,
        "allowed_methods": ["POST"],
        "status_forcelist": [429, 500, 502, 503, 504],
    }
    auth = {"auth": {"type": "api_key", "apiKey": key}} if key else {}
    return {"type": "http", "url": url, "retry": retry, **auth}


def _derived(secret: str, purpose: str) -> str:
    """Return a key for one purpose, the same in all processes, which does not reveal the secret."""
    return hashlib.sha256(f"{purpose}:{secret}".encode()).hexdigest()


def _fernet_key(secret: str) -> str:
    """Return the key with which Airflow encrypts connections: 32 bytes, URL-safe base64."""
    return base64.urlsafe_b64encode(bytes.fromhex(_derived(secret, "fernet"))).decode()
