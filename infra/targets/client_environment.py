# SPDX-License-Identifier: Apache-2.0
"""The variables of `lab.env`: where everything is, under the lab's own names and those that clients look for."""

from collections.abc import Mapping

from infra import credentials
from infra.services import postgres


def environment(endpoints: Mapping[str, str]) -> dict[str, str]:
    """Those that are no secret, from the stack's endpoints by name."""
    return {
        **{f"LAB_{name.upper()}": value for name, value in endpoints.items()},
        "AWS_ENDPOINT_URL_S3": endpoints["s3"],
        "AWS_REGION": credentials.S3_REGION,
        "OPENLINEAGE_URL": endpoints["lineage"],
        **_postgres(endpoints),
    }


def secret_environment(endpoints: Mapping[str, str]) -> dict[str, str]:
    """Those that are: variable -> name of the credential."""
    s3 = {
        "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
    }
    return s3 | ({"PGPASSWORD": credentials.POSTGRES_PASSWORD} if _has_postgres(endpoints) else {})


def _has_postgres(endpoints: Mapping[str, str]) -> bool:
    return postgres.SQL.published_as in endpoints


def _postgres(endpoints: Mapping[str, str]) -> dict[str, str]:
    if not _has_postgres(endpoints):
        return {}
    host, _, port = endpoints[postgres.SQL.published_as].rpartition(":")
    return {"PGHOST": host, "PGPORT": port, "PGUSER": postgres.USER}
