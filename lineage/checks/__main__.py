# SPDX-License-Identifier: Apache-2.0
"""`python -m lineage.checks SOURCE` (installed as `lineage-check`): validate OpenLineage events.

Exit codes: 0 no findings, 1 findings, 2 the events, schemas or rules cannot be read.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lineage.checks.events import (
    SourceError,
    Specification,
    SpecificationError,
    check_events,
    events_of,
    render_json,
    render_junit,
    render_text,
)
from lineage.rules import Rules, RulesError, read_rules

FOUND = 1
FAILED = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Validate the events of one source and exit with the code of the outcome."""
    options = _parser().parse_args(arguments)
    try:
        rules = read_rules(options.rules) if options.rules else Rules()
        specification = None if options.no_spec else Specification.open(options.spec)
        findings = check_events(events_of(options.source), rules, specification, options.source)
        if options.json:
            options.json.write_text(render_json(findings, options.strict), encoding="utf-8")
        if options.junit:
            options.junit.write_text(render_junit(findings, options.strict), encoding="utf-8")
    except (SourceError, SpecificationError, RulesError, OSError) as error:
        print(f"lineage-check: {error}", file=sys.stderr)
        sys.exit(FAILED)
    print(render_text(findings), end="")
    sys.exit(0 if findings.ok(options.strict) else FOUND)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lineage-check", description="Validate OpenLineage events.")
    parser.add_argument("source", help="file or folder of events, - for stdin, or URL of a lineage service")
    parser.add_argument("--spec", help="OpenLineage JSON schemas: folder or URL, instead of the pinned version")
    parser.add_argument("--no-spec", action="store_true", help="skip the check against the JSON schemas")
    parser.add_argument("--rules", type=Path, help="naming rules of the service, applied before the checks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the report as JSON")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write the report as JUnit XML")
    parser.add_argument("--strict", action="store_true", help="count warnings as findings")
    return parser


if __name__ == "__main__":
    main()
