# SPDX-License-Identifier: Apache-2.0
"""Suites of expectations in files: `sales.orders.json`, in the JSON of Great Expectations, for that table."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineagelab_great_expectations.results import named_columns

SUFFIX = ".json"


class SuiteError(Exception):
    """A suite cannot be used; the message names the file."""


@dataclass(frozen=True)
class Suite:
    """A suite of a file.

    Attributes:
        table: checked table, `sales.orders`: the file's name.
        expectations: as Great Expectations takes them.
    """

    table: str
    expectations: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> list[str] | None:
        """Columns that the expectations need; None for all."""
        found: dict[str, None] = {}
        for each in self.expectations:
            kwargs = each["kwargs"]
            named = named_columns(kwargs)
            # An expectation about the table's columns, or with conditions on others, needs all of them.
            if "row_condition" in kwargs or (not named and "row_count" not in each["type"]):
                return None
            found.update(dict.fromkeys(named))
        return list(found) or None


def read_suites(folder: Path, names: Sequence[str] = ()) -> list[Suite]:
    """Read the suites of a folder, or those of the tables `names`.

    Raises:
        SuiteError: there is none, one of `names` is missing, or a file is not a suite.
    """
    files = {path.name.removesuffix(SUFFIX): path for path in sorted(folder.glob(f"*{SUFFIX}"))}
    if missing := [name for name in names if name not in files]:
        known = ", ".join(files) or "none"
        raise SuiteError(f"{folder} has no suite {', '.join(missing)}; it has: {known}")
    if not files:
        raise SuiteError(f"{folder} has no suite; write one to {folder}/sales.orders{SUFFIX}")
    return [_suite(files[name], name) for name in (names or files)]


def _suite(path: Path, table: str) -> Suite:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        expectations = list(_expectations(document))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SuiteError(f"{path} is not a suite, an object with `expectations`: {error}") from error
    if not expectations:
        raise SuiteError(f"{path} has no expectation, so it checks nothing")
    return Suite(table, expectations)


def _expectations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for row in document["expectations"]:
        kept = {key: row[key] for key in ("kwargs", "meta", "severity") if key in row}
        if not isinstance(row["type"], str) or not isinstance(kept.setdefault("kwargs", {}), dict):
            raise TypeError("an expectation has `type` and `kwargs`")
        yield {"type": row["type"], **kept}
