# SPDX-License-Identifier: Apache-2.0
"""Results of queries as text: a table, CSV or JSON."""

import csv
import json
import sys
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import TextIO

from rich.console import Console
from rich.table import Table

from lineagelab_sql.session import Result


def table(result: Result, stream: TextIO, max_rows: int) -> None:
    """Print at most `max_rows` rows, aligned, and say if there are more."""
    shown = list(islice(result.rows, max_rows))
    is_complete = next(result.rows, None) is None
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for number, name in enumerate(result.columns):
        is_number = any(isinstance(row[number], int | float | Decimal) for row in shown)
        drawn.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in shown:
        drawn.add_row(*(_cell(value) for value in row))
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.print(drawn)
    if not is_complete:
        console.print(f"... the first {max_rows} rows; all: --format csv or json, or --max-rows")
    else:
        console.print(f"({len(shown)} row{'' if len(shown) == 1 else 's'})")


def comma_separated(result: Result, stream: TextIO, _max_rows: int) -> None:
    """Write CSV with a header; NULL is an empty field."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(["" if value is None else _text(value) for value in row] for row in result.rows)


def json_array(result: Result, stream: TextIO, _max_rows: int) -> None:
    """Write an array with one object for each row, one row per line."""
    separator = "["
    for row in result.rows:
        stream.write(separator + json.dumps(dict(zip(result.columns, row, strict=True)), default=_json_value))
        separator = ",\n "
    stream.write("]\n" if separator != "[" else "[]\n")


FORMATS: dict[str, Callable[[Result, TextIO, int], None]] = {
    "table": table,
    "csv": comma_separated,
    "json": json_array,
}


def _cell(value: object) -> str:
    return "NULL" if value is None else _text(value)


def _text(value: object) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return json.dumps(value, default=_json_value) if isinstance(value, dict | list) else str(value)


def _json_value(value: object) -> object:
    """Return a number for a decimal that a double represents exactly, and text for every other type."""
    if isinstance(value, Decimal) and Decimal(repr(float(value))) == value:
        return float(value)
    return _text(value)


def write(result: Result, form: str, max_rows: int, stream: TextIO = sys.stdout) -> None:
    """Write a result in one of `FORMATS`."""
    FORMATS[form](result, stream, max_rows)
