# SPDX-License-Identifier: Apache-2.0
"""`lineagelab-catalog --type TYPE --uri URI FACTS`: write facts about datasets to the tables of a catalog."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lineagelab_catalog.facts import FactsError, read_facts
from lineagelab_catalog.publish import Report, publish
from lineagelab_catalog.tables import CatalogError, TableCatalog

EXIT_FAILED, EXIT_UNUSABLE, EXIT_INTERRUPTED = 1, 2, 130
TYPES = ("iceberg", "glue", "hive")


def main(arguments: Sequence[str]) -> int:
    """Write the facts; return 0, 1 if a table could not be changed, 2 if nothing could be done."""
    parser = argparse.ArgumentParser(prog="lineagelab-catalog", description=__doc__)
    parser.add_argument("facts", metavar="FACTS", help="file of `lab lineage publish --facts`; `-` reads it")
    parser.add_argument("--type", choices=TYPES, required=True, help="iceberg: a REST catalog; glue; hive")
    parser.add_argument("--uri", default="", help="of the REST catalog, or thrift://host:port of the metastore")
    parser.add_argument("--name", default="", help="of the catalog in lineage events, such as lake")
    parser.add_argument("--dry-run", action="store_true", help="list what would be changed")
    given = parser.parse_args(arguments)
    if given.type != "glue" and not given.uri:
        parser.error(f"--uri is required with --type {given.type}")
    try:
        facts = read_facts(sys.stdin.read() if given.facts == "-" else Path(given.facts).read_text(encoding="utf-8"))
        report = publish(open_catalog(given.type, given.uri, given.name), facts, dry_run=given.dry_run)
    except (FactsError, CatalogError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    except KeyboardInterrupt:
        print("interrupted; tables that were changed stay so, repeat the command for the others", file=sys.stderr)
        return EXIT_INTERRUPTED
    _print(report, dry_run=given.dry_run)
    return EXIT_FAILED if report.failed else 0


def open_catalog(kind: str, uri: str, name: str) -> TableCatalog:
    """Open a catalog. Credentials are those of its own client: AWS variables, Iceberg's configuration file.

    Raises:
        CatalogError: its client is not installed, or it does not respond.
    """
    try:
        if kind == "iceberg":
            from pyiceberg.catalog.rest import RestCatalog

            from lineagelab_catalog.iceberg_tables import IcebergTables
            from lineagelab_catalog.metadata_files import METADATA_FILES

            return IcebergTables(RestCatalog(name or "default", uri=uri, **{"py-io-impl": METADATA_FILES}), name)
        if kind == "glue":
            import boto3

            from lineagelab_catalog.glue_tables import GlueTables

            return GlueTables(boto3.client("glue", endpoint_url=os.environ.get("AWS_ENDPOINT_URL_GLUE")), name)
        from lineagelab_catalog.hive_tables import HiveTables

        return HiveTables(uri)
    except ImportError as error:
        raise CatalogError(f"{error}; pip install 'lineage-lab-catalog[{kind}]'") from error
    except Exception as error:  # each client has its own errors
        raise CatalogError(f"opening the {kind} catalog {uri or 'of AWS'} failed: {error}") from error


def _print(report: Report, *, dry_run: bool) -> None:
    for label in report.updated:
        print(f"{'would update' if dry_run else 'updated'} {label}")
    for label, reason in report.failed.items():
        print(f"failed {label}: {reason}", file=sys.stderr)
    counts = {
        "to be updated" if dry_run else "updated": len(report.updated),
        "unchanged": len(report.unchanged),
        "not in the graph": len(report.unknown),
        "failed": len(report.failed),
    }
    print(", ".join(f"{count} {name}" for name, count in counts.items() if count) or "the catalog has no tables")


def run() -> None:
    """Run the command; entry point of the package."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
