# SPDX-License-Identifier: Apache-2.0
"""Random DataFrame programs over two small tables, for the comparison of derived lineage with observed effects.

A program is a sequence of steps; each step takes a frame and returns another one. To cover a construct, add a step to
`STEPS`, or an expression to `VALUES` or `AGGREGATES`. Steps draw from their random generator only, never from the data,
so that the same seed is the same program over changed data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

ORDERS = "o_id int, o_key string, o_price int, o_amount int, o_note string, o_numbers array<int>"
SUPPLIERS = "s_key string, s_country string, s_rating int"
"""Column names are unique over both tables, so that an edge is identified by its column."""

KEYS = ("a", "b", "c")
NOTES = ("anvil", "bellows", "chisel", "drill")


@dataclass(frozen=True)
class Tables:
    """Rows of the tables, in the order of their columns."""

    orders: tuple[tuple[object, ...], ...]
    suppliers: tuple[tuple[object, ...], ...]


def columns_of(schema: str) -> list[tuple[str, str]]:
    """Return names and types of the columns of a schema, as in `State`."""
    kinds = {"int": "int", "string": "string", "array<int>": "array"}
    return [(name, kinds[kind]) for name, kind in (field.split() for field in schema.split(", "))]


def random_tables(random: Random, orders: int = 8) -> Tables:
    """Return rows in which keys repeat and other values rarely do."""
    return Tables(
        tuple(tuple(random_value(name, random, row) for name in names(ORDERS)) for row in range(orders)),
        tuple(tuple(random_value(name, random, row) for name in names(SUPPLIERS)) for row in range(len(KEYS))),
    )


def random_value(column: str, random: Random, row: int) -> object:
    """Return a value of a column."""
    if column in {"o_id", "s_key"}:
        return row if column == "o_id" else KEYS[row % len(KEYS)]
    if column == "o_key":
        return random.choice(KEYS)
    if column == "o_numbers":
        return tuple(random.randrange(-50, 50) for _ in range(random.randrange(1, 4)))
    if column in {"o_note", "s_country"}:
        return random.choice(NOTES) + str(random.randrange(100))
    return random.randrange(-50, 50)


def names(schema: str) -> tuple[str, ...]:
    """Return the column names of a schema."""
    return tuple(field.split()[0] for field in schema.split(", "))


@dataclass
class State:
    """Frame under construction. `columns` are (name, type), with type `int`, `string` or `array`."""

    spark: SparkSession
    random: Random
    frame: DataFrame
    columns: list[tuple[str, str]]
    made: int = 0

    def name(self) -> str:
        """Return a new column name."""
        self.made += 1
        return f"c{self.made}"

    def of(self, kind: str) -> str:
        """Return a random column of a type, or a constant if there is none."""
        given = [name for name, known in self.columns if known == kind]
        constants = {"int": "7", "string": "'x'", "array": "array(1, 2)"}
        return self.random.choice(given) if given else constants[kind]

    def query(self, text: str) -> None:
        """Replace the frame by a query over it, as `frame`, and over the table `suppliers`."""
        self.frame.createOrReplaceTempView("frame")
        self.frame = self.spark.sql(text)


VALUES: Sequence[tuple[str, str]] = (
    ("int", "{int} + {int2}"),
    ("int", "CASE WHEN {int} > 3 THEN {int2} ELSE length({string}) END"),
    ("int", "coalesce(nullif({int}, 5), {int2})"),
    ("int", "greatest({int}, {int2})"),
    ("int", "nvl2(nullif({int}, 1), {int2}, 0)"),
    ("string", "concat(upper({string}), '-', {int})"),
    ("string", "sha2({string}, 256)"),
    ("string", "substring({string}, 1, 3)"),
    ("string", "if({string} > 'c', {string2}, 'none')"),
    ("string", "named_struct('x', {string}, 'y', {int}).x"),
    ("int", "cast(named_struct('x', {int}, 'y', {int2}) AS struct<v: bigint, w: bigint>).w"),
    ("int", "array(named_struct('x', {int}, 'y', {int2}))[0].y"),
    ("int", "size(filter({array}, x -> x > {int}))"),
    ("array", "transform({array}, x -> x + {int})"),
    ("array", "filter({array}, x -> x > {int})"),
    ("array", "transform(filter({array}, x -> x > 0), (x, i) -> if({int} > 0, x, i))"),
    ("int", "aggregate({array}, 0, (total, x) -> total + x * {int})"),
    ("int", "cast(exists({array}, x -> x > {int}) AS int)"),
    ("array", "transform(transform({array}, x -> named_struct('p', x, 'q', {int})), s -> s.q)"),
    ("int", "get_json_object(to_json(named_struct('x', {int}, 'y', {string})), '$.x')"),
    ("int", "rank() OVER (PARTITION BY {string} ORDER BY {int}, o_rank)"),
    ("int", "dense_rank() OVER (ORDER BY {int})"),
    ("int", "lag({int}) OVER (PARTITION BY {string} ORDER BY {int2}, o_rank)"),
    ("int", "sum({int}) OVER (PARTITION BY {string})"),
    ("int", "row_number() OVER (PARTITION BY {string} ORDER BY {int}, o_rank)"),
    ("int", "(SELECT max(s_rating) FROM suppliers WHERE s_key = {string})"),
    ("string", "(SELECT min(s_country) FROM suppliers)"),
)
"""(type, SQL expression) of new columns. `o_rank` is a column that makes an ordering total."""

AGGREGATES: Sequence[tuple[str, str]] = (
    ("int", "sum({int})"),
    ("string", "max({string})"),
    ("int", "count(DISTINCT {int})"),
    ("string", "max_by({string}, {int})"),
    ("int", "min_by({int}, {int2})"),
    ("int", "sum({int}) FILTER (WHERE {int2} > 0)"),
    ("array", "sort_array(collect_list({int}))"),
    ("string", "listagg({string}, ',') WITHIN GROUP (ORDER BY {int}, {string})"),
    ("array", "transform(sort_array(collect_list(named_struct('p', {int}, 'q', {int2}))), s -> s.q)"),
)

CONDITIONS: Sequence[str] = (
    "{int} > 0",
    "{string} > 'b'",
    "{string} IN (SELECT s_key FROM suppliers WHERE s_rating > 0)",
    "EXISTS (SELECT 1 FROM suppliers WHERE s_key = {string} AND s_rating > -20)",
    "{int} > (SELECT min(s_rating) FROM suppliers)",
    "NOT exists({array}, x -> x > 40)",
)


def fill(state: State, template: str) -> str:
    """Insert random columns into a template."""
    kinds = {kind + suffix: state.of(kind) for kind in ("int", "string", "array") for suffix in ("", "2")}
    return template.format(**kinds).replace("o_rank", state.of("int"))


def add_column(state: State, values: Sequence[tuple[str, str]] = VALUES) -> None:
    """Add a computed column."""
    kind, template = state.random.choice(values)
    name = state.name()
    state.query(f"SELECT *, {fill(state, template)} AS {name} FROM frame")
    state.columns.append((name, kind))


def filter_rows(state: State) -> None:
    """Select rows."""
    state.query(f"SELECT * FROM frame WHERE {fill(state, state.random.choice(CONDITIONS))}")


def aggregate_rows(state: State) -> None:
    """Group by one column."""
    key = state.of("string")
    made = [(state.name(), *state.random.choice(AGGREGATES)) for _ in range(3)]
    selected = ", ".join(f"{fill(state, template)} AS {name}" for name, _, template in made)
    own = state.name()
    state.query(f"SELECT {key} AS {own}, {selected} FROM frame GROUP BY {key}")
    state.columns = [(own, "string"), *((name, kind) for name, kind, _ in made)]


def roll_up(state: State) -> None:
    """Group by two levels."""
    first, second, value = state.of("string"), state.of("int"), state.of("int")
    one, two, total = state.name(), state.name(), state.name()
    state.query(f"SELECT {first} AS {one}, {second} AS {two}, {value} AS {total} FROM frame")
    state.query(f"SELECT {one}, {two}, sum({total}) AS {total} FROM frame GROUP BY ROLLUP ({one}, {two})")
    state.columns = [(one, "string"), (two, "int"), (total, "int")]


def pivot(state: State) -> None:
    """Pivot by the sign of a column."""
    key, selector, value = state.name(), state.name(), state.name()
    state.query(
        f"SELECT {state.of('string')} AS {key}, {state.of('int')} > 0 AS {selector}, {state.of('int')} AS {value} "
        "FROM frame"
    )
    state.frame = state.frame.groupBy(key).pivot(selector, [True, False]).sum(value)
    positive, negative = state.name(), state.name()
    state.frame = state.frame.toDF(key, positive, negative)
    state.columns = [(key, "string"), (positive, "int"), (negative, "int")]


def join_suppliers(state: State) -> None:
    """Join with the other table."""
    if any(name == "s_country" for name, _ in state.columns):
        return
    kind = state.random.choice(["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
    condition = f"{state.of('string')} = s_key"
    state.query(f"SELECT * FROM frame {kind} suppliers ON {condition}")
    if "SEMI" not in kind and "ANTI" not in kind:
        state.columns += [("s_key", "string"), ("s_country", "string"), ("s_rating", "int")]


def join_lateral(state: State) -> None:
    """Join with a correlated subquery."""
    name = state.name()
    key, value = state.of("string"), state.of("int")
    state.query(
        f"SELECT f.*, l.{name} FROM frame f, LATERAL "
        f"(SELECT s_rating + f.{value} AS {name} FROM suppliers WHERE s_key >= f.{key}) l"
        if not value.isdigit() and not key.startswith("'")
        else f"SELECT *, 1 AS {name} FROM frame"
    )
    state.columns.append((name, "int"))


def explode(state: State) -> None:
    """Generate rows from an array."""
    name, position = state.name(), state.name()
    array = state.of("array")
    if state.random.random() < 0.5:
        state.query(f"SELECT *, explode({array}) AS {name} FROM frame")
    else:
        state.query(f"SELECT f.*, p.* FROM frame f LATERAL VIEW posexplode({array}) p AS {position}, {name}")
        state.columns.append((position, "int"))
    state.columns.append((name, "int"))


def combine(state: State) -> None:
    """Combine two projections of the frame by a set operation."""
    first, second = ([state.of("string"), state.of("int")] for _ in range(2))
    text, number = state.name(), state.name()
    kind = state.random.choice(["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL"])
    state.query(
        f"SELECT {first[0]} AS {text}, {first[1]} AS {number} FROM frame "
        f"{kind} SELECT {second[0]}, {second[1]} FROM frame"
    )
    state.columns = [(text, "string"), (number, "int")]


def deduplicate(state: State) -> None:
    """Keep one row per key."""
    keys = {state.of("string"), state.of("int")} & {name for name, _ in state.columns}
    state.frame = state.frame.dropDuplicates(sorted(keys)) if keys else state.frame.distinct()


def limit(state: State) -> None:
    """Keep the first rows of an order."""
    state.query(f"SELECT * FROM frame ORDER BY {state.of('int')}, {state.of('string')} LIMIT 3")


def define(state: State) -> None:
    """Use a common table expression twice."""
    key, value, total = state.of("string"), state.of("int"), state.name()
    if key.startswith("'"):
        return
    state.query(
        f"WITH t AS (SELECT {key} AS own_key, max({value}) AS {total} FROM frame GROUP BY {key}), "
        f"u AS (SELECT * FROM t) SELECT frame.*, {total} FROM frame JOIN u ON {key} = own_key"
    )
    state.columns.append((total, "int"))


def transparent(state: State) -> None:
    """Apply operators that change neither rows nor columns."""
    state.frame = state.frame.observe(f"m{state.made}", *_metrics(state)).repartition(1).sample(1.0)


def _metrics(state: State) -> list[Column]:
    return [F.count(F.lit(1)).alias(f"rows{state.name()}")]


STEPS: Sequence[Callable[[State], None]] = (
    add_column,
    add_column,
    add_column,
    filter_rows,
    aggregate_rows,
    roll_up,
    pivot,
    join_suppliers,
    join_lateral,
    explode,
    combine,
    deduplicate,
    limit,
    define,
    transparent,
)


def random_steps(random: Random) -> list[Callable[[State], None]]:
    """Return two to four steps."""
    return random.choices(STEPS, k=random.randrange(2, 5))


def program(
    spark: SparkSession,
    tables: Tables,
    seed: int,
    after_step: Callable[[DataFrame], DataFrame] = lambda frame: frame,
    choose: Callable[[Random], list[Callable[[State], None]]] = random_steps,
) -> DataFrame:
    """Return the frame of a random program over the tables; each step continues from what `after_step` returns."""
    random = Random(seed)
    orders = table(spark, tables.orders, ORDERS)
    table(spark, tables.suppliers, SUPPLIERS).createOrReplaceTempView("suppliers")
    state = State(spark, random, orders, columns_of(ORDERS))
    for step in choose(random):
        step(state)
        state.frame = after_step(state.frame)
    return state.frame


def table(spark: SparkSession, rows: Sequence[Sequence[object]], schema: str) -> DataFrame:
    """Return rows as a local relation: Spark reads it without a job."""
    values = ", ".join("(" + ", ".join(map(_literal, row)) + ")" for row in rows)
    return spark.sql(f"SELECT * FROM VALUES {values} AS t({', '.join(names(schema))})")


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        return f"array({', '.join(map(_literal, value))})"
    return repr(value)
