# SPDX-License-Identifier: Apache-2.0
"""Responses in the shapes of Marquez 0.51."""

from typing import Literal

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from lineage.api.schemas.base import Facets, NodeName, ResponseModel


def _hit_key(name: str) -> str:
    """Return the key of a search hit: camelCase, but for `run_id`."""
    return name if name == "run_id" else to_camel(name)


class Namespace(ResponseModel):
    """Namespace of jobs or datasets."""

    name: str
    created_at: str
    updated_at: str
    owner_name: str
    description: str | None
    is_hidden: bool


class Namespaces(ResponseModel):
    """One page of namespaces."""

    namespaces: list[Namespace]


class Source(ResponseModel):
    """Namespace of datasets; `type` is the scheme of its URI in capitals."""

    type: str
    name: str
    created_at: str
    updated_at: str
    connection_url: str
    description: str | None


class Sources(ResponseModel):
    """One page of sources."""

    sources: list[Source]


class Tag(ResponseModel):
    """Tag of jobs, datasets or columns."""

    name: str
    description: str | None


class Tags(ResponseModel):
    """One page of tags."""

    tags: list[Tag]


class VersionName(NodeName):
    """Version of a job or dataset."""

    version: str


class DatasetVersionUse(ResponseModel):
    """Version of a dataset that a run read or wrote."""

    dataset_version_id: VersionName
    facets: Facets


class Run(ResponseModel):
    """One run. `closedBecause` is set if the service, not an event, ended it; `stale` if it stopped reporting.

    `claimedTime` is the latest event time that was in the future when it arrived; null without one.
    """

    id: str
    created_at: str
    updated_at: str
    nominal_start_time: str | None
    nominal_end_time: str | None
    state: str
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None
    args: dict[str, str]
    job_version: VersionName
    input_dataset_versions: list[DatasetVersionUse]
    output_dataset_versions: list[DatasetVersionUse]
    facets: Facets
    closed_because: str | None
    stale: bool
    claimed_time: str | None


class Runs(ResponseModel):
    """One page of the runs of a job, latest first."""

    runs: list[Run]
    total_count: int


class RunFacets(ResponseModel):
    """Facets of a run, or of its job."""

    run_id: str
    facets: Facets


class JobSummary(ResponseModel):
    """Job without its runs and facets."""

    id: NodeName
    type: str
    name: str
    simple_name: str
    parent_job_name: str | None
    parent_job_uuid: str | None
    created_at: str
    updated_at: str
    namespace: str
    inputs: list[NodeName]
    outputs: list[NodeName]
    tags: list[str]
    labels: list[str]
    location: str | None
    description: str | None
    latest_run: Run | None
    current_version: str


class JobNode(JobSummary):
    """Job as a node of the lineage graph."""

    current_run_uuid: str | None


class VanishedEdge(ResponseModel):
    """Dataset that the job once read or wrote. `run` is the run that removed the edge; null if no run did."""

    direction: Literal["input", "output"]
    dataset: NodeName
    since: str
    reason: str
    run: str | None


class Job(JobSummary):
    """Job with its facets and its ten latest runs."""

    latest_runs: list[Run]
    facets: Facets
    vanished_edges: list[VanishedEdge]


class Jobs(ResponseModel):
    """One page of jobs; `totalCount` counts all jobs, whatever their states."""

    jobs: list[Job]
    total_count: int


class JobVersion(ResponseModel):
    """Set of inputs and outputs that runs of a job had."""

    id: NodeName
    name: str
    created_at: str
    version: str
    namespace: str
    location: str | None
    inputs: list[NodeName]
    outputs: list[NodeName]
    latest_run: Run | None


class JobVersions(ResponseModel):
    """One page of the versions of a job, newest first."""

    versions: list[JobVersion]


class Field(ResponseModel):
    """Column of a dataset; nested columns in `fields`."""

    name: str
    type: str | None
    tags: list[str]
    description: str | None
    fields: list["Field"] | None = None


class InputField(ResponseModel):
    """Column that another column depends on."""

    namespace: str
    dataset: str
    field: str
    transformation_description: str | None
    transformation_type: str | None


class VersionedInputField(InputField):
    """Column that another column depends on, with the current version of its dataset."""

    dataset_version: str | None


class ColumnLineage(ResponseModel):
    """Columns that a column of a dataset depends on."""

    name: str
    input_fields: list[InputField]
    transformation_description: str | None
    transformation_type: str | None


class DatasetNode(ResponseModel):
    """Dataset as a node of the lineage graph."""

    id: NodeName
    type: str
    name: str
    physical_name: str
    created_at: str
    updated_at: str
    namespace: str
    source_name: str
    fields: list[Field]
    tags: list[str]
    last_modified_at: str | None
    last_lifecycle_state: str
    description: str | None
    current_version: str


class Dataset(DatasetNode):
    """Dataset with its facets and column lineage."""

    column_lineage: list[ColumnLineage]
    facets: Facets
    deleted: bool


class Datasets(ResponseModel):
    """One page of datasets."""

    datasets: list[Dataset]
    total_count: int


class DatasetVersion(ResponseModel):
    """Version of a dataset. Only the current version has facets."""

    id: VersionName
    type: str
    name: str
    physical_name: str
    namespace: str
    source_name: str
    tags: list[str]
    created_at: str
    version: str
    fields: list[Field]
    lifecycle_state: str | None
    description: str | None
    current_schema_version: str
    created_by_run: Run | None
    facets: Facets


class DatasetVersions(ResponseModel):
    """One page of the versions of a dataset, newest first."""

    versions: list[DatasetVersion]
    total_count: int


class NodeEdge(ResponseModel):
    """Edge between two node ids."""

    origin: str
    destination: str


class Node(ResponseModel):
    """Job or dataset with its edges."""

    id: str
    type: Literal["JOB", "DATASET"]
    data: JobNode | DatasetNode
    in_edges: list[NodeEdge]
    out_edges: list[NodeEdge]


class LineageGraph(ResponseModel):
    """Jobs and datasets around a node."""

    graph: list[Node]


class ColumnData(ResponseModel):
    """Column with the columns that it depends on."""

    namespace: str
    dataset: str
    dataset_version: str | None
    field: str
    field_type: str | None
    transformation_description: str | None
    transformation_type: str | None
    input_fields: list[VersionedInputField]


class ColumnNode(ResponseModel):
    """Column with its edges."""

    id: str
    type: Literal["DATASET_FIELD"]
    data: ColumnData
    in_edges: list[NodeEdge]
    out_edges: list[NodeEdge]


class ColumnGraph(ResponseModel):
    """Columns around a node."""

    graph: list[ColumnNode]


class UpstreamInput(VersionName):
    """Dataset version that a run read, and the run that wrote it."""

    produced_by_run_id: str | None


class UpstreamRunTimes(ResponseModel):
    """Start, end and state of a run."""

    id: str
    start: str | None
    end: str | None
    status: str


class UpstreamRun(ResponseModel):
    """Run with the dataset versions that it read."""

    job: VersionName
    run: UpstreamRunTimes
    inputs: list[UpstreamInput]


class UpstreamRuns(ResponseModel):
    """A run and the runs upstream of it, nearest first."""

    runs: list[UpstreamRun]


class SearchResult(ResponseModel):
    """Job or dataset whose name contains the searched text."""

    type: Literal["JOB", "DATASET"]
    name: str
    updated_at: str
    namespace: str
    node_id: str


class SearchResults(ResponseModel):
    """Best matches; `totalCount` counts all."""

    total_count: int
    results: list[SearchResult]


class EventCounts(ResponseModel):
    """START events and ended runs of one interval."""

    start_interval: str
    end_interval: str
    fail: int
    start: int
    complete: int
    abort: int


class NodeCount(ResponseModel):
    """Number of jobs, datasets or sources at the end of one interval."""

    start_interval: str
    end_interval: str
    count: int


class DatasetHit(ResponseModel):
    """Dataset that a search found, with its last run."""

    model_config = ConfigDict(alias_generator=_hit_key, populate_by_name=True, extra="forbid")

    run_id: str | None
    event_type: str | None
    name: str
    namespace: str
    input_facets: Facets
    output_facets: Facets
    facets: Facets


class JobHit(ResponseModel):
    """Job that a search found, with its last run."""

    model_config = ConfigDict(alias_generator=_hit_key, populate_by_name=True, extra="forbid")

    run_id: str | None
    event_type: str | None
    name: str
    namespace: str
    type: str
    facets: Facets
    run_facets: Facets


class DatasetHits(ResponseModel):
    """Datasets that a search found; `highlights` has the matching snippets of each by field."""

    hits: list[DatasetHit]
    highlights: list[dict[str, list[str]]]


class JobHits(ResponseModel):
    """Jobs that a search found; `highlights` has the matching snippets of each by field."""

    hits: list[JobHit]
    highlights: list[dict[str, list[str]]]
