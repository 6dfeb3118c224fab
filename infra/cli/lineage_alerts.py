# SPDX-License-Identifier: Apache-2.0
"""`lab lineage alerts`: what is wrong now, as text. Pure."""

from collections.abc import Mapping
from typing import Any

ALERTS_PATH = "/api/v1/alerts"


def alerts_text(response: Mapping[str, Any]) -> str:
    """Return one line for each alert of a response of `ALERTS_PATH`, and for each webhook that is behind."""
    lines = [f"{alert['kind']:<8} {alert['since'] or '':<27}  {alert['text']}\n" for alert in response["alerts"]]
    count = len(lines)
    lines.append(f"{count} alert{'' if count == 1 else 's'}\n")
    for webhook in response["webhooks"]:
        if webhook["waiting"] or webhook["givenUp"]:
            state = f"{webhook['waiting']} messages wait, {webhook['givenUp']} given up"
            lines.append(f"webhook {webhook['name']}: {state}; last error: {webhook['lastError'] or 'none'}\n")
    return "".join(lines)
