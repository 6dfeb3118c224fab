# SPDX-License-Identifier: Apache-2.0
"""`python -m lineagelab_sql`: SQL on a lake, with lineage. Addresses are read from the environment (`lab.env`)."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lineagelab_common.identifiers import ParentRun
from lineagelab_common.spool import Spool
from lineagelab_sql import output
from lineagelab_sql.lake import Lake, LakeError
from lineagelab_sql.reporting import event_spool
from lineagelab_sql.session import Reporting, Session, StatementError

EXIT_FAILED, EXIT_INTERRUPTED = 1, 130


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab sql", description="Run SQL on the lake, and report its lineage.")
    parser.add_argument("sql", nargs="?", default="-", help="statements, separated by semicolons; - reads them")
    parser.add_argument("-f", "--file", type=Path, help="file with the statements")
    parser.add_argument("--format", choices=output.FORMATS, default="table")
    parser.add_argument("--max-rows", type=int, default=100, help="rows of a table that are shown")
    parser.add_argument("--write", action="store_true", help="allow statements that write")
    parser.add_argument("--name", default="", help="job name; named queries are reported too")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run the statements; return the exit code."""
    given = _arguments(arguments)
    environment = os.environ
    try:
        text = given.file.read_text(encoding="utf-8") if given.file else given.sql
        text = sys.stdin.read() if text == "-" and not given.file else text
    except (OSError, UnicodeDecodeError) as error:
        return _failed(f"cannot read {given.file or 'the input'}: {error}")
    try:
        with event_spool(environment) as spool:
            return _run(text, given, environment, spool)
    except (LakeError, StatementError, ValueError, OSError) as error:
        return _failed(str(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED


def _run(text: str, given: argparse.Namespace, environment: Mapping[str, str], spool: Spool) -> int:
    reporting = Reporting(
        spool.add,
        environment.get("OPENLINEAGE_NAMESPACE") or "default",
        given.name,
        ParentRun.from_environment(environment),
    )
    lake = Lake.from_environment(environment)
    with lake.connect(writable=given.write) as connection:
        if sys.stderr.isatty() and sys.stdout.isatty():
            connection.execute("SET enable_progress_bar = true")
        session = Session(lake, connection, reporting, is_writable=given.write)
        session.run(text, lambda result: output.write(result, given.format, given.max_rows))
    return 0


def _failed(message: str) -> int:
    sys.stdout.flush()
    print(f"error: {message}", file=sys.stderr)
    return EXIT_FAILED


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
