# SPDX-License-Identifier: Apache-2.0
"""A check as a run: START, and COMPLETE or FAIL with the results as facets of the checked dataset."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lineagelab_common.events import Dataset, EventWriter, Json, dataset_json
from lineagelab_common.identifiers import ParentRun, now
from lineagelab_common.reported_run import ReportedRun
from lineagelab_great_expectations.results import CheckResults, read_results

WRITER = EventWriter("urn:lineage-lab:jobs:great-expectations")
_ENGINE = "great_expectations"


class ValidationResult(Protocol):
    """Validation result of Great Expectations."""

    def to_json_dict(self) -> Mapping[str, Any]:
        """Return the result as JSON."""


class CheckRun(ReportedRun):
    """Context that reports one check of a dataset; call `record` in it.

    An exception in the context, or no result, is a failed run; Ctrl-C an aborted one. Nothing is raised by it.

    Args:
        send: takes each event, such as `Spool(url).add`.
        namespace, job: of the check's job.
        dataset: that is checked.
        version: of Great Expectations.
        parent: run that the check is part of.
    """

    def __init__(
        self,
        send: Callable[[Json], None],
        namespace: str,
        job: str,
        dataset: Dataset,
        version: str = "",
        parent: ParentRun | None = None,
    ) -> None:
        super().__init__(send)
        self._namespace = namespace
        self._job = job
        self._dataset = dataset
        self._version = version
        self._parent = parent
        self._results: CheckResults | None = None

    def record(self, result: ValidationResult | Mapping[str, Any]) -> CheckResults:
        """Take the result of the suite; return it as this package reads it.

        Raises:
            ValueError: it is not a validation result.
        """
        self._results = read_results(result if isinstance(result, Mapping) else result.to_json_dict())
        return self._results

    def _failure(self) -> str:
        if self._results is None:
            return "the check ended without a result"
        return "\n".join(f"{each.label}: {each.message}" for each in self._results.broken)

    def _event(self, event_type: str, error: str = "") -> Json:
        facets = WRITER.run_facets(_ENGINE, self._version, self._parent, error, "PYTHON")
        kind = WRITER.facet("jobType", processingType="BATCH", integration="GREAT_EXPECTATIONS", jobType="CHECK")
        job = {"namespace": self._namespace, "name": self._job, "facets": {"jobType": kind}}
        run = {"runId": self.run_id, "facets": facets}
        return WRITER.run_event(event_type, now(), run, job, [self._input()], [])

    def _input(self) -> Json:
        found = dataset_json(self._dataset, {})
        facets: Json = {}
        if self._results is not None and (assertions := self._results.assertions):
            facets["dataQualityAssertions"] = WRITER.facet("dataQualityAssertions", assertions=assertions)
        if self._results is not None and (metrics := self._results.metrics):
            facets["dataQualityMetrics"] = WRITER.facet("dataQualityMetrics", **{"columnMetrics": {}, **metrics})
        return found | ({"inputFacets": facets} if facets else {})
