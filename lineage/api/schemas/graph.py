# SPDX-License-Identifier: Apache-2.0
"""Responses about the whole graph, impact and origin."""

from typing import Literal

from lineage.api.schemas.base import NodeName, ResponseModel


class GraphJob(NodeName):
    """Job of the graph; `state` is that of its latest run."""

    type: str | None
    state: str | None


class SchemaField(ResponseModel):
    """Column of a schema; nested columns in `fields`."""

    name: str
    type: str | None
    fields: list["SchemaField"] | None = None


class Symlink(NodeName):
    """Other name of a dataset."""

    type: str | None


class GraphDataset(NodeName):
    """Dataset of the graph with its columns in schema order.

    With `fieldsOfReaders` only readers state them: they may be some of the dataset's columns.
    """

    fields: list[SchemaField]
    fieldsOfReaders: bool
    symlinks: list[Symlink]


class DatasetEdge(ResponseModel):
    """A job reads (`input`) or writes (`output`) a dataset."""

    job: NodeName
    direction: Literal["input", "output"]
    dataset: NodeName


class DataFlow(ResponseModel):
    """Data of one dataset reaches another through a job."""

    job: NodeName
    input: NodeName
    output: NodeName


class ColumnName(NodeName):
    """Column of a dataset; without `field` the dataset as a whole."""

    field: str | None = None


class ColumnDependency(ResponseModel):
    """A column, or a dataset as a whole, depends on a column."""

    job: NodeName
    output: ColumnName
    input: ColumnName
    type: str | None
    subtype: str | None
    masking: bool


class VanishedDatasetEdge(DatasetEdge):
    """Edge that a job once had."""

    reason: str


class JobDependency(ResponseModel):
    """`downstream` runs after `upstream`, or uses its data without a dataset in between."""

    upstream: NodeName
    downstream: NodeName


class GraphExport(ResponseModel):
    """The graph, sorted; without times, run ids and versions, so that equal graphs have equal bytes."""

    version: int
    jobs: list[GraphJob]
    datasets: list[GraphDataset]
    edges: list[DatasetEdge]
    flows: list[DataFlow]
    columns: list[ColumnDependency]
    dataset_columns: list[ColumnDependency]
    vanished: list[VanishedDatasetEdge]
    job_dependencies: list[JobDependency]


class ChangedNode(NodeName):
    """Job or dataset that a change is about."""

    kind: str


class GraphChange(ResponseModel):
    """One difference between two graphs."""

    kind: str
    subject: str
    of: str
    text: str
    before: str
    after: str
    nodes: list[ChangedNode]


class GraphDifference(ResponseModel):
    """All differences between two graphs; `counts` is subject -> kind -> number."""

    empty: bool
    counts: dict[str, dict[str, int]]
    changes: list[GraphChange]


class Reached(NodeName):
    """Node that was reached over `distance` jobs; `edges` are the last ones of the shortest paths to it."""

    distance: int
    certain: bool
    edges: list[ColumnDependency]


class ReachedColumn(Reached):
    """Column that was reached."""

    field: str


class ReachedDataset(Reached):
    """Dataset that was reached; `whole` if its rows, and so all of its columns, are affected."""

    whole: bool


class Reach(ResponseModel):
    """Impact or origin of `start`."""

    start: ColumnName
    columns: list[ReachedColumn]
    datasets: list[ReachedDataset]
    jobs: list[Reached]
