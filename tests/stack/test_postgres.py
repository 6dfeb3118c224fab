# SPDX-License-Identifier: Apache-2.0
"""Postgres as the lab runs it, and databases as resources, with the real engine and a real server."""

from pathlib import Path

import psutil
import psycopg
import pytest

from infra import credentials
from infra.errors import LabError
from infra.provider.kind import OperationContext, ServiceUnreachable
from infra.provider.kinds.database import DatabaseKind
from infra.targets.local.supervisor import Supervisor
from infra.toolchain import Artifacts
from tests.stack.engine import Engine
from tests.stack.polling import until
from tests.stack.postgres_lab import PROGRAM, declarations

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform"),
]


class Server:
    """Running Postgres of a partial lab."""

    def __init__(self, root, offset):
        self.root = Path(root)
        self.offset = offset
        self.port = 5432 + offset
        self.supervisor = Supervisor(self.root)

    def resources(self, *databases):
        return {resource.key: resource for resource in declarations(str(self.root), self.offset, list(databases))}

    def password(self):
        return credentials.read(self.root / "credentials.env")[credentials.POSTGRES_PASSWORD]

    def connect(self, database="postgres", password=None):
        given = self.password() if password is None else password
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="postgres", password=given, dbname=database, autocommit=True
        )

    def query(self, query, database="postgres"):
        with self.connect(database) as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []

    def databases(self):
        return {name for (name,) in self.query("SELECT datname FROM pg_database WHERE NOT datistemplate")}

    def responds(self):
        try:
            return self.query("SELECT 1") == [(1,)]
        except psycopg.OperationalError:
            return False

    def pid(self):
        return self.supervisor.state("postgres").pid

    def log(self):
        return (self.root / "services" / "postgres" / "log").read_text()

    def processes(self):
        return [process for process in psutil.process_iter(["environ"]) if self.supervisor._is_of_stack(process)]


def shared_memory():
    """Return the shared memory of all Postgres servers of this machine: file names, and ids of System V segments."""
    named = {path.name for path in Path("/dev/shm").glob("PostgreSQL*")} if Path("/dev/shm").exists() else set()
    segments = Path("/proc/sysvipc/shm")
    rows = segments.read_text().splitlines()[1:] if segments.exists() else []
    return named | {row.split()[1] for row in rows}


def mapped_segments(processes):
    """Return the files and System V segments (inodes are segment ids) that processes have mapped."""
    lines = [
        line.split() for process in processes for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    ]
    return {word for line in lines if len(line) > 5 for word in (line[4], Path(line[5]).name)}


@pytest.fixture(scope="module")
def server(tmp_path_factory, free_offset):
    """Provide one server for the tests that do not change it."""
    engine = Engine(tmp_path_factory.mktemp("postgres") / "one", program=PROGRAM)
    engine.wanted = {"root": str(engine.root), "offset": free_offset, "databases": []}
    running = Server(engine.root, free_offset)
    first = engine.up()
    assert first.status == 0, first.text
    yield running
    running.supervisor.shut_down()


def test_server_settings_equal_the_configuration(server):
    shown = {
        name: server.query(f"SHOW {name}")[0][0]
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
def test_wrong_password_is_rejected(server, wrong):
    with pytest.raises(psycopg.OperationalError, match=r"password authentication failed|no password supplied"):
        server.connect(password=wrong)


def test_password_is_only_in_the_credentials_file(server):
    password = server.password()
    assert all(password not in " ".join(process.cmdline()) for process in server.processes())
    folder = server.root / "services" / "postgres"
    texts = [folder / "run", folder / "log", *(folder / "files").iterdir()]
    assert all(password not in path.read_text() for path in texts)
    assert (server.root / "credentials.env").stat().st_mode & 0o077 == 0
    assert server.root.stat().st_mode & 0o077 == 0


def test_database_is_created_once_and_keeps_its_data(server):
    inputs = server.resources("shop")["database/shop"].inputs
    kind = DatabaseKind()
    assert kind.read(inputs, OperationContext()) is None
    kind.create(inputs, OperationContext())
    server.query("CREATE TABLE orders AS SELECT 7 AS id", "shop")
    kind.create(inputs, OperationContext())
    assert kind.read(inputs, OperationContext()).inputs == inputs
    assert server.query("SELECT id FROM orders", "shop") == [(7,)]
    kind.delete(inputs, OperationContext())
    kind.delete(inputs, OperationContext())
    assert "shop" not in server.databases()


def test_database_with_open_connections_is_dropped(server):
    inputs = server.resources("busy")["database/busy"].inputs
    DatabaseKind().create(inputs, OperationContext())
    with server.connect("busy"):
        DatabaseKind().delete(inputs, OperationContext())
    assert "busy" not in server.databases()


def test_database_names_are_quoted(server):
    name = 'Two "words"; DROP DATABASE postgres; --'
    inputs = server.resources(name)[f"database/{name}"].inputs
    DatabaseKind().create(inputs, OperationContext())
    assert {name, "postgres"} <= server.databases()
    DatabaseKind().delete(inputs, OperationContext())
    assert name not in server.databases()


def test_databases_of_another_lab_at_the_same_port_are_not_touched(server, tmp_path):
    theirs = tmp_path / "credentials.env"
    credentials.ensure(theirs)
    inputs = server.resources()["database/marquez"].inputs.model_copy(update={"credentials": str(theirs)})
    with pytest.raises(LabError, match=r"could not create database marquez: .* rejects this lab's password"):
        DatabaseKind().create(inputs, OperationContext())
    assert DatabaseKind().read(inputs, OperationContext()) is None
    DatabaseKind().delete(inputs, OperationContext())
    assert "marquez" in server.databases()


def test_unreachable_server_and_failed_login_are_distinct_errors(server, free_port, tmp_path):
    inputs = server.resources()["database/marquez"].inputs.model_copy(update={"port": free_port})
    for operation in (DatabaseKind().read, DatabaseKind().delete):
        with pytest.raises(ServiceUnreachable, match="nothing responds"):
            operation(inputs, OperationContext())
    with pytest.raises(LabError, match=rf"could not create database marquez at 127.0.0.1:{free_port}"):
        DatabaseKind().create(inputs, OperationContext())
    unknown = inputs.model_copy(update={"port": server.port, "maintenance": "nowhere"})
    with pytest.raises(LabError, match='database "nowhere" does not exist'):
        DatabaseKind().read(unknown, OperationContext())


@pytest.mark.slow
def test_killed_server_restarts_with_its_data_and_the_kind_waits(server):
    server.query("CREATE TABLE kept AS SELECT 42 AS answer", "marquez")
    pid = server.pid()
    psutil.Process(pid).kill()
    assert until(lambda: server.pid() not in {0, pid})
    assert until(server.responds)
    inputs = server.resources("after")["database/after"].inputs
    DatabaseKind().create(inputs, OperationContext())
    assert server.query("SELECT answer FROM kept", "marquez") == [(42,)]
    server.query("DROP TABLE kept", "marquez")
    DatabaseKind().delete(inputs, OperationContext())


@pytest.mark.slow
def test_server_with_open_connections_stops_gracefully(server):
    with server.connect() as connection:
        server.supervisor.stop("postgres")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert "received fast shutdown request" in server.log()
    assert server.log().rstrip().endswith("database system is shut down")
    server.supervisor.run("postgres")
    assert until(server.responds)


@pytest.fixture
def engine(make_engine, free_offset):
    """Provide a stack with a Postgres at a free port offset."""
    made = make_engine(program=PROGRAM)
    made.wanted = {"root": str(made.root), "offset": free_offset + 2, "databases": ["shop"]}
    return made


@pytest.mark.slow
def test_engine_creates_repairs_and_destroys_the_server(engine):
    server = Server(engine.root, engine.wanted["offset"])
    first = engine.up()
    assert first.status == 0, first.text
    # Only of this server: others may start and stop meanwhile.
    ours = shared_memory() & mapped_segments(server.processes())
    assert ours
    assert server.databases() == {"postgres", "marquez", "shop"}
    assert server.password() not in engine.pulumi("stack", "export", "--show-secrets").text
    second = engine.up()
    assert "6 unchanged" in second.text
    assert not any(word in second.text for word in ("created", "updated", "replaced", "deleted"))

    server.query("CREATE TABLE kept AS SELECT 1 AS a", "marquez")
    server.query("DROP DATABASE shop")
    healed = engine.up("--refresh")
    assert healed.status == 0, healed.text
    assert "shop" in server.databases()

    engine.wanted["databases"] = ["catalog"]
    assert engine.up().status == 0
    assert server.databases() == {"postgres", "marquez", "catalog"}
    assert server.query("SELECT a FROM kept", "marquez") == [(1,)]

    assert engine.pulumi("destroy", "--yes", "--skip-preview").status == 0
    assert not engine.root.exists()
    assert server.processes() == []
    assert not shared_memory() & ours


@pytest.mark.slow
def test_killed_supervisor_ends_the_server_and_refresh_restores_it(engine):
    server = Server(engine.root, engine.wanted["offset"])
    engine.up()
    server.query("CREATE TABLE kept AS SELECT 1 AS a", "shop")
    psutil.Process(server.supervisor.pid()).kill()
    assert until(lambda: not server.processes())
    healed = engine.up("--refresh")
    assert healed.status == 0, healed.text
    assert server.query("SELECT a FROM kept", "shop") == [(1,)]


@pytest.mark.slow
def test_rotated_credentials_apply_to_existing_data(engine):
    server = Server(engine.root, engine.wanted["offset"])
    engine.up()
    server.query("CREATE TABLE kept AS SELECT 1 AS a", "shop")
    old = server.password()
    (engine.root / "credentials.env").unlink()
    healed = engine.up("--refresh")
    assert healed.status == 0, healed.text
    assert server.password() != old
    assert server.query("SELECT a FROM kept", "shop") == [(1,)]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        server.connect(password=old)


@pytest.mark.slow
def test_interrupted_initialisation_is_repeated(engine):
    half = engine.root / "services" / "postgres" / "volumes" / "data" / "cluster.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("15\n")
    first = engine.up()
    assert first.status == 0, first.text
    assert Server(engine.root, engine.wanted["offset"]).responds()
    assert not half.exists()
