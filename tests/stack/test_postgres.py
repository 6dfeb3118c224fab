# SPDX-License-Identifier: Apache-2.0
"""Postgres as the lab runs it, and databases as resources, with the real engine and the real server."""

import threading
from pathlib import Path

import psutil
import psycopg
import pytest

from infra import credentials
from infra.errors import LabError
from infra.provider.kind import Call
from infra.provider.kinds.database import DatabaseKind
from infra.targets.local.supervisor import Supervisor
from infra.toolchain import Artifacts
from tests.stack.engine import Engine
from tests.stack.postgres_lab import PROGRAM, declared

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform"),
]


def until(true, seconds=20):
    """Waits until something holds; says whether it ever did."""
    waiter = threading.Event()
    for _ in range(seconds * 10):
        if true():
            return True
        waiter.wait(0.1)
    return False


class Server:
    """A running part of a lab with its Postgres."""

    def __init__(self, root, offset):
        self.root = Path(root)
        self.offset = offset
        self.port = 5432 + offset
        self.supervisor = Supervisor(self.root)

    def resources(self, *databases):
        return {resource.key: resource for resource in declared(str(self.root), self.offset, list(databases))}

    def password(self):
        return credentials.read(self.root / "credentials.env")[credentials.POSTGRES_PASSWORD]

    def connect(self, database="postgres", password=None):
        given = self.password() if password is None else password
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="postgres", password=given, dbname=database, autocommit=True
        )

    def ask(self, query, database="postgres"):
        with self.connect(database) as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []

    def databases(self):
        return {name for (name,) in self.ask("SELECT datname FROM pg_database WHERE NOT datistemplate")}

    def answers(self):
        try:
            return self.ask("SELECT 1") == [(1,)]
        except psycopg.OperationalError:
            return False

    def pid(self):
        return self.supervisor.state("postgres").pid

    def log(self):
        return (self.root / "services" / "postgres" / "log").read_text()

    def processes(self):
        return [process for process in psutil.process_iter(["environ"]) if self.supervisor._owns(process)]


def shared_memory():
    """What Postgres servers of this machine keep outside their folders: names, and ids of System V segments."""
    named = {path.name for path in Path("/dev/shm").glob("PostgreSQL*")} if Path("/dev/shm").exists() else set()
    segments = Path("/proc/sysvipc/shm")
    rows = segments.read_text().splitlines()[1:] if segments.exists() else []
    return named | {row.split()[1] for row in rows}


def mapped(processes):
    """The files and System V segments (their ids are inodes there) that processes have mapped."""
    lines = [
        line.split() for process in processes for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    ]
    return {word for line in lines if len(line) > 5 for word in (line[4], Path(line[5]).name)}


@pytest.fixture(scope="module")
def server(tmp_path_factory, free_offset):
    """One server for the tests that leave it as they found it."""
    engine = Engine(tmp_path_factory.mktemp("postgres") / "one", program=PROGRAM)
    engine.wanted = {"root": str(engine.root), "offset": free_offset, "databases": []}
    running = Server(engine.root, free_offset)
    first = engine.up()
    assert first.status == 0, first.text
    yield running
    running.supervisor.shut_down()


def test_it_runs_as_the_configuration_says(server):
    shown = {
        name: server.ask(f"SHOW {name}")[0][0]
        for name in ("wal_level", "max_connections", "shared_buffers", "unix_socket_directories", "listen_addresses")
    }
    assert shown == {
        "wal_level": "logical",
        "max_connections": "60",
        "shared_buffers": "64MB",
        "unix_socket_directories": "",
        "listen_addresses": "127.0.0.1",
    }


@pytest.mark.parametrize("wrong", ["", "postgres", "0" * 32])
def test_a_wrong_password_is_refused(server, wrong):
    with pytest.raises(psycopg.OperationalError, match=r"password authentication failed|no password supplied"):
        server.connect(password=wrong)


def test_the_password_is_in_no_argument_list_and_in_no_file_but_its_own(server):
    password = server.password()
    assert all(password not in " ".join(process.cmdline()) for process in server.processes())
    folder = server.root / "services" / "postgres"
    texts = [folder / "run", folder / "log", *(folder / "files").iterdir()]
    assert all(password not in path.read_text() for path in texts)
    assert (server.root / "credentials.env").stat().st_mode & 0o077 == 0
    assert server.root.stat().st_mode & 0o077 == 0


def test_a_database_is_made_once_and_kept_with_what_is_in_it(server):
    inputs = server.resources("shop")["database/shop"].inputs
    kind = DatabaseKind()
    assert kind.read(inputs, Call()) is None
    kind.create(inputs, Call())
    server.ask("CREATE TABLE orders AS SELECT 7 AS id", "shop")
    kind.create(inputs, Call())
    assert kind.read(inputs, Call()).inputs == inputs
    assert server.ask("SELECT id FROM orders", "shop") == [(7,)]
    kind.delete(inputs, Call())
    kind.delete(inputs, Call())
    assert "shop" not in server.databases()


def test_a_database_goes_although_somebody_is_connected(server):
    inputs = server.resources("busy")["database/busy"].inputs
    DatabaseKind().create(inputs, Call())
    with server.connect("busy"):
        DatabaseKind().delete(inputs, Call())
    assert "busy" not in server.databases()


def test_a_name_is_a_name_whatever_is_in_it(server):
    name = 'Two "words"; DROP DATABASE postgres; --'
    inputs = server.resources(name)[f"database/{name}"].inputs
    DatabaseKind().create(inputs, Call())
    assert {name, "postgres"} <= server.databases()
    DatabaseKind().delete(inputs, Call())
    assert name not in server.databases()


def test_the_databases_of_another_lab_at_the_same_port_are_left_alone(server, tmp_path):
    theirs = tmp_path / "credentials.env"
    credentials.ensure(theirs)
    inputs = server.resources()["database/marquez"].inputs.model_copy(update={"credentials": str(theirs)})
    with pytest.raises(LabError, match=r"could not create database marquez: .* rejects this lab's password"):
        DatabaseKind().create(inputs, Call())
    assert DatabaseKind().read(inputs, Call()) is None
    DatabaseKind().delete(inputs, Call())
    assert "marquez" in server.databases()


def test_a_server_that_is_gone_is_told_from_one_that_refuses(server, free_port, tmp_path):
    inputs = server.resources()["database/marquez"].inputs.model_copy(update={"port": free_port})
    assert DatabaseKind().read(inputs, Call()) is None
    DatabaseKind().delete(inputs, Call())
    with pytest.raises(LabError, match=rf"could not create database marquez at 127.0.0.1:{free_port}"):
        DatabaseKind().create(inputs, Call())
    unknown = inputs.model_copy(update={"port": server.port, "maintenance": "nowhere"})
    with pytest.raises(LabError, match='database "nowhere" does not exist'):
        DatabaseKind().read(unknown, Call())


@pytest.mark.slow
def test_a_killed_server_is_back_with_its_data_and_the_kind_waits_for_it(server):
    server.ask("CREATE TABLE kept AS SELECT 42 AS answer", "marquez")
    pid = server.pid()
    psutil.Process(pid).kill()
    assert until(lambda: server.pid() not in {0, pid})
    assert until(server.answers)
    inputs = server.resources("after")["database/after"].inputs
    DatabaseKind().create(inputs, Call())
    assert server.ask("SELECT answer FROM kept", "marquez") == [(42,)]
    server.ask("DROP TABLE kept", "marquez")
    DatabaseKind().delete(inputs, Call())


@pytest.mark.slow
def test_it_stops_in_good_order_although_somebody_is_connected(server):
    with server.connect() as connection:
        server.supervisor.stop("postgres")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert "received fast shutdown request" in server.log()
    assert server.log().rstrip().endswith("database system is shut down")
    server.supervisor.run("postgres")
    assert until(server.answers)


@pytest.fixture
def engine(make_engine, free_offset):
    """A stack of the real engine, with a Postgres at an offset of its own."""
    made = make_engine(program=PROGRAM)
    made.wanted = {"root": str(made.root), "offset": free_offset + 2, "databases": ["shop"]}
    return made


@pytest.mark.slow
def test_the_engine_makes_keeps_heals_and_removes_it(engine):
    server = Server(engine.root, engine.wanted["offset"])
    first = engine.up()
    assert first.status == 0, first.text
    # Of this server alone: others may come and go on this machine meanwhile.
    ours = shared_memory() & mapped(server.processes())
    assert ours
    assert server.databases() == {"postgres", "marquez", "shop"}
    assert server.password() not in engine.pulumi("stack", "export", "--show-secrets").text
    second = engine.up()
    assert "6 unchanged" in second.text
    assert not any(word in second.text for word in ("created", "updated", "replaced", "deleted"))

    server.ask("CREATE TABLE kept AS SELECT 1 AS a", "marquez")
    server.ask("DROP DATABASE shop")
    healed = engine.up("--refresh")
    assert healed.status == 0, healed.text
    assert "shop" in server.databases()

    engine.wanted["databases"] = ["catalog"]
    assert engine.up().status == 0
    assert server.databases() == {"postgres", "marquez", "catalog"}
    assert server.ask("SELECT a FROM kept", "marquez") == [(1,)]

    assert engine.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert not engine.root.exists()
    assert server.processes() == []
    assert not shared_memory() & ours


@pytest.mark.slow
def test_a_killed_supervisor_takes_it_along_and_refresh_brings_it_back_with_its_data(engine):
    server = Server(engine.root, engine.wanted["offset"])
    engine.up()
    server.ask("CREATE TABLE kept AS SELECT 1 AS a", "shop")
    psutil.Process(server.supervisor.pid()).kill()
    assert until(lambda: not server.processes())
    healed = engine.up("--refresh")
    assert healed.status == 0, healed.text
    assert server.ask("SELECT a FROM kept", "shop") == [(1,)]


@pytest.mark.slow
def test_new_credentials_hold_for_old_data(engine):
    server = Server(engine.root, engine.wanted["offset"])
    engine.up()
    server.ask("CREATE TABLE kept AS SELECT 1 AS a", "shop")
    old = server.password()
    (engine.root / "credentials.env").unlink()
    healed = engine.up("--refresh")
    assert healed.status == 0, healed.text
    assert server.password() != old
    assert server.ask("SELECT a FROM kept", "shop") == [(1,)]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        server.connect(password=old)


@pytest.mark.slow
def test_an_initialisation_that_was_killed_is_begun_anew(engine):
    half = engine.root / "services" / "postgres" / "volumes" / "data" / "cluster.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("15\n")
    first = engine.up()
    assert first.status == 0, first.text
    assert Server(engine.root, engine.wanted["offset"]).answers()
    assert not half.exists()
