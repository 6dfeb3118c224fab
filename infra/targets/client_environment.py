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
        **_postgres(endpoints[postgres.SQL.published_as]),
    }


SECRETS = {
    "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
    "PGPASSWORD": credentials.POSTGRES_PASSWORD,
}
"""Those that are: variable -> name of the credential."""


def _postgres(address: str) -> dict[str, str]:
    host, _, port = address.rpartition(":")
    return {"PGHOST": host, "PGPORT": port, "PGUSER": postgres.USER}
