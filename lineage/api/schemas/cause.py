# SPDX-License-Identifier: Apache-2.0
"""Response about the cause of a wrong number."""

from typing import Literal

from lineage.api.schemas.base import NodeName, ResponseModel
from lineage.api.schemas.graph import ColumnName


class TypedNode(NodeName):
    """A dataset or job."""

    type: Literal["DATASET", "JOB"]


class Change(ResponseModel):
    """Something that changed upstream.

    `at` and `run` are the first evidence; `run` is null for runs that are missing. `before` and `after` are shown where
    they are short.
    """

    kind: str
    node: TypedNode
    at: str
    run: str | None
    job: NodeName
    summary: str
    columns: list[str]
    before: str | None
    after: str | None


class Cause(Change):
    """A change with its rank.

    `score` is 0 to 1, `distance` the number of jobs to the start, `carried` what the same change reached later,
    `explains` symptoms downstream of it.
    """

    score: float
    distance: int
    carried: list[TypedNode]
    explains: list[Change]


class Finding(ResponseModel):
    """Changes between two times, best explanation first; `explained` is false if none explains the number.

    `likely` are the first ones, those that explain it. `events` is the number of run events that were examined.
    """

    start: ColumnName
    since: str
    until: str
    events: int
    explained: bool
    likely: int
    causes: list[Cause]
