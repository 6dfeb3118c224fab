# SPDX-License-Identifier: Apache-2.0
"""`lab lineage publish`: owners, tags and other facts as properties of the tables of a catalog."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any
from urllib.parse import quote

import typer

from infra import credentials
from infra.cli.console import DEFAULT_STACK, StackOption, out
from infra.cli.foreground import run_in_foreground
from infra.cli.lineage_client import GRAPH_PATH, SUMMARIES_PATH, UrlOption, get_json
from infra.cli.lineage_service import service_of
from infra.cli.stack import Stack
from infra.errors import LabError
from infra.namespaces import CATALOG_NAME
from infra.project import ENVIRONMENT_FILE, PROJECT, command_path
from infra.services import iceberg_catalog
from infra.toolchain import Artifacts, venvs
from infra.toolchain.progress import PlainProgress
from lineage.checks.metadata import carried_tags, catalog_facts, tagged_columns

_MODULE = "lineagelab_catalog"
_TYPES = ("iceberg", "glue", "hive")
_PAGE_SIZE = 1_000


def publish(
    kind: Annotated[str, typer.Option("--type", help="iceberg (a REST catalog), glue or hive.")] = "iceberg",
    uri: Annotated[str, typer.Option(help="URI of the catalog, instead of that of the lab: thrift://host:9083.")] = "",
    name: Annotated[str, typer.Option(help="First part of the names that events give its tables.")] = CATALOG_NAME,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be updated, and write nothing.")] = False,
    facts: Annotated[
        Path | None, typer.Option(help="Only write the facts to this file, for lineagelab-catalog.")
    ] = None,
    stack: StackOption = DEFAULT_STACK,
    url: UrlOption = None,
) -> None:
    """Write owners, descriptions, tags and inputs of datasets to the tables of a catalog, as properties."""
    if kind not in _TYPES:
        raise LabError(f"{kind!r} is not a type of catalog; choose from {', '.join(_TYPES)}")
    is_own = kind == "iceberg" and not uri  # the catalog of the lab
    lab = Stack(stack, Artifacts.open()) if url is None or (is_own and facts is None) else None
    if kind == "hive" and not uri and facts is None:
        raise LabError("no metastore was named; add --uri thrift://host:9083")
    service = url or (service_of(lab) if lab else "")
    document = json.dumps(facts_of(service), ensure_ascii=False)
    if facts is not None:
        facts.write_text(document + "\n", encoding="utf-8")
        out.print(f"wrote {facts}", markup=False)
        return
    variables: dict[str, str] = {}
    if is_own and lab is not None:
        uri = lab.endpoints().get(iceberg_catalog.NAME, "")
        if not uri:
            raise LabError(f"the lab of stack {stack} has no Iceberg catalog; name another one with --uri")
        # The client deletes old metadata files of tables. Another catalog must not get the credentials of the lab.
        variables = credentials.read(lab.root / ENVIRONMENT_FILE)
    artifacts = lab.artifacts if lab else Artifacts.open()
    artifacts.setup(frozenset({venvs.CATALOG.name}), PlainProgress(sys.stderr))
    words = ["--type", kind, "--uri", uri, "--name", name, *(["--dry-run"] if dry_run else [])]
    environment = {**os.environ, **variables, "PYTHONPATH": command_path(PROJECT)}
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
        file.write(document)
        file.flush()
        command: list[str | Path] = [artifacts.python(venvs.CATALOG.name), "-m", _MODULE, *words, file.name]
        if status := run_in_foreground(command, environment):
            raise typer.Exit(status)


def facts_of(service: str) -> dict[str, Any]:
    """Return the facts of all datasets of a lineage service; see `catalog_facts`.

    Raises:
        LabError: the service does not respond.
    """
    graph = get_json(service, GRAPH_PATH)
    carried = carried_tags(tagged_columns(get_json(service, SUMMARIES_PATH)), graph["columns"])
    rows = [
        row
        for namespace in sorted({row["namespace"] for row in graph["datasets"]})
        for row in _datasets(service, f"/api/v1/namespaces/{quote(namespace, safe='')}/datasets")
    ]
    return catalog_facts(rows, graph, carried)


def _datasets(service: str, path: str) -> Iterator[dict[str, Any]]:
    offset = 0
    while rows := get_json(service, path, limit=str(_PAGE_SIZE), offset=str(offset))["datasets"]:
        yield from rows
        offset += len(rows)
