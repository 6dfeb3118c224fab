# SPDX-License-Identifier: Apache-2.0
"""`python -m lineagelab_dbt ARGUMENTS`: runs `dbt ARGUMENTS`, and reports its models and tests as OpenLineage events.

Environment, as that of OpenLineage's clients: `OPENLINEAGE_URL`, `OPENLINEAGE_API_KEY`, `OPENLINEAGE_NAMESPACE`,
`OPENLINEAGE_PARENT_ID`. `DBT_JOB_NAME` names the command's job, by default `dbt`. `LINEAGE_SPOOL` is a file that keeps
undelivered events for the next command; with `LINEAGE_OPEN_RUNS`, also a file, the next command ends the runs of one
that was killed. Two commands at a time need files of their own.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from dbt.cli.exceptions import DbtUsageException
from dbt.cli.main import dbtRunner, dbtRunnerResult
from dbt.version import __version__ as dbt_version

from lineagelab_common.identifiers import DEFAULT_NAMESPACE, ParentRun, now
from lineagelab_common.open_runs import OpenRuns, take_terminal_events
from lineagelab_dbt.reporter import Reporter
from lineagelab_sql.reporting import event_spool

_EXECUTING = frozenset({"build", "clone", "retry", "run", "seed", "snapshot", "test"})
"""Commands that are reported; the others, such as `deps` and `parse`, execute no nodes."""

EXIT_FAILED, EXIT_UNHANDLED, EXIT_INTERRUPTED = 1, 2, 130
"""Exit codes, as dbt's: a node failed; the command could not run; Ctrl-C or SIGTERM."""


def main(arguments: Sequence[str]) -> int:
    """Run a dbt command; return its exit code."""
    if _EXECUTING.isdisjoint(arguments):
        return _exit_code(dbtRunner().invoke(list(arguments)))
    file = os.environ.get("LINEAGE_OPEN_RUNS")
    open_runs = Path(file) if file else None
    _let_sigterm_interrupt()
    with event_spool(os.environ) as spool:
        for event in take_terminal_events(open_runs, "ABORT", "", now()) if open_runs else ():
            spool.add(event)
        reporter = Reporter(
            spool.add,
            os.environ.get("OPENLINEAGE_NAMESPACE") or DEFAULT_NAMESPACE,
            os.environ.get("DBT_JOB_NAME") or "dbt",
            dbt_version,
            ParentRun.from_environment(os.environ),
            OpenRuns(open_runs),
        )
        reporter.start()
        try:
            result = dbtRunner(callbacks=[reporter]).invoke(list(arguments))
        except BaseException:
            reporter.end("ABORT")
            raise
        reporter.end(*_outcome(result))
    return _exit_code(result)


def _let_sigterm_interrupt() -> None:
    """Let SIGTERM end the command as Ctrl-C does: dbt cancels what runs, and the runs are reported as aborted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _outcome(result: dbtRunnerResult) -> tuple[str, str]:
    """Return type and error of the command's last event."""
    if result.success:
        return "COMPLETE", ""
    if isinstance(result.exception, KeyboardInterrupt):
        return "ABORT", ""
    if result.exception is not None:
        return "FAIL", str(result.exception)
    failed = [each for each in result.result or () if str(each.status) in ("error", "fail", "runtime error")]
    return "FAIL", "\n".join(f"{each.node.name}: {each.message or each.status}" for each in failed)


def _exit_code(result: dbtRunnerResult) -> int:
    if result.success:
        return 0
    if result.exception is None:
        return EXIT_FAILED
    if isinstance(result.exception, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    if isinstance(result.exception, DbtUsageException):
        print(f"error: {result.exception}", file=sys.stderr)
    return EXIT_UNHANDLED


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
