# SPDX-License-Identifier: Apache-2.0
"""Check that the measured jobs reported their lineage: a figure with lineage on counts only if it did."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from infra.namespaces import JOB_NAMESPACE

MAX_RUNS = 1_000


def count_ended_runs(service_url: str, job: str) -> int:
    """Return the number of ended runs of a job that a lineage service has stored."""
    address = f"{service_url}/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs"
    response = httpx.get(address, params={"limit": MAX_RUNS}, timeout=60, trust_env=False)
    if response.status_code == httpx.codes.NOT_FOUND:
        return 0
    return sum(run["endedAt"] is not None for run in response.raise_for_status().json()["runs"])


@contextmanager
def expect_ended_runs(service_url: str, job: str, count: int) -> Iterator[None]:
    """Check that exactly `count` runs of a job end during the block.

    Raises:
        RuntimeError: another number of runs ended.
    """
    before = count_ended_runs(service_url, job)
    yield
    if (ended := count_ended_runs(service_url, job) - before) != count:
        raise RuntimeError(f"expected {count} ended runs of {job} at {service_url}, found {ended}")
