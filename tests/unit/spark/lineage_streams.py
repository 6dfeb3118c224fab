# SPDX-License-Identifier: Apache-2.0
"""Random streaming programs: steps over a stream of orders, then steps in its function of micro-batches.

The stream reads the orders from two files, one per micro-batch, so that state and watermarks of the first decide about
rows of the second. At most one step of a stream keeps state, as Spark allows without restrictions.
"""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.types import Row

from tests.unit.spark.lineage_effects import Outcome
from tests.unit.spark.lineage_functions import rename, select_as
from tests.unit.spark.lineage_programs import (
    ORDERS,
    STEPS,
    SUPPLIERS,
    VALUES,
    State,
    Tables,
    add_column,
    columns_of,
    explode,
    fill,
    filter_rows,
    join_suppliers,
    names,
    table,
)

WINDOWED_VALUES = [template for _, template in VALUES if " OVER " in template]


@dataclass
class Stream:
    """Stream under construction, and the output mode in which it is written."""

    state: State
    read: Callable[[], DataFrame]
    mode: str = "append"


def add_stateless_column(stream: Stream) -> None:
    """Add a computed column; window functions need all rows."""
    add_column(stream.state, [value for value in VALUES if value[1] not in WINDOWED_VALUES])


def unite(stream: Stream) -> None:
    """Append the rows of a second read of the orders, of which other columns are used."""
    state = stream.state
    text, number = state.name(), state.name()
    stream.read().createOrReplaceTempView("second")
    state.query(
        f"SELECT {state.of('string')} AS {text}, {state.of('int')} AS {number} FROM frame "
        "UNION ALL SELECT o_note, o_amount FROM second"
    )
    state.columns = [(text, "string"), (number, "int")]


def drop_duplicates(stream: Stream) -> None:
    """Keep the first row of each key over all micro-batches."""
    state = stream.state
    keys = sorted({state.of("string"), state.of("int")} & {name for name, _ in state.columns})
    state.frame = state.frame.dropDuplicates(keys or None)


def drop_duplicates_within_watermark(stream: Stream) -> None:
    """Keep the first row of each key for a while; late rows are dropped."""
    state = stream.state
    with_time(state)
    key = state.of("string")
    state.frame = state.frame.dropDuplicatesWithinWatermark(None if key.startswith("'") else [key])


def aggregate_all(stream: Stream) -> None:
    """Group by one column; the rows of the groups that a micro-batch changes."""
    state = stream.state
    key, text, own = state.of("string"), state.of("string"), state.name()
    number, total, last = state.of("int"), state.name(), state.name()
    state.query(
        f"SELECT {key} AS {own}, sum({number}) AS {total}, max_by({text}, {state.of('int')}) AS {last} "
        f"FROM frame GROUP BY {key}"
    )
    state.columns = [(own, "string"), (total, "int"), (last, "string")]
    stream.mode = state.random.choice(["update", "complete"])


def aggregate_windows(stream: Stream) -> None:
    """Group by event time; late rows are dropped."""
    state = stream.state
    time = with_time(state)
    kind = state.random.choice(["window", "session_window"])
    key, number = state.of("string"), state.of("int")
    own, total, begin = state.name(), state.name(), state.name()
    state.query(
        f"SELECT {key} AS {own}, sum({number}) AS {total}, {kind}({time}, '5 minutes').start AS {begin} "
        f"FROM frame GROUP BY {key}, {kind}({time}, '5 minutes')"
    )
    state.columns = [(own, "string"), (total, "int")]
    stream.mode = state.random.choice(["append", "update" if kind == "window" else "append"])


def join_streams(stream: Stream) -> None:
    """Join with a second read of the orders."""
    state = stream.state
    with_watermark = state.random.random() < 0.5
    kind = state.random.choice(["JOIN", "LEFT JOIN"]) if with_watermark else "JOIN"
    key = state.of("string")
    if key.startswith("'"):
        return
    condition = f"{key} = r_key"
    right = stream.read().selectExpr("o_key AS r_key", "o_amount AS r_amount", f"{_TIME.format('o_price')} AS r_time")
    if with_watermark:
        time = with_time(state)
        right = right.withWatermark("r_time", "1 minute")
        condition += f" AND r_time BETWEEN {time} - INTERVAL 5 MINUTES AND {time}"
    right.createOrReplaceTempView("second")
    state.query(f"SELECT * FROM frame {kind} second ON {condition}")
    state.columns += [("r_key", "string"), ("r_amount", "int")]


def total_in_pandas(stream: Stream) -> None:
    """Sum by key in a pandas function with state; the sums that a micro-batch changes."""

    def total(key: tuple[str], frames: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        known = state.get[0] if state.exists else 0
        made = known + sum(int(frame["n"].fillna(0).sum()) for frame in frames)
        state.update((made,))
        yield pd.DataFrame({"t": [key[0]], "n": [made]})

    select_as(stream.state, "t", "n")
    groups = stream.state.frame.groupBy("t")
    made = groups.applyInPandasWithState(total, "t string, n int", "total long", "update", GroupStateTimeout.NoTimeout)
    stream.state.frame = made
    rename(stream.state, "t", "n")
    stream.mode = "update"


def largest_by_processor(stream: Stream) -> None:
    """Keep the largest number of each key in a processor with state."""

    class Largest(StatefulProcessor):
        """Is pickled by value, since it is not of a module: workers have no module of the tests."""

        def init(self, handle: StatefulProcessorHandle) -> None:
            self._largest = handle.getValueState("largest", "n long")

        def handleInputRows(
            self, key: tuple[str], rows: Iterable[pd.DataFrame], timerValues: object
        ) -> Iterator[pd.DataFrame]:
            known = self._largest.get() if self._largest.exists() else (-100,)
            made = max(known[0], *(int(frame["n"].fillna(-100).max()) for frame in rows))
            self._largest.update((made,))
            yield pd.DataFrame({"t": [key[0]], "n": [made]})

        def close(self) -> None: ...

    state = stream.state
    state.spark.conf.set(STATE_STORE, ROCKS_DB)
    select_as(state, "t", "n")
    state.frame = state.frame.groupBy("t").transformWithStateInPandas(Largest(), "t string, n int", "update", "none")
    rename(state, "t", "n")
    stream.mode = "update"


STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_TIME = "timestamp_seconds({} * 20)"
"""Event time of a number between -50 and 50: half an hour around 1970."""


def with_time(state: State) -> str:
    """Add a column of event time, with a watermark; return its name."""
    time = state.name()
    state.query(f"SELECT *, {fill(state, _TIME.format('{int}'))} AS {time} FROM frame")
    state.frame = state.frame.withWatermark(time, "1 minute")
    return time


def _of_state(step: Callable[[State], None]) -> Callable[[Stream], None]:
    def applied(stream: Stream) -> None:
        step(stream.state)

    return applied


STATELESS: Sequence[Callable[[Stream], None]] = (
    add_stateless_column,
    add_stateless_column,
    *map(_of_state, (filter_rows, explode, join_suppliers)),
    unite,
)
STATEFUL: Sequence[Callable[[Stream], None]] = (
    drop_duplicates,
    drop_duplicates_within_watermark,
    aggregate_all,
    aggregate_windows,
    join_streams,
    total_in_pandas,
    largest_by_processor,
)


@dataclass
class StreamProgram:
    """Stream of a program, its output mode, and what its function of micro-batches makes of a batch."""

    stream: DataFrame
    mode: str
    of_batch: Callable[[DataFrame], DataFrame]

    def outcome(self) -> Outcome:
        """Run the stream to its end."""
        rows: list[Row] = []
        columns: list[str] = []

        def keep(batch: DataFrame, _number: int) -> None:
            made = self.of_batch(batch)
            columns[:] = made.columns
            rows.extend(made.collect())

        with tempfile.TemporaryDirectory() as checkpoint:
            writer = self.stream.writeStream.foreachBatch(keep).outputMode(self.mode)
            query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
            query.awaitTermination()
        return {name: Counter(repr(row[place]) for row in rows) for place, name in enumerate(columns)}


@contextmanager
def stream_program(spark: SparkSession, tables: Tables, seed: int) -> Iterator[StreamProgram]:
    """Yield a random streaming program over the tables; its orders are in files, which are removed afterwards."""
    folder = Path(tempfile.mkdtemp())
    try:
        _write_orders(folder, tables.orders)
        yield _program(spark, folder, tables, Random(seed))
    finally:
        spark.conf.unset(STATE_STORE)
        shutil.rmtree(folder)


def _program(spark: SparkSession, folder: Path, tables: Tables, random: Random) -> StreamProgram:
    def read() -> DataFrame:
        return spark.readStream.schema(ORDERS).option("maxFilesPerTrigger", 1).json(str(folder))

    def name_suppliers(session: SparkSession) -> None:
        table(session, tables.suppliers, SUPPLIERS).createOrReplaceTempView("suppliers")

    name_suppliers(spark)
    stream = Stream(State(spark, random, read(), columns_of(ORDERS)), read)
    steps = random.choices(STATELESS, k=random.randrange(2))
    steps += random.choices(STATEFUL, k=random.random() < 0.8)
    for step in steps:
        step(stream)
    state = stream.state
    of_batch_seed, known, made = random.random(), [*state.columns], state.made

    def of_batch(batch: DataFrame) -> DataFrame:
        """Apply the same steps to each batch."""
        name_suppliers(batch.sparkSession)
        own = State(batch.sparkSession, Random(of_batch_seed), batch, [*known], made)
        for step in own.random.choices(STEPS, k=own.random.randrange(3)):
            step(own)
        return own.frame

    return StreamProgram(state.frame, stream.mode, of_batch)


def _write_orders(folder: Path, orders: Sequence[Sequence[object]]) -> None:
    """Write half of the orders to each of two files, of which the first is older."""
    half = len(orders) // 2
    for number, part in enumerate((orders[:half], orders[half:])):
        file = folder / f"{number}.json"
        file.write_text("".join(json.dumps(dict(zip(names(ORDERS), row, strict=True))) + "\n" for row in part))
        os.utime(file, (number, number))
