# SPDX-License-Identifier: Apache-2.0
"""Rules about what a change may affect (`--fail-on`). Pure.

- `dashboard`: a dataset of a dashboard.
- `tag:KEY`: a dataset, column or job with the tag.
- `owner:NAME`: a dataset or job of the owner.
- `namespace:TEXT`: a dataset or job whose namespace begins with the text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

Row = Mapping[str, Any]

DASHBOARD, TAG, OWNER, NAMESPACE = "dashboard", "tag", "owner", "namespace"

DASHBOARD_SCHEMES = frozenset({"dashboard", "grafana", "superset"})
"""Schemes of the namespaces of dashboards; OpenLineage has no convention for them."""


@dataclass(frozen=True)
class Rule:
    """Rule, with its `value` in lower case; empty for `dashboard`."""

    kind: str
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a rule.

        Raises:
            ValueError: there is no such rule.
        """
        kind, colon, value = text.partition(":")
        if (kind == DASHBOARD and not colon) or (kind in (TAG, OWNER, NAMESPACE) and value):
            return cls(kind, value.lower())
        raise ValueError(f"invalid rule {text!r}: dashboard, tag:KEY, owner:NAME or namespace:TEXT")

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}" if self.value else self.kind


class Affected(NamedTuple):
    """Dataset, column or job that a rule forbids to affect; `certain` as in the response of `/impact`."""

    rule: Rule
    what: str
    certain: bool


def affected(rules: Iterable[Rule], reach: Row, summaries: Row) -> list[Affected]:
    """Return what the rules match, in order of the rules, each once.

    Args:
        reach: response of `/api/v1/impact`.
        summaries: response of `/api/v1/summaries`.
    """
    known = {kind: {_id(row): row for row in summaries[kind]} for kind in ("datasets", "jobs")}
    return [found for rule in rules for found in _affected_by(rule, reach, known)]


def _affected_by(rule: Rule, reach: Row, known: Mapping[str, Mapping[tuple[str, str], Row]]) -> Iterator[Affected]:
    for kind, prefix in (("datasets", ""), ("jobs", "job ")):
        for row in sorted(reach[kind], key=_id):
            if _matches(rule, row, known[kind].get(_id(row), {}), is_job=kind == "jobs"):
                yield Affected(rule, f"{prefix}{row['namespace']}/{row['name']}", row["certain"])
    if rule.kind == TAG:
        for row in sorted(reach["columns"], key=lambda each: (*_id(each), each["field"])):
            tags = known["datasets"].get(_id(row), {}).get("columnTags", {}).get(row["field"], ())
            if rule.value in _lowered(tags):
                yield Affected(rule, f"{row['namespace']}/{row['name']}#{row['field']}", row["certain"])


def _matches(rule: Rule, row: Row, summary: Row, is_job: bool) -> bool:
    if rule.kind == DASHBOARD:
        return not is_job and row["namespace"].partition(":")[0].lower() in DASHBOARD_SCHEMES
    if rule.kind == NAMESPACE:
        return bool(row["namespace"].lower().startswith(rule.value))
    return rule.value in _lowered(summary.get("tags" if rule.kind == TAG else "owners", ()))


def _lowered(texts: Sequence[str]) -> set[str]:
    return {text.lower() for text in texts}


def _id(row: Row) -> tuple[str, str]:
    return row["namespace"], row["name"]
