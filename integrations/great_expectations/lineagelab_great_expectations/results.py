# SPDX-License-Identifier: Apache-2.0
"""Results of a suite, read from the JSON of Great Expectations 1.x. Pure, and without Great Expectations."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeGuard

Json = Mapping[str, Any]

SEVERITIES = {"critical": "error", "warning": "warn", "info": "info"}
"""Severity of Great Expectations -> that of OpenLineage's assertions."""

_COLUMN_KEYS = ("column", "column_A", "column_B")
_METRICS = {
    "expect_column_min_to_be_between": "min",
    "expect_column_max_to_be_between": "max",
    "expect_column_sum_to_be_between": "sum",
    "expect_column_unique_value_count_to_be_between": "distinctCount",
}
"""Expectation -> the metric of a column that its observed value is."""

_ROW_COUNTS = frozenset({"expect_table_row_count_to_be_between", "expect_table_row_count_to_equal"})
_NOT_NULL = "expect_column_values_to_not_be_null"


@dataclass(frozen=True)
class ExpectationResult:
    """Result of one expectation.

    Attributes:
        expectation: its type, such as `expect_column_values_to_be_unique`.
        columns: that it is about; none for a table's.
        severity: error, warn or info.
        success: None if it could not be evaluated.
        message: what was found, without values of rows; empty for a success.
        observed: value that an aggregate has; None without one.
        counts: `element_count`, `missing_count`, `unexpected_count`, those that Great Expectations counted.
    """

    expectation: str
    columns: tuple[str, ...]
    severity: str
    success: bool | None
    message: str
    observed: object
    counts: Mapping[str, int]

    @property
    def breaks(self) -> bool:
        """True if the check fails because of it: an error, or an expectation that could not be evaluated."""
        return self.success is None or (not self.success and self.severity == "error")

    @property
    def label(self) -> str:
        """Expectation and columns, for messages."""
        return f"{self.expectation} of {', '.join(self.columns)}" if self.columns else self.expectation


@dataclass(frozen=True)
class CheckResults:
    """Results of a suite."""

    results: Sequence[ExpectationResult]

    @property
    def broken(self) -> list[ExpectationResult]:
        """Results that let the check fail."""
        return [each for each in self.results if each.breaks]

    @property
    def assertions(self) -> list[dict[str, Any]]:
        """Rows of the facet `dataQualityAssertions`; only of expectations that were evaluated."""
        return [_assertion(each) for each in self.results if each.success is not None]

    @property
    def metrics(self) -> dict[str, Any]:
        """Content of the facet `dataQualityMetrics`, as far as the expectations counted; empty if they did not."""
        columns: dict[str, dict[str, Any]] = {}
        rows: list[int] = []
        for each in self.results:
            rows += _row_counts(each)
            for column, metric, value in _metrics(each):
                columns.setdefault(column, {})[metric] = value
        found: dict[str, Any] = {"rowCount": max(rows)} if rows else {}
        return found | ({"columnMetrics": columns} if columns else {})


def read_results(document: Json) -> CheckResults:
    """Read the JSON of a validation result (`result.to_json_dict()`).

    Raises:
        ValueError: it is not one.
    """
    try:
        return CheckResults([_result(row) for row in document["results"]])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a validation result of Great Expectations 1.x: {error!r}") from error


def _result(row: Json) -> ExpectationResult:
    config, result = row["expectation_config"], row.get("result") or {}
    kwargs = config["kwargs"]
    failure = _failure(row.get("exception_info") or {})
    counts = {
        name: int(result[name])
        for name in ("element_count", "missing_count", "unexpected_count")
        if _is_number(result.get(name))
    }
    success = None if failure else bool(row["success"])
    return ExpectationResult(
        config["type"],
        named_columns(kwargs),
        SEVERITIES.get(config.get("severity") or "critical", "error"),
        success,
        failure or ("" if success else _found(result, counts)),
        result.get("observed_value"),
        counts,
    )


def _is_number(value: object) -> TypeGuard[Real]:
    """Return True for a finite number; those of NumPy are none of Python's types."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def named_columns(kwargs: Json) -> tuple[str, ...]:
    """Return the columns that the arguments of an expectation name; none for one about a whole table."""
    single = (kwargs[key] for key in _COLUMN_KEYS if kwargs.get(key))
    return tuple(map(str, (*single, *(kwargs.get("column_list") or ()))))


def _failure(info: Json) -> str:
    """Return why an expectation could not be evaluated; empty if it was.

    The information is that of one error, or of one for each metric that could not be computed.
    """
    infos = [info] if "raised_exception" in info else [each for each in info.values() if isinstance(each, dict)]
    messages = {str(each.get("exception_message") or "unknown error") for each in infos if each.get("raised_exception")}
    return "; ".join(sorted(messages))


def _found(result: Json, counts: Mapping[str, int]) -> str:
    if "unexpected_count" in counts:
        return f"{counts['unexpected_count']} of {counts.get('element_count', '?')} rows"
    return f"observed {result['observed_value']}" if "observed_value" in result else "not met"


def _assertion(found: ExpectationResult) -> dict[str, Any]:
    one = found.columns[0] if len(found.columns) == 1 else None
    several = f"({', '.join(found.columns)})" if len(found.columns) > 1 else ""
    row = {
        "assertion": found.expectation + several,
        "success": found.success,
        "severity": found.severity,
        "column": one,
        "actual": found.message or None,
    }
    return {key: value for key, value in row.items() if value is not None}


def _row_counts(found: ExpectationResult) -> Iterator[int]:
    if found.expectation in _ROW_COUNTS and _is_number(found.observed):
        yield int(found.observed)  # type: ignore[call-overload]
    if "element_count" in found.counts:
        yield found.counts["element_count"]


def _metrics(found: ExpectationResult) -> Iterator[tuple[str, str, int | float]]:
    if len(found.columns) != 1 or found.success is None:
        return
    (column,) = found.columns
    if "missing_count" in found.counts:
        yield column, "nullCount", found.counts["missing_count"]
    elif found.expectation == _NOT_NULL and "unexpected_count" in found.counts:
        yield column, "nullCount", found.counts["unexpected_count"]
    metric = _METRICS.get(found.expectation)
    if metric is not None and _is_number(found.observed):
        yield column, metric, float(found.observed)
