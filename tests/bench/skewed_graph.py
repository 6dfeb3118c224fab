# SPDX-License-Identifier: Apache-2.0
"""Generated events of a graph as installations have it: hubs, long chains, deleted connectors, and a few failures.

Names, engines, owners and tags are those of teams with their own namespaces. All times are relative to `now`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

TEAMS = ("sales", "finance", "supply", "people", "web", "ops", "risk", "search")
HUB_READERS = 300
"""Consumers of the largest hub, or a fifth of all jobs if those are fewer."""

CHAIN_JOBS = 40
DEAD_SHARE = 0.3
"""Share of jobs that ended for good: stopped connectors, and batch jobs that have not run for a month."""

FAILED_JOBS = 2
_PRODUCER = "https://example.org/bench"
_STORES = ("kafka://kafka:9092", "s3://warehouse", "postgres://postgres:5432", "s3://archive")
_COLUMNS = ("id", "amount", "supplier", "updated_at")


@dataclass(frozen=True)
class SkewedGraph:
    """A graph of about `nodes` jobs and datasets, the same for the same seed."""

    nodes: int
    now: datetime
    seed: int = 7

    def events(self) -> Iterator[bytes]:
        """Yield one or two encoded events per job."""
        random = Random(self.seed)
        jobs = self.nodes // 2
        datasets = [_dataset(random, number) for number in range(max(3, jobs // 50))]
        hubs = datasets[:3]
        readers = min(HUB_READERS, jobs // 5)
        for number in range(jobs):
            if number < readers:
                sources = [hubs[0]]
            elif number < readers + min(CHAIN_JOBS, jobs // 5):
                sources = [datasets[-1]]
            else:
                sources = random.sample(datasets[-200:], k=min(len(datasets), random.choice((1, 1, 2, 3))))
                if random.random() < 0.05:
                    sources.append(random.choice(hubs))
            output = _dataset(random, len(datasets))
            failed = jobs - FAILED_JOBS <= number
            for event in self._job(random, number, sources, output, failed):
                yield json.dumps(event).encode()
            datasets.append(output)

    def _job(
        self, random: Random, number: int, sources: list[dict[str, str]], output: dict[str, str], failed: bool
    ) -> Iterator[dict[str, Any]]:
        dead = not failed and random.random() < DEAD_SHARE
        integration = random.choice(("KAFKA_CONNECT", "FLINK", "SPARK", "SPARK", "DBT", "AIRFLOW"))
        streaming = integration in ("KAFKA_CONNECT", "FLINK")
        age = timedelta(days=30) if dead and not streaming else timedelta(hours=random.uniform(3, 6))
        team = TEAMS[int(random.random() ** 2 * len(TEAMS))]
        job = {
            "namespace": f"{team}-jobs",
            "name": f"{random.choice(('ingest', 'clean', 'mart'))}.{integration.lower()}_{number:05d}",
            "facets": {
                "jobType": _facet(
                    processingType="STREAMING" if streaming else "BATCH", integration=integration, jobType="JOB"
                ),
                "ownership": _facet(owners=[{"name": f"team-{team}", "type": "OWNER"}]),
            },
        }
        begin = self.now - age
        yield self._event("START", begin, number, job, sources, output)
        if failed:
            yield self._event("FAIL", self.now - timedelta(minutes=20), number, job, [], None)
        elif dead and streaming:
            yield self._event("ABORT", begin + timedelta(hours=1), number, job, sources, output)
        elif streaming:
            yield self._event("RUNNING", self.now, number, job, sources, output)
        else:
            yield self._event("COMPLETE", begin + timedelta(minutes=5), number, job, sources, output)

    def _event(
        self,
        kind: str,
        time: datetime,
        number: int,
        job: dict[str, Any],
        sources: list[dict[str, str]],
        output: dict[str, str] | None,
    ) -> dict[str, Any]:
        return {
            "eventType": kind,
            "eventTime": time.isoformat(),
            "producer": _PRODUCER,
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": str(UUID(int=number + (7 << 76) + (2 << 62)))},
            "job": job,
            "inputs": sources,
            "outputs": [] if output is None else [{**output, "facets": _output_facets(sources)}],
        }


def _dataset(random: Random, number: int) -> dict[str, str]:
    team = TEAMS[int(random.random() ** 2 * len(TEAMS))]
    return {"namespace": random.choice(_STORES), "name": f"{team}/stage{number % 5}/table_{number:05d}"}


def _output_facets(sources: list[dict[str, str]]) -> dict[str, Any]:
    transformations = [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}]
    inputs = {
        column: [{**source, "field": column, "transformations": transformations} for source in sources]
        for column in _COLUMNS
    }
    return {
        "schema": _facet(fields=[{"name": column, "type": "string"} for column in _COLUMNS]),
        "columnLineage": _facet(fields={column: {"inputFields": found} for column, found in inputs.items()}),
    }


def _facet(**content: Any) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": "https://example.org/schema", **content}
