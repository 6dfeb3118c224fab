# SPDX-License-Identifier: Apache-2.0
"""Compact text form of lineage for assertions: `price TRANSFORMATION`."""

from collections.abc import Callable, Iterable

from pyspark.sql import DataFrame

from lineagelab_spark import frames
from lineagelab_spark.known_rows import KnownRows
from lineagelab_spark.model import Edge
from lineagelab_spark.operators import derive_columns
from lineagelab_spark.plan import PlanLineage, derive
from lineagelab_spark.plan_json import parse


def of(frame: DataFrame) -> PlanLineage:
    return derive(frames.json_of(frames.analysed(frame)))


def batch_of(stream: DataFrame) -> DataFrame:
    """Return rows without plan history, as Spark passes them to a batch function."""
    session = stream.sparkSession
    return session.createDataFrame(session.sparkContext.emptyRDD(), stream.schema)


def of_stream(stream: DataFrame, write: Callable[[DataFrame], DataFrame]) -> PlanLineage:
    """Return the lineage from the sources of a stream to what is made of its micro-batches."""
    batch = batch_of(stream)
    plan = frames.read(write(batch), batch)
    return derive(plan.text, KnownRows.of_stream(derive_columns(parse(frames.read(stream).text)), plan.batch))


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
