# SPDX-License-Identifier: Apache-2.0
"""A real Hive Metastore with an embedded database, for tests."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.toolchain import Artifacts
from infra.toolchain.progress import PlainProgress

START_SECONDS = 300
"""Limit; on an idle machine, the metastore starts within 7 s."""

STOP_SECONDS = 120
_MAIN = Path(__file__).with_name("Metastore.java")
_SITE = "metastore-site.xml"


@contextmanager
def running_metastore(folder: Path) -> Iterator[str]:
    """Run a metastore in a folder, on a free port, until the block ends; yield its URI."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    artifacts = Artifacts.open()
    artifacts.setup({"hive-metastore"}, PlainProgress(sys.stderr))
    jars = artifacts.component("hive-metastore")
    (folder / _SITE).write_text(_site(folder, port), encoding="utf-8")
    log = folder / "log"
    with log.open("wb") as output:
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dderby.system.home={folder}"]
        process = subprocess.Popen(
            ["java", *options, "-cp", f"{folder}:{jars}/lib/*", _MAIN, "-p", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "METASTORE_CONF_DIR": str(folder)},
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the metastore did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.2)
        yield f"thrift://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _site(folder: Path, port: int) -> str:
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/database;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "metastore.schema.verification": "false",
        "metastore.warehouse.dir": f"file:{folder}/warehouse",
        "metastore.thrift.bind.host": "127.0.0.1",
        "metastore.thrift.port": str(port),
        "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
        "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
        "hive.support.concurrency": "true",
        "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
    }
    rows = "".join(
        f"<property><name>{key}</name><value>{value}</value></property>\n" for key, value in settings.items()
    )
    return f"<configuration>\n{rows}</configuration>\n"
