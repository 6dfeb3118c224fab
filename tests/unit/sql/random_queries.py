# SPDX-License-Identifier: Apache-2.0
"""Random SQL queries over small tables. Their results are determined: no ties, no order of unordered rows."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

TABLES: Mapping[str, Mapping[str, str]] = {
    "memory.main.t": {"id": "INTEGER", "a": "INTEGER", "b": "INTEGER", "c": "VARCHAR", "l": "INTEGER[]"},
    "memory.main.u": {"id": "INTEGER", "a": "INTEGER", "e": "INTEGER", "c": "VARCHAR"},
    "memory.main.v": {"k": "INTEGER", "f": "INTEGER", "g": "VARCHAR", "s": "STRUCT(x INTEGER, y INTEGER)"},
}
"""Table -> column -> type."""

ROWS = 14
WORDS = ("ash", "fir", "oak", "yew", "elm")


def random_value(kind: str, chance: random.Random) -> object:
    """Return a value of a type; few distinct ones, so that rows join and groups have several rows."""
    if chance.random() < 0.1:
        return None
    if kind == "VARCHAR":
        return chance.choice(WORDS)
    if kind == "INTEGER[]":
        return [chance.randrange(5) for _ in range(chance.randrange(4))]
    if kind.startswith("STRUCT"):
        return {"x": chance.randrange(5), "y": chance.randrange(5)}
    return chance.randrange(5)


@dataclass
class _Source:
    """Relation that a query may use: SQL text in FROM, and columns as (expression, type)."""

    text: str
    columns: list[tuple[str, str]]


class RandomQueries:
    """Generator of queries."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._numbers = count(1)

    def query(self, depth: int = 3) -> str:
        """Return a query with one to four columns `o1`, `o2`, ..."""
        text, _ = self._query(depth, {})
        return text

    def _query(self, depth: int, named: dict[str, list[tuple[str, str]]]) -> tuple[str, list[tuple[str, str]]]:
        kind = self.chance.random()
        if depth > 1 and kind < 0.15:
            return self._set_operation(depth, named)
        if depth > 1 and kind < 0.35:
            return self._with(depth, named)
        return self._select(depth, named)

    def _with(self, depth: int, named: dict[str, list[tuple[str, str]]]) -> tuple[str, list[tuple[str, str]]]:
        inner, columns = self._query(depth - 1, named)
        name = f"q{next(self._numbers)}"
        renamed = [(f"r{number}", kind) for number, (_, kind) in enumerate(columns)]
        if self.chance.random() < 0.5:
            head = f"{name}({', '.join(column for column, _ in renamed)})"
        else:
            head, renamed = name, columns
        body, result = self._select(depth - 1, {**named, name: renamed})
        return f"WITH {head} AS ({inner}) {body}", result

    def _set_operation(self, depth: int, named: dict[str, list[tuple[str, str]]]) -> tuple[str, list[tuple[str, str]]]:
        left, columns = self._select(depth - 1, named)
        right, others = self._select(depth - 1, named)
        width = min(len(columns), len(others))
        operator = self.chance.choice(["UNION ALL", "UNION", "INTERSECT", "EXCEPT"])
        first = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name, _ in columns[:width])
        second = ", ".join(f"CAST({name} AS VARCHAR)" for name, _ in others[:width])
        return (
            f"SELECT {first} FROM ({left}) {operator} SELECT {second} FROM ({right})",
            [(name, "VARCHAR") for name, _ in columns[:width]],
        )

    def _source(self, depth: int, named: dict[str, list[tuple[str, str]]]) -> _Source:
        alias = f"s{next(self._numbers)}"
        if named and self.chance.random() < 0.7:
            name = self.chance.choice(list(named))
            return _Source(f"{name} AS {alias}", [(f"{alias}.{column}", kind) for column, kind in named[name]])
        if depth > 1 and self.chance.random() < 0.3:
            text, columns = self._query(depth - 1, named)
            return _Source(f"({text}) AS {alias}", [(f"{alias}.{column}", kind) for column, kind in columns])
        table = self.chance.choice(list(TABLES))
        return _Source(f"{table} AS {alias}", [(f"{alias}.{column}", kind) for column, kind in TABLES[table].items()])

    def _select(self, depth: int, named: dict[str, list[tuple[str, str]]]) -> tuple[str, list[tuple[str, str]]]:
        first = self._source(depth, named)
        text, columns = first.text, list(first.columns)
        if self.chance.random() < 0.5:
            other = self._source(depth, named)
            join = self.chance.choice(["JOIN", "LEFT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS JOIN"])
            condition = "" if join == "CROSS JOIN" else f" ON {self._equality(columns, other.columns)}"
            text += f" {join} {other.text}{condition}"
            if join not in {"SEMI JOIN", "ANTI JOIN"}:
                columns += other.columns
        lists = [column for column, kind in columns if kind == "INTEGER[]"]
        if lists and self.chance.random() < 0.3:
            alias = f"s{next(self._numbers)}"
            text += f" CROSS JOIN UNNEST({self.chance.choice(lists)}) AS {alias}(z)"
            columns.append((f"{alias}.z", "INTEGER"))
        where = f" WHERE {self._condition(columns, depth)}" if self.chance.random() < 0.5 else ""
        if self.chance.random() < 0.3:
            return self._grouped(text, columns, where)
        width = self.chance.randint(1, 4)
        projections = [self._expression(columns, depth) for _ in range(width)]
        result = [(f"o{number}", kind) for number, (_, kind) in enumerate(projections, 1)]
        listed = ", ".join(f"{value} AS o{number}" for number, (value, _) in enumerate(projections, 1))
        distinct = "DISTINCT " if self.chance.random() < 0.15 else ""
        qualify = ""
        if not distinct and self.chance.random() < 0.1:
            qualify = (
                f" QUALIFY rank() OVER (PARTITION BY {self._integer(columns)} ORDER BY {self._integer(columns)}) < 3"
            )
        limit = ""
        if self.chance.random() < 0.15:
            order = ", ".join(f"o{number}" for number in range(1, width + 1))
            limit = f" ORDER BY {order} LIMIT {self.chance.randint(1, 6)}"
        return f"SELECT {distinct}{listed} FROM {text}{where}{qualify}{limit}", result

    def _grouped(self, text: str, columns: Sequence[tuple[str, str]], where: str) -> tuple[str, list[tuple[str, str]]]:
        key = self._integer(columns)
        value, other = self._integer(columns), self._integer(columns)
        aggregate = self.chance.choice(
            [
                f"sum({value})",
                f"count({value})",
                "count(*)",
                f"count(DISTINCT {value})",
                f"max({value}) FILTER (WHERE {other} > 1)",
                f"min({value}) + max({other})",
                f"sum(CASE WHEN {other} > 2 THEN {value} ELSE 0 END)",
                f"list(DISTINCT {value} ORDER BY {value})",
                f"quantile_disc({value}, 0.5)",
            ]
        )
        kind = "INTEGER[]" if aggregate.startswith("list") else "INTEGER"
        having = f" HAVING sum({other}) > 3" if self.chance.random() < 0.3 else ""
        group = self.chance.choice([f"GROUP BY {key}", "GROUP BY ALL", "GROUP BY 1", f"GROUP BY ROLLUP ({key})"])
        return (
            f"SELECT {key} AS o1, {aggregate} AS o2 FROM {text}{where} {group}{having}",
            [("o1", "INTEGER"), ("o2", kind)],
        )

    def _equality(self, left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]]) -> str:
        return f"{self._integer(left)} = {self._integer(right)}"

    def _condition(self, columns: Sequence[tuple[str, str]], depth: int) -> str:
        value = self._integer(columns)
        choices = [
            f"{value} > {self.chance.randrange(4)}",
            f"{value} IS NOT NULL",
            f"{value} BETWEEN 1 AND {self._integer(columns)}",
            f"{value} IN (1, 2, 3)",
        ]
        if depth > 1:
            inner = self._source(1, {})
            choices += [
                f"{value} IN (SELECT {self._integer(inner.columns)} FROM {inner.text})",
                f"EXISTS (SELECT 1 FROM {inner.text} WHERE {self._integer(inner.columns)} = {value})",
                f"{value} <= (SELECT max({self._integer(inner.columns)}) FROM {inner.text})",
            ]
        return self.chance.choice(choices)

    def _integer(self, columns: Sequence[tuple[str, str]]) -> str:
        """Return an integer expression over columns."""
        column, kind = self.chance.choice(columns)
        if kind == "VARCHAR":
            return f"length({column})"
        if kind == "INTEGER[]":
            return f"len({column})"
        if kind.startswith("STRUCT"):
            return f"struct_extract({column}, 'x')"
        return column

    def _expression(self, columns: Sequence[tuple[str, str]], depth: int) -> tuple[str, str]:
        """Return an expression and its type."""
        column, kind = self.chance.choice(columns)
        value, other, third = (self._integer(columns) for _ in range(3))
        choices = [
            (column, kind),
            (column, kind),
            (f"{value} + {other}", "INTEGER"),
            (f"CASE WHEN {value} > 1 THEN {other} ELSE {third} END", "INTEGER"),
            (f"coalesce({value}, {other})", "INTEGER"),
            (f"if({value} = {other}, {third}, 9)", "INTEGER"),
            (f"sum({value}) OVER (PARTITION BY {other})", "INTEGER"),
            (f"rank() OVER (PARTITION BY {other} ORDER BY {value})", "INTEGER"),
            (f"max({value}) OVER (ORDER BY {other})", "INTEGER"),
            (f"list_transform([{value}, 2], x -> x + {other})", "INTEGER[]"),
            (f"list_filter([{value}, 2], x -> x > {other})", "INTEGER[]"),
            (f"md5(CAST({value} AS VARCHAR))", "VARCHAR"),
            (f"CAST({value} AS VARCHAR) || 'x'", "VARCHAR"),
            ("7", "INTEGER"),
        ]
        if depth > 1:
            inner = self._source(1, {})
            choices += [
                (
                    f"(SELECT max({self._integer(inner.columns)}) FROM {inner.text} "
                    f"WHERE {self._integer(inner.columns)} = {value})",
                    "INTEGER",
                ),
                (f"EXISTS (SELECT 1 FROM {inner.text} WHERE {self._integer(inner.columns)} > {value})", "INTEGER"),
                (f"{value} IN (SELECT {self._integer(inner.columns)} FROM {inner.text})", "INTEGER"),
            ]
        chosen, kind = self.chance.choice(choices)
        return (f"CAST({chosen} AS INTEGER)", kind) if kind == "INTEGER" and chosen != column else (chosen, kind)
