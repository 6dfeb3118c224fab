# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs that call Python, pandas and Arrow functions, of which Spark knows types only."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F

from tests.unit.spark.lineage_programs import STEPS, State


def python_column(state: State) -> None:
    """Add a column of a Python function."""
    _add(state, F.udf(lambda text, number: number * 2 if (text or "") > "b" else number, "int"), "string", "int")


def pandas_column(state: State) -> None:
    """Add a column of a pandas function."""

    def longer(text: pd.Series, number: pd.Series) -> pd.Series:
        return (text.str.len() + number).astype("Int32")

    _add(state, F.pandas_udf(longer, "int"), "string", "int")


def pandas_struct(state: State) -> None:
    """Add two columns, the fields of what a pandas function returns."""

    def pair(text: pd.Series, number: pd.Series) -> pd.DataFrame:
        return pd.DataFrame({"text": text, "number": number.astype("Int32")})

    text, number, both = state.name(), state.name(), state.name()
    made = F.pandas_udf(pair, "text string, number int")(_column(state, "string"), _column(state, "int"))
    state.frame = state.frame.withColumn(both, made)
    state.query(f"SELECT *, {both}.text AS {text}, {both}.number AS {number} FROM frame")
    state.frame = state.frame.drop(both)
    state.columns += [(text, "string"), (number, "int")]


def pandas_aggregate(state: State) -> None:
    """Group by a column, with a pandas aggregate."""

    def spread(values: pd.Series) -> int:
        return int(values.max() - values.min())

    select_as(state, "t", "n")
    state.frame = state.frame.where("n IS NOT NULL").groupBy("t").agg(F.pandas_udf(spread, "int")("n").alias("n"))
    rename(state, "t", "n")


def pandas_window(state: State) -> None:
    """Add a pandas aggregate over a window."""

    def highest(values: pd.Series) -> int:
        return int(values.fillna(0).max())

    name = state.name()
    function = F.pandas_udf(highest, "int")
    state.spark.udf.register("highest", function)
    state.query(f"SELECT *, highest({state.of('int')}) OVER (PARTITION BY {state.of('string')}) AS {name} FROM frame")
    state.columns.append((name, "int"))


def map_in_pandas(state: State) -> None:
    """Map batches of rows by a pandas function."""

    def doubled(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield pd.DataFrame({"t": frame["t"], "n": frame["n"] * 2})

    select_as(state, "t", "n")
    state.frame = state.frame.mapInPandas(doubled, "t string, n int")
    rename(state, "t", "n")


def map_in_arrow(state: State) -> None:
    """Map batches of rows by an Arrow function, which selects rows."""

    def positive(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.filter(pc.greater(batch["n"], 0))

    select_as(state, "t", "n")
    state.frame = state.frame.mapInArrow(positive, "t string, n int")
    rename(state, "t", "n")


def apply_in_pandas(state: State) -> None:
    """Map groups of rows by a pandas function."""

    def ranked(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"t": frame["t"], "n": frame["n"].rank(method="min").fillna(0).astype(int)})

    select_as(state, "t", "n")
    state.frame = state.frame.groupBy("t").applyInPandas(ranked, "t string, n int")
    rename(state, "t", "n")


def apply_in_arrow(state: State) -> None:
    """Map groups of rows by an Arrow function."""

    def highest(group: pa.Table) -> pa.Table:
        return pa.table({"t": group["t"][:1], "n": pa.array([pc.max(group["n"]).as_py()], pa.int32())})

    select_as(state, "t", "n")
    state.frame = state.frame.groupBy("t").applyInArrow(highest, "t string, n int")
    rename(state, "t", "n")


def apply_to_both(state: State) -> None:
    """Map the groups of the frame and of the suppliers together."""

    def joined(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
        country = right["s_country"].max() if len(right) else "none"
        return pd.DataFrame({"t": [country], "n": [int(left["n"].fillna(0).sum())]})

    select_as(state, "t", "n")
    suppliers = state.spark.table("suppliers").groupBy("s_key")
    state.frame = state.frame.groupBy("t").cogroup(suppliers).applyInPandas(joined, "t string, n int")
    rename(state, "t", "n")


def table_function(state: State) -> None:
    """Generate rows by a Python table function."""

    class Spelled:
        def eval(self, text: str | None, number: int | None) -> Iterator[tuple[str, int]]:
            for place, letter in enumerate((text or "")[:2]):
                yield letter, place + (number or 0)

    state.spark.udtf.register("spelled", F.udtf(Spelled, returnType="letter string, place int"))
    letter, place = state.name(), state.name()
    state.query(
        f"SELECT f.*, s.letter AS {letter}, s.place AS {place} "
        f"FROM frame f, LATERAL spelled({state.of('string')}, {state.of('int')}) s"
    )
    state.columns += [(letter, "string"), (place, "int")]


FUNCTIONS: Sequence[Callable[[State], None]] = (
    python_column,
    pandas_column,
    pandas_struct,
    pandas_aggregate,
    pandas_window,
    map_in_pandas,
    map_in_arrow,
    apply_in_pandas,
    apply_in_arrow,
    apply_to_both,
    table_function,
)


def steps_with_function(random: Random) -> list[Callable[[State], None]]:
    """Return one of these steps, perhaps between others."""
    before, after = (random.choices(STEPS, k=random.randrange(2)) for _ in range(2))
    return [*before, random.choice(FUNCTIONS), *after]


def _column(state: State, kind: str) -> Column:
    return F.expr(state.of(kind))


def _add(state: State, function: Callable[[Column, Column], Column], *kinds: str) -> None:
    """Add a column of a function that returns a number."""
    name = state.name()
    state.frame = state.frame.withColumn(name, function(*(_column(state, kind) for kind in kinds)))
    state.columns.append((name, "int"))


def select_as(state: State, text: str, number: str) -> None:
    """Select a text and a number under these names."""
    state.query(f"SELECT {state.of('string')} AS {text}, CAST({state.of('int')} AS int) AS {number} FROM frame")


def rename(state: State, text: str, number: str) -> None:
    """Give the two columns that a function returned new names."""
    own = [(state.name(), "string"), (state.name(), "int")]
    state.query(f"SELECT {text} AS {own[0][0]}, {number} AS {own[1][0]} FROM frame")
    state.columns = own
