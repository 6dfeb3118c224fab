# SPDX-License-Identifier: Apache-2.0
"""Effects of input columns on the output of a program, observed in Spark, compared with its derived lineage.

Two changes are applied to one input column at a time. *Random* values replace some of its values: every output column
that differs depends on the input column, by its value or by the rows. A *monotone* map replaces all of its values and
keeps equality and order: what only groups, sorts or ranks by the column stays the same, so that an output column that
differs takes its values or compares them with others.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

from pyspark.sql import DataFrame

from lineagelab_spark.model import Edge, Subtype
from lineagelab_spark.plan import PlanLineage
from tests.unit.spark import lineage_dsl
from tests.unit.spark.lineage_programs import ORDERS, SUPPLIERS, Tables, names, random_tables, random_value

Outcome = dict[str, Counter[str]]
"""Values of each output column, with their numbers."""

Effects = dict[str, set[str]]
"""Affected output columns by input column."""

_ORDER_ONLY = {Subtype.GROUP_BY, Subtype.SORT, Subtype.WINDOW}
"""Subtypes of edges that a monotone map of the input column does not affect."""


@dataclass
class Comparison:
    """Result for one program.

    Attributes:
        missing: (input column, output column) with an effect and no edge.
        not_direct: (input column, output column) whose edges say order only, with an effect of a monotone map.
        unconfirmed: (input column, output column) with an edge and no observed effect.
        unknown: reasons by output column.
    """

    columns: int
    missing: set[tuple[str, str]] = field(default_factory=set)
    not_direct: set[tuple[str, str]] = field(default_factory=set)
    unconfirmed: set[tuple[str, str]] = field(default_factory=set)
    unknown: dict[str, frozenset[str]] = field(default_factory=dict)


def compare(made: Callable[[Tables], DataFrame], seed: int, rounds: int = 1) -> Comparison:
    """Compare the lineage of a program over tables with its effects (`effects`), in tables of the seed."""
    random = Random(seed)
    tables = random_tables(random)
    return compared(lineage_dsl.of(made(tables)), *effects(lambda given: outcome(made(given)), tables, random, rounds))


def effects(
    run: Callable[[Tables], Outcome], tables: Tables, random: Random, rounds: int = 1
) -> tuple[Effects, Effects]:
    """Return the output columns that each input column affects: by any change, and by a monotone map.

    There are `rounds` random changes of each column.
    """
    before = run(tables)
    changed: Effects = defaultdict(set)
    mapped: Effects = defaultdict(set)
    for column in (*names(ORDERS), *names(SUPPLIERS)):
        for _ in range(rounds):
            changed[column] |= differences(before, run(with_random_values(tables, column, random)))
        mapped[column] = differences(before, run(with_mapped_values(tables, column)))
        changed[column] |= mapped[column]
    return changed, mapped


def outcome(frame: DataFrame) -> Outcome:
    """Run a frame."""
    rows = frame.collect()
    return {name: Counter(repr(row[place]) for row in rows) for place, name in enumerate(frame.columns)}


def with_random_values(tables: Tables, column: str, random: Random) -> Tables:
    """Return the tables with other values in about half of a column's rows; ids and keys are permuted."""
    fresh = partial(random_value, column, random)
    values = _values(tables, column)
    if column in {"o_id", "s_key"}:
        return _with_values(tables, column, random.sample(values, len(values)))
    return _with_values(
        tables, column, [fresh(row) if random.random() < 0.6 else value for row, value in enumerate(values)]
    )


def with_mapped_values(tables: Tables, column: str) -> Tables:
    """Return the tables with all values of a column replaced by others of the same order."""
    return _with_values(tables, column, [mapped_value(value) for value in _values(tables, column)])


def mapped_value(value: object) -> object:
    if isinstance(value, int):
        return 3 * value + (1 if value > 0 else -1)
    if isinstance(value, tuple):
        return tuple(mapped_value(item) for item in value)
    return f"{value}~"


def _place(column: str) -> tuple[bool, int]:
    """Return if a column is one of the orders, and its position."""
    of_orders = column in names(ORDERS)
    return of_orders, names(ORDERS if of_orders else SUPPLIERS).index(column)


def _values(tables: Tables, column: str) -> list[object]:
    of_orders, place = _place(column)
    return [row[place] for row in (tables.orders if of_orders else tables.suppliers)]


def _with_values(tables: Tables, column: str, values: Sequence[object]) -> Tables:
    of_orders, place = _place(column)
    rows = tables.orders if of_orders else tables.suppliers
    made = tuple((*row[:place], value, *row[place + 1 :]) for row, value in zip(rows, values, strict=True))
    return Tables(made, tables.suppliers) if of_orders else Tables(tables.orders, made)


def differences(before: Outcome, after: Outcome) -> set[str]:
    """Return the columns with other values. If only the number of rows differs, each column has another number."""
    return {name for name in before if before[name] != after[name]}


def compared(lineage: PlanLineage, changed: Effects, mapped: Effects) -> Comparison:
    result = Comparison(len(lineage.columns), unknown=dict(lineage.unknown_columns))
    for output, edges in lineage.columns.items():
        if output in lineage.unknown_columns or lineage.unknown_rows:
            result.unknown.setdefault(output, lineage.unknown_rows)
            continue
        subtypes = _subtypes((*edges, *lineage.rows))
        for column, outputs in changed.items():
            if output in outputs and column not in subtypes:
                result.missing.add((column, output))
            elif output in mapped[column] and subtypes[column] <= _ORDER_ONLY:
                result.not_direct.add((column, output))
        result.unconfirmed |= {(column, output) for column in _claimed(edges) if output not in changed[column]}
    return result


def _subtypes(edges: Iterable[Edge]) -> dict[str, set[Subtype]]:
    made: dict[str, set[Subtype]] = defaultdict(set)
    for edge in edges:
        made[edge.origin.column].add(edge.subtype)
    return made


def _claimed(edges: Iterable[Edge]) -> Iterator[str]:
    return (edge.origin.column for edge in edges)
