# SPDX-License-Identifier: Apache-2.0
"""What a lineage service has heard: so that a figure with lineage on was measured with lineage on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from infra.namespaces import JOB_NAMESPACE

MOST = 1_000


@dataclass(frozen=True)
class Heard:
    """Runs that a service knows. `url` is its root."""

    url: str

    def ended(self, job: str) -> int:
        """How many runs of the job have an end."""
        address = f"{self.url}/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs"
        answer = httpx.get(address, params={"limit": MOST}, timeout=60, trust_env=False)
        if answer.status_code == httpx.codes.NOT_FOUND:
            return 0
        return sum(run["endedAt"] is not None for run in answer.raise_for_status().json()["runs"])

    @contextmanager
    def expect(self, job: str, ends: int) -> Iterator[None]:
        """Runs what is to end so many runs of the job.

        Raises:
            RuntimeError: it ended another number of them.
        """
        before = self.ended(job)
        yield
        if (new := self.ended(job) - before) != ends:
            raise RuntimeError(f"{ends} runs of {job} were to end, and {new} did, as {self.url} has heard")
