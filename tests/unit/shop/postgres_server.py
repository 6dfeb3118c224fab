# SPDX-License-Identifier: Apache-2.0
"""The lab's Postgres, started by the launch script that the lab renders, with the tables of the shop."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg

from infra import credentials
from infra.catalog import LabSettings
from infra.project import PROJECT
from infra.services import postgres
from infra.targets.launch_script import Launcher
from infra.targets.local.site import LocalSite
from infra.toolchain import Artifacts

TABLES = {
    "orders": "order_id text PRIMARY KEY, item text, price text, supplier text, bid_time timestamptz(3)",
    "bids": "order_id text PRIMARY KEY, price text, supplier text, bid_time timestamptz(3)",
}


class PostgresServer:
    """Server on a free loopback port; its files are in `root`."""

    def __init__(self, root: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        artifacts = Artifacts.open()
        site = LocalSite(
            root=root,
            port_offset=self.port - postgres.SQL.port,
            endpoints={postgres.NAME: postgres.ENDPOINTS},
            programs=artifacts,
        )
        service = postgres.postgres_service(site, LabSettings())
        for name, text in service.files.items():
            path = Path(site.file(postgres.NAME, name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        Path(site.volume(postgres.NAME, postgres.DATA)).mkdir(parents=True)
        secrets = root / "credentials.env"
        credentials.ensure(secrets)
        launcher = Launcher(artifacts, project=PROJECT, credentials=secrets, platform=sys.platform, user=os.geteuid())
        self.password = credentials.read(secrets)[credentials.POSTGRES_PASSWORD]
        self._script = launcher.script(service, root)
        self._log = root / "log"
        self._process: subprocess.Popen | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(["sh", "-c", self._script], stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect("postgres").close()
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, self._log.read_text()
                assert time.monotonic() < deadline, self._log.read_text()
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT is a fast shutdown, SIGKILL kills every process."""
        if self._process is None:
            return
        self.send(how) if how == signal.SIGKILL else self._process.send_signal(how)
        self._process.wait(30)
        self._process = None

    def send(self, how: signal.Signals) -> None:
        """Send a signal to every process of the server; each has a process group of its own."""
        assert self._process is not None
        postmaster = psutil.Process(self._process.pid)
        for process in (postmaster, *postmaster.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(how)

    def connect(self, database: str = "shop") -> psycopg.Connection:
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user=postgres.USER,
            password=self.password,
            dbname=database,
            connect_timeout=5,
            autocommit=True,
        )

    def query(self, query: str, database: str = "shop") -> list[tuple]:
        with self.connect(database) as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []

    def make_shop(self, **tables: str) -> None:
        """Create an empty database `shop` with these tables."""
        self.query("DROP DATABASE IF EXISTS shop WITH (FORCE)", "postgres")
        self.query("CREATE DATABASE shop", "postgres")
        for name, columns in tables.items():
            self.query(f"CREATE TABLE {name} ({columns})")
