# SPDX-License-Identifier: Apache-2.0
"""`lab lineage rebuild | compact`: maintenance of a running lineage service, which requires its admin key."""

import os
from datetime import UTC, datetime
from typing import Annotated

import typer

from infra import credentials
from infra.cli.console import DEFAULT_STACK, StackOption, out
from infra.cli.lineage_client import UrlOption, instant, post_json
from infra.cli.stack import Stack
from infra.toolchain import Artifacts

KEY_VARIABLE = credentials.LINEAGE_ADMIN_KEY
"""Environment variable with the admin key of a service; that of a lab is in its credentials."""

BeforeArgument = Annotated[
    str, typer.Argument(metavar="BEFORE", help="Time: -30d, -12h, RFC 3339 (2026-01-31T12:00:00Z) or now.")
]


def rebuild(stack: StackOption = DEFAULT_STACK, url: UrlOption = None) -> None:
    """Rebuild the graph from the event log, for example after a change of the naming rules."""
    result = post_json(*_service_and_key(stack, url), "/api/v1/rebuild")
    change = "is unchanged" if result["equal"] else "has changed"
    out.print(f"rebuilt the graph from {result['events']} events in {result['seconds']} s; it {change}", markup=False)


# `-30d` is an argument, not options; for the same reason `--stack` has no short form here.
def compact(
    before: BeforeArgument,
    stack: Annotated[
        str, typer.Option("--stack", envvar="LINEAGE_LAB_STACK", help="Name of the lab's Pulumi stack.")
    ] = DEFAULT_STACK,
    url: UrlOption = None,
) -> None:
    """Remove events older than BEFORE from the log, as retention does; the graph stays the same."""
    time = instant(before, datetime.now(UTC))
    result = post_json(*_service_and_key(stack, url), "/api/v1/compact", before=time)
    out.print(f"compacted {result['removed']} events older than {time}; the graph is unchanged", markup=False)


def _service_and_key(stack: str, url: str | None) -> tuple[str, str]:
    """Return URL and admin key of a service. The key of a stack is sent to its own service only.

    Raises:
        LabError: the stack has no running lab.
    """
    given = os.environ.get(KEY_VARIABLE, "")
    if url is not None:
        return url, given
    lab = Stack(stack, Artifacts.open())
    return lab.endpoints()["lineage"], given or lab.credential(KEY_VARIABLE)
