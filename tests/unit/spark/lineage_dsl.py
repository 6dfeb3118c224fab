# SPDX-License-Identifier: Apache-2.0
"""Compact text form of lineage for assertions: `price TRANSFORMATION`."""

from collections.abc import Iterable

from pyspark.sql import DataFrame

from lineagelab_spark import frames
from lineagelab_spark.model import Edge
from lineagelab_spark.plan import PlanLineage, derive


def of(frame: DataFrame) -> PlanLineage:
    return derive(frames.json_of(frames.analysed(frame)))


def texts(edges: Iterable[Edge]) -> set[str]:
    """Return `[leaf.]column[.field] SUBTYPE [masking]` per edge; decoded values have no column, leaf 0 no number."""
    return {_text(edge) for edge in edges}


def columns(lineage: PlanLineage) -> dict[str, set[str]]:
    return {name: texts(edges) for name, edges in lineage.columns.items()}


def rows(lineage: PlanLineage) -> set[str]:
    return texts(lineage.rows)


def _text(edge: Edge) -> str:
    origin = edge.origin
    path = origin.path if origin.decoded else (origin.column, *origin.path)
    place = ".".join((*([f"{origin.leaf}"] if origin.leaf else []), *path))
    return f"{place} {edge.subtype}" + (" masking" if edge.masking else "")
