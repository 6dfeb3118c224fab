# SPDX-License-Identifier: Apache-2.0
"""Generated run histories: batch failures, live instances, snapshots, lost ends, applications, several producers."""

import random
from typing import Any

from lineage_events import body, dataset, facet, read, source

from lineage.events import Event

SNAPSHOTS = {
    "processingType": "STREAMING",
    "integration": "TEST",
    "emissionPattern": {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 10},
}
STREAMING = {
    "processingType": "STREAMING",
    "integration": "TEST",
    "emissionPattern": {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 10},
}
BATCH = {"processingType": "BATCH", "integration": "TEST"}
TOOLS = (
    "https://example.org/spark/tree/1.53.0/x",
    "https://example.org/spark/tree/1.54.0/x",
    "https://example.org/flink",
)
TABLES = ("a", "b", "c", "d")


class RunHistories:
    """Seeded generator of one history of a few jobs."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._runs = 0
        self.events: list[Event] = []

    def make(self) -> list[Event]:
        """Return the events of all jobs."""
        for _ in range(4):
            self._batch_run()
        self._streaming_job("live", STREAMING, overlap=True)
        self._streaming_job("windows", SNAPSHOTS, overlap=self._chance.random() < 0.5)
        self._application()
        return self.events

    def _add(self, event_type: str | None, second: float, **options: Any) -> None:
        self.events.append(read(body(event_type, second, **options)))

    def _next_run(self) -> int:
        self._runs += 1
        return self._runs

    def _datasets(self) -> dict[str, list[dict[str, Any]]]:
        inputs = [self._described(name) for name in self._some()]
        return {"inputs": inputs, "outputs": [self._output(name, inputs) for name in self._some()]}

    def _some(self) -> list[str]:
        return sorted(self._chance.sample(TABLES, self._chance.randint(0, 2)))

    def _described(self, name: str) -> dict[str, Any]:
        described = dataset(name)
        tool = self._chance.choice(TOOLS)
        for key, content in (
            ("tags", {"tags": [{"key": self._chance.choice("pq"), "value": "true"}]}),
            ("ownership", {"owners": [{"name": self._chance.choice("rs")}]}),
            ("documentation", {"description": self._chance.choice("tu")}),
            ("documentation", {"_deleted": True}),
        ):
            if self._chance.random() < 0.3:
                described["facets"][key] = facet(_producer=tool, **content)
        if self._chance.random() < 0.5:
            columns = self._chance.sample("xyz", self._chance.randint(0, 3))
            described["facets"]["schema"] = facet(fields=[{"name": name, "type": "int"} for name in columns])
        if self._chance.random() < 0.3:
            described["facets"]["version"] = facet(datasetVersion=str(self._chance.randint(1, 5)))
        if self._chance.random() < 0.3:
            described["inputFacets"] = {"inputStatistics": facet(rowCount=self._chance.randint(1, 9))}
        return described

    def _output(self, name: str, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = self._described(name)
        output.pop("inputFacets", None)
        if inputs and self._chance.random() < 0.5:
            sources = [source(self._chance.choice(inputs)["name"], "x")]
            output["facets"]["columnLineage"] = facet(fields={"y": {"inputFields": sources}})
        return output

    def _batch_run(self) -> None:
        run, second = self._next_run(), self._chance.randint(0, 100)
        end = self._chance.choice([["COMPLETE"], ["COMPLETE"], ["FAIL"], ["FAIL", "COMPLETE"], ["ABORT"], []])
        job_facets = {"jobType": BATCH} if self._chance.random() < 0.8 else {}
        for offset, event_type in enumerate(["START", *end]):
            self._add(event_type, second + offset, run=run, job="batch", job_facets=job_facets, **self._datasets())

    def _streaming_job(self, job: str, job_type: dict[str, Any], overlap: bool) -> None:
        start = 0
        for _ in range(3):
            run, lasts = self._next_run(), self._chance.randint(1, 6)
            for beat in range(lasts):
                options = {"run": run, "job": job, "job_facets": {"jobType": job_type}, **self._datasets()}
                self._add("START" if beat == 0 else "RUNNING", start + 10 * beat, **options)
            if self._chance.random() < 0.5:
                end = self._chance.choice(["ABORT", "FAIL", "COMPLETE"])
                self._add(end, start + 10 * lasts, run=run, job=job, job_facets={"jobType": job_type})
            start += self._chance.randint(5, 20) if overlap else 10 * lasts + self._chance.randint(1, 60)

    def _application(self) -> None:
        application = self._next_run()
        self._add("START", 0, run=application, job="app")
        for _ in range(2):
            child = self._next_run()
            self._add("START", 1, run=child, job="app.action", parent=(application, "app"), **self._datasets())
            if self._chance.random() < 0.3:
                self._add("COMPLETE", 2, run=child, job="app.action", parent=(application, "app"))
        if self._chance.random() < 0.7:
            self._add(self._chance.choice(["COMPLETE", "FAIL"]), 5, run=application, job="app")
