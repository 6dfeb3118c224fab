# SPDX-License-Identifier: Apache-2.0
"""`lab lineage rebuild | compact | forget | describe`: changes of a running service, which require its admin key."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from infra import credentials
from infra.cli.console import DEFAULT_STACK, StackOption, out
from infra.cli.forgetting import NameNotFound, Removal, removal_of, removal_of_silent
from infra.cli.lineage_client import SUMMARIES_PATH, UrlOption, administer, instant, post_json
from infra.cli.lineage_metadata import read_metadata, send_metadata, unknown_nodes
from infra.cli.stack import Stack
from infra.errors import LabError
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


def forget(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NODE]...", help="Name or id of a job or dataset: job:lab:orders_etl."),
    ] = None,
    silent: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Instead of names: all jobs that do not run and are silent since -7d, RFC 3339."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be removed, and remove nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also remove running jobs, and datasets that jobs use.")
    ] = False,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
) -> None:
    """Remove jobs and datasets from the graph, until their next event.

    Their events and runs stay in the log. A dataset that only removed jobs use is removed with --silent, not by name.
    """
    if bool(names) == (silent is not None):
        raise LabError("name the jobs and datasets to remove, or write --silent -7d, not both")
    service, key = _service_and_key(stack, url)
    found = administer("GET", service, key, SUMMARIES_PATH)
    try:
        before = datetime.fromisoformat(instant(silent, datetime.now(UTC))) if silent is not None else None
        removal = removal_of(found, names or ()) if before is None else removal_of_silent(found, before)
    except NameNotFound as error:
        raise LabError(str(error)) from error
    _refuse_needed(removal, force)
    for node in removal.nodes:
        if not dry_run:
            administer("DELETE", service, key, node.path)
        out.print(f"{'would remove' if dry_run else 'removed'} {node.id}", markup=False, soft_wrap=True)
    out.print(f"{len(removal.nodes)} nodes; each comes back with its next event", markup=False)


def describe(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Metadata file, such as jobs/metadata.yaml.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file, and send nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also describe datasets and jobs that the graph does not have.")
    ] = False,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
) -> None:
    """Give owners, descriptions and tags to datasets and jobs, from a file; those of other producers stay."""
    metadata = read_metadata(file)
    service, key = _service_and_key(stack, url)
    unknown = unknown_nodes(service, key, metadata)
    if unknown and not force:
        raise LabError(
            f"nothing was sent: the graph does not have {', '.join(unknown)}. Correct the names, wait for the first"
            " event of each, or add --force"
        )
    count = len(metadata.described) if dry_run else send_metadata(service, key, metadata)
    out.print(f"{'would describe' if dry_run else 'described'} {count} datasets and jobs", markup=False)


def _refuse_needed(removal: Removal, force: bool) -> None:
    """Raise a LabError if nodes are still needed, unless that is to be ignored."""
    if removal.objections and not force:
        reasons = "; ".join(removal.objections)
        raise LabError(f"nothing was removed: {reasons}. Stop the job first, name it too, or add --force")


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
