# SPDX-License-Identifier: Apache-2.0
"""Generated OpenLineage events of a large graph: each job reads a few earlier datasets and writes a new one."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

NAMESPACES = ("kafka://kafka:9092", "s3://warehouse", "postgres://postgres:5432", "s3://archive")
AREAS = ("sales", "finance", "supply", "people", "web", "ops", "risk", "search")
_FIELDS = ("id", "amount", "supplier", "updated_at")
_FACET = {"_producer": "https://example.org/bench", "_schemaURL": "https://example.org/schema"}


def graph_events(nodes: int, seed: int = 7) -> Iterator[bytes]:
    """Yield one encoded COMPLETE event per job. Jobs and datasets together number `nodes`."""
    random = Random(seed)
    datasets = [_dataset(number) for number in range(3)]
    for number in range((nodes - len(datasets)) // 2):
        inputs = {min(len(datasets) - 1, int(random.random() ** 3 * 200)) for _ in range(random.randint(1, 3))}
        sources = [datasets[-1 - back] for back in sorted(inputs)]
        output = _dataset(len(datasets))
        yield json.dumps(_event(number, sources, output)).encode()
        datasets.append(output)


def _dataset(number: int) -> dict[str, str]:
    area = AREAS[number * 7 % len(AREAS)]
    return {"namespace": NAMESPACES[number % len(NAMESPACES)], "name": f"{area}/stage{number % 5}/table_{number:05d}"}


def _event(number: int, sources: list[dict[str, str]], output: dict[str, str]) -> dict[str, Any]:
    fields = {
        name: {"inputFields": [{**source, "field": name, "transformations": [_IDENTITY]} for source in sources]}
        for name in _FIELDS
    }
    facets = {
        "schema": {**_FACET, "fields": [{"name": name, "type": "string"} for name in _FIELDS]},
        "columnLineage": {**_FACET, "fields": fields},
    }
    integration = ("SPARK", "FLINK", "KAFKA_CONNECT")[number % 3]
    kind = {**_FACET, "processingType": "BATCH", "integration": integration, "jobType": "JOB"}
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-01-01T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z",
        "producer": "https://example.org/bench",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"00000000-0000-7000-8000-{number:012d}"},
        "job": {
            "namespace": AREAS[number % len(AREAS)],
            "name": f"job_{number // 50:03d}.step_{number:05d}",
            "facets": {"jobType": kind},
        },
        "inputs": sources,
        "outputs": [{**output, "facets": facets}],
    }


_IDENTITY = {"type": "DIRECT", "subtype": "IDENTITY", "masking": False}
