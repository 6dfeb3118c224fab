# SPDX-License-Identifier: Apache-2.0
"""Alerts of what differs from the lineage contract, once it has differed for a while."""

from collections.abc import Iterable

from lineage.alerts.alert import Alert, AlertKind
from lineage.checks.contract import Finding, Report

GRACE_SECONDS = 300
"""Seconds for which a difference must last: while a lab starts, its graph is incomplete."""

_SECOND = 10**9


def alerts_of_report(report: Report) -> list[Alert]:
    """Return one alert for each finding. Ages, which differ in each report, are not part of its occurrence."""
    return [
        Alert(AlertKind.CONTRACT, None, f"{found.subject} {found.text}", _text(found), None)
        for found in report.findings
    ]


class LastingAlerts:
    """Alerts that have lasted for `GRACE_SECONDS`."""

    def __init__(self) -> None:
        self._first_seen: dict[str, int] = {}

    def at(self, alerts: Iterable[Alert], now: int) -> list[Alert]:
        """Return those of `alerts`, all that there are at `now` (ns), that have lasted."""
        current = {alert.id: alert for alert in alerts}
        self._first_seen = {name: self._first_seen.get(name, now) for name in current}
        return [alert for name, alert in current.items() if now - self._first_seen[name] >= GRACE_SECONDS * _SECOND]


def _text(found: Finding) -> str:
    return f"lineage contract: {' '.join(found.line().split())}"
