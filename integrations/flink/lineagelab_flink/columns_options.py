# SPDX-License-Identifier: Apache-2.0
"""Options of commands for jobs that declare their column lineage."""

import argparse
from pathlib import Path


def add_columns_options(parser: argparse.ArgumentParser) -> None:
    """Add `--columns`, and `--dataset-namespace` for its aliases, a list of pairs."""
    parser.add_argument("--columns", type=Path, metavar="FILE", help="declared column lineage of the job, JSON")
    parser.add_argument(
        "--dataset-namespace",
        type=_alias,
        action="append",
        default=[],
        metavar="ALIAS=NAMESPACE",
        help="namespace for which an alias in --columns stands; can be repeated",
    )


def _alias(text: str) -> tuple[str, str]:
    alias, equals, namespace = text.partition("=")
    if not alias or not equals or not namespace:
        raise argparse.ArgumentTypeError(f"{text!r} does not match ALIAS=NAMESPACE")
    return alias, namespace
