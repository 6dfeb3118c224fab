# SPDX-License-Identifier: Apache-2.0
"""Script that runs a PyFlink program in a JVM of its own: `python python_program.py MODE FILE [ARGUMENT...]`.

- `submit`: the job of the program runs on a session cluster. The program does not wait for it.
- `describe`: prints the column lineage of that job as JSON (`dev.lineagelab.flink.sql.ProgramLineage`) and does not
  submit it. Definitions before it take effect, as in the real run.

The program does not run in the JobManager, as that of a jar does: PyFlink would find the context of the program that
the JobManager has started last, and with it another job's id. What the program prints goes to standard error.

The interpreter is that of PyFlink, which has no other package of the lab: this script imports none.

Environment: `FLINK_PYTHON_GATEWAY`, the command of the JVM without main class, with Flink's Python jar and planner on
its class path; `FLINK_PYTHON_CONFIGURATION`, options of Flink as a JSON object, to submit.

Exit codes: 1 the program failed, 3 the lineage of its job is not known, or it has none.
"""

import json
import os
import runpy
import shlex
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

GATEWAY_MAIN = "org.apache.flink.client.python.PythonGatewayServer"
PROGRAM_FAILED = 1
UNKNOWN_LINEAGE = 3

END_SECONDS = 10
"""Time in which the JVM of PyFlink's gateway ends: its listener waits 5 s for a lineage service that is down."""

_POLL_SECONDS = 0.05


class Described(BaseException):
    """The program is about to submit its job, of which `document` is the lineage. No program catches it."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.document = document


class UnknownLineage(BaseException):
    """The program is about to submit a job whose lineage is not known; the message says why."""


def main() -> int:
    """Run the program that the arguments name; return the exit code."""
    out, sys.stdout = sys.stdout, sys.stderr
    mode, program, sys.argv = sys.argv[1], sys.argv[2], sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="program-") as scratch, _gateway(Path(scratch)):
        if mode == "submit":
            _submit_to_cluster(json.loads(os.environ["FLINK_PYTHON_CONFIGURATION"]))
        else:
            _describe_jobs()
        sys.path.insert(0, str(Path(program).parent))
        try:
            runpy.run_path(program, run_name="__main__")
        except Exception:
            traceback.print_exc()
            return PROGRAM_FAILED
        except SystemExit as ended:
            if ended.code:
                print(f"{program} ended with exit code {ended.code}", file=sys.stderr)
                return PROGRAM_FAILED
        except Described as found:
            print(found.document, file=out, flush=True)
            return 0
        except UnknownLineage as error:
            print(error, file=sys.stderr)
            return UNKNOWN_LINEAGE
    if mode == "submit":
        return 0
    print(f"{program} submitted no job", file=sys.stderr)
    return UNKNOWN_LINEAGE


@contextmanager
def _gateway(scratch: Path) -> Iterator[None]:
    """Run the JVM of PyFlink's gateway for the block, and let PyFlink use it."""
    connection = scratch / "port"
    process = subprocess.Popen(
        [*shlex.split(os.environ["FLINK_PYTHON_GATEWAY"]), f"-Djava.io.tmpdir={scratch}", GATEWAY_MAIN],
        env={**os.environ, "_PYFLINK_CONN_INFO_PATH": str(connection)},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )
    try:
        while not connection.exists():
            if process.poll() is not None:
                raise SystemExit(f"the JVM of PyFlink's gateway ended with exit code {process.returncode}")
            time.sleep(_POLL_SECONDS)
        (port,) = struct.unpack("!I", connection.read_bytes()[:4])
        os.environ["PYFLINK_GATEWAY_PORT"] = str(port)
        yield
    finally:
        # OpenLineage's listener in the JVM may still deliver the start of the job.
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _submit_to_cluster(options: dict[str, str]) -> None:
    """Let the program's environments submit one job to the cluster that `options` name, and not wait for it."""
    from pyflink.java_gateway import get_gateway
    from pyflink.table import TableResult

    jvm = get_gateway().jvm
    # The context of `flink run`: without it, environments run their jobs in this JVM.
    jvm.org.apache.flink.client.program.StreamContextEnvironment.setAsContext(
        jvm.org.apache.flink.core.execution.DefaultExecutorServiceLoader(),
        jvm.org.apache.flink.configuration.Configuration.fromMap(options),
        jvm.Thread.currentThread().getContextClassLoader(),
        True,  # one job
        True,  # nothing about the job on standard output
    )
    TableResult.wait = lambda _result, _timeout_ms=None: None


def _describe_jobs() -> None:
    """Let everything that submits a job describe it instead."""
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.java_gateway import get_gateway
    from pyflink.table import StatementSet, Table, TableEnvironment, TablePipeline

    lineage = get_gateway().jvm.dev.lineagelab.flink.sql.ProgramLineage
    execute_sql = TableEnvironment.execute_sql

    def of_statement(session: Any, statement: str) -> Any:  # noqa: ANN401 - PyFlink has no types
        document = _known(lambda: lineage.ofStatement(session._j_tenv, statement))
        if document is not None:
            raise Described(document)
        return execute_sql(session, statement)

    def of_set(statements: Any) -> NoReturn:  # noqa: ANN401
        raise Described(_known(lambda: lineage.ofSet(statements._t_env._j_tenv, statements._j_statement_set)))

    def of_insert(table: Any, table_path_or_descriptor: Any, overwrite: bool = False) -> NoReturn:  # noqa: ANN401
        statements = table._t_env.create_statement_set()
        of_set(statements.add_insert(table_path_or_descriptor, table, overwrite))

    def of_pipeline(pipeline: Any) -> NoReturn:  # noqa: ANN401
        statements = pipeline._t_env.create_statement_set()
        of_set(statements.add(pipeline))

    TableEnvironment.execute_sql = of_statement
    StatementSet.execute = of_set
    Table.execute_insert = of_insert
    TablePipeline.execute = of_pipeline
    Table.execute = _unknown("the rows of its query go to the program, and into no table")
    StatementSet.attach_as_datastream = _unknown("it is a job of the DataStream API")
    StreamExecutionEnvironment.execute = _unknown("it is a job of the DataStream API")
    StreamExecutionEnvironment.execute_async = _unknown("it is a job of the DataStream API")


def _known(describe: Callable[[], Any]) -> Any:  # noqa: ANN401
    from py4j.protocol import Py4JJavaError

    try:
        return describe()
    except Py4JJavaError as error:
        cause = error.java_exception
        if cause.getClass().getName() != "java.lang.UnsupportedOperationException":
            raise
        raise UnknownLineage(cause.getMessage()) from None


def _unknown(reason: str) -> Callable[..., NoReturn]:
    def refuse(*_arguments: Any, **_options: Any) -> NoReturn:  # noqa: ANN401
        raise UnknownLineage(f"the lineage of the job is not known: {reason}")

    return refuse


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # Without the finalizers of PyFlink's objects, which would call the JVM.
    os._exit(code)
