# SPDX-License-Identifier: Apache-2.0
"""Identities of datasets, jobs and runs."""

from typing import Any, NamedTuple

JsonObject = dict[str, Any]


class DatasetId(NamedTuple):
    """Dataset under its canonical name, such as (`s3://warehouse`, `sales/orders`)."""

    namespace: str
    name: str


class JobId(NamedTuple):
    """Job, such as (`lineage-lab`, `orders_etl`)."""

    namespace: str
    name: str


class RunId(NamedTuple):
    """One run of one job.

    The job belongs to the identity: otherwise an emitter that renames a job during a run would merge two jobs.
    """

    run: str
    job: JobId


def identity_json(identity: DatasetId | JobId) -> JsonObject:
    """Return an identity as an object with `namespace` and `name`."""
    return {"namespace": identity.namespace, "name": identity.name}
