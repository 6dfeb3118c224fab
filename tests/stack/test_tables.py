# SPDX-License-Identifier: Apache-2.0
"""Tables as resources, with a real server."""

import psycopg
import pytest

from infra import credentials
from infra.errors import LabError
from infra.model.resources import Column, Table
from infra.provider.kind import OperationContext, ServiceUnreachable
from infra.provider.kinds.table import TableKind
from infra.toolchain import Artifacts
from tests.stack.partial_lab import PartialLab

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform"),
]
KIND = TableKind()


@pytest.fixture(scope="module")
def part(tmp_path_factory, free_offset):
    """Provide a Postgres with the shop database."""
    with PartialLab(tmp_path_factory.mktemp("tables") / "one", free_offset + 5, ["database/shop"]).running() as running:
        yield running


@pytest.fixture
def query(part):
    """Return a function that executes a statement and returns the rows."""
    password = part.secret(credentials.POSTGRES_PASSWORD)
    address = {"host": "127.0.0.1", "port": 5432 + part.offset, "user": "postgres", "password": password}

    def run(statement):
        with psycopg.connect(**address, dbname="shop", autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    yield run
    for (name,) in run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        run(f'DROP TABLE "{name}" CASCADE')


@pytest.fixture
def table_inputs(part):
    """Return a function that makes the inputs of a table, with changes."""

    def make(**changes):
        described = {
            "host": "127.0.0.1",
            "port": 5432 + part.offset,
            "user": "postgres",
            "database": "shop",
            "credentials": str(part.root / "credentials.env"),
            "name": "t",
            "columns": columns(id="text", at="timestamp(3)", n="numeric(10,2)"),
            "primary_key": ("id",),
        }
        return Table(**described | changes)

    return make


def columns(**types):
    return tuple(
        Column(name=name, type=kind.removesuffix("!"), required=kind.endswith("!")) for name, kind in types.items()
    )


def names(query):
    rows = query("SELECT column_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position")
    return [name for (name,) in rows]


def test_table_is_created_read_and_dropped(table_inputs, query):
    inputs = table_inputs()
    assert KIND.read(inputs, OperationContext()) is None
    KIND.create(inputs, OperationContext())
    query("INSERT INTO t VALUES ('a', now(), 1)")
    KIND.create(inputs, OperationContext())
    assert KIND.read(inputs, OperationContext()).inputs == inputs
    assert query("SELECT count(*) FROM t") == [(1,)]
    KIND.delete(inputs, OperationContext())
    KIND.delete(inputs, OperationContext())
    assert KIND.read(inputs, OperationContext()) is None


def test_column_is_added_to_existing_rows(table_inputs, query):
    old = table_inputs()
    KIND.create(old, OperationContext())
    query("INSERT INTO t VALUES ('a', now(), 1)")
    new = table_inputs(columns=[*old.columns, *columns(currency="text")])
    KIND.update(old, new, OperationContext())
    assert KIND.read(new, OperationContext()).inputs == new
    assert query("SELECT id, currency FROM t") == [("a", None)]


def test_unmanaged_column_is_kept_and_is_not_drift(table_inputs, query):
    inputs = table_inputs()
    KIND.create(inputs, OperationContext())
    query("ALTER TABLE t ADD COLUMN theirs integer")
    assert KIND.read(inputs, OperationContext()).inputs == inputs
    KIND.update(inputs, table_inputs(replica_identity="full"), OperationContext())
    assert "theirs" in names(query)


def test_manual_changes_are_drift_and_repaired_without_data_loss(table_inputs, query):
    inputs = table_inputs(columns=columns(id="text", at="timestamp(3)!", n="numeric(10,2)"), replica_identity="full")
    KIND.create(inputs, OperationContext())
    query(
        "ALTER TABLE t DROP COLUMN n, ALTER COLUMN at DROP NOT NULL, DROP CONSTRAINT t_pkey, REPLICA IDENTITY NOTHING"
    )
    found = KIND.read(inputs, OperationContext()).inputs
    assert [column.name for column in found.columns] == ["id", "at"]
    assert (found.columns[1].required, found.primary_key, found.replica_identity) == (False, (), "nothing")
    KIND.update(found, inputs, OperationContext())
    assert KIND.read(inputs, OperationContext()).inputs == inputs


def test_manually_retyped_column_is_an_error_with_a_remedy(table_inputs, query):
    inputs = table_inputs()
    KIND.create(inputs, OperationContext())
    query("ALTER TABLE t ALTER COLUMN n TYPE text")
    found = KIND.read(inputs, OperationContext()).inputs
    assert found.columns[2].type == "text"
    with pytest.raises(LabError, match=r"column n is text, declared as numeric\(10,2\)") as refused:
        KIND.update(found, inputs, OperationContext())
    assert "ALTER TABLE public.t ALTER COLUMN n TYPE numeric(10,2); then pulumi up --refresh" in str(refused.value)


def test_removed_column_stays_in_the_table(table_inputs, query):
    old, new = table_inputs(), table_inputs(columns=columns(id="text", at="timestamp(3)"))
    KIND.create(old, OperationContext())
    with pytest.raises(LabError, match=r"column n is no longer declared.* ALTER TABLE public\.t DROP COLUMN n"):
        KIND.update(old, new, OperationContext())
    assert "n" in names(query)
    query("ALTER TABLE t DROP COLUMN n")
    KIND.update(old, new, OperationContext())
    assert KIND.read(new, OperationContext()).inputs == new


def test_failed_change_is_rolled_back(table_inputs, query):
    old = table_inputs()
    KIND.create(old, OperationContext())
    query("INSERT INTO t VALUES ('a', now(), 1)")
    new = table_inputs(columns=[*old.columns, *columns(fine="text", must="text!")])
    with pytest.raises(
        LabError, match=r'change table public.t in database shop .*column "must".* contains null values'
    ):
        KIND.update(old, new, OperationContext())
    assert names(query) == ["id", "at", "n"]


def test_primary_key_change_is_rejected(table_inputs, query):
    query("CREATE TABLE t (id text NOT NULL, at timestamp(3) PRIMARY KEY, n numeric(10,2))")
    with pytest.raises(LabError, match=r"its primary key is \(at\), not \(id\)"):
        KIND.create(table_inputs(), OperationContext())


def test_unknown_type_is_named(table_inputs, query):
    with pytest.raises(LabError, match=r'could not create table public.t in database shop at .* type "strin" does not'):
        KIND.create(table_inputs(columns=columns(id="strin")), OperationContext())


def test_table_and_column_names_are_quoted(table_inputs, query):
    odd = 'Two "words"; DROP TABLE t; --'
    inputs = table_inputs(name=odd, columns=(Column(name=odd, type="text"),), primary_key=(odd,))
    KIND.create(inputs, OperationContext())
    assert KIND.read(inputs, OperationContext()).inputs == inputs
    KIND.delete(inputs, OperationContext())
    assert query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_table_with_dependents_is_not_dropped(table_inputs, query):
    KIND.create(table_inputs(), OperationContext())
    query("CREATE VIEW v AS SELECT id FROM t")
    with pytest.raises(LabError, match=r"could not drop table public.t .*other objects depend on it"):
        KIND.delete(table_inputs(), OperationContext())


def test_unreachable_server_foreign_server_and_missing_database_are_distinct(table_inputs, free_port, tmp_path, query):
    away = table_inputs(port=free_port)
    nowhere = table_inputs(database="nowhere")
    theirs = tmp_path / "credentials.env"
    credentials.ensure(theirs)
    foreign = table_inputs(credentials=str(theirs))
    for operation in (KIND.read, KIND.delete):
        with pytest.raises(ServiceUnreachable, match="nothing responds"):
            operation(away, OperationContext())
    for inputs in (nowhere, foreign):
        assert KIND.read(inputs, OperationContext()) is None
        KIND.delete(inputs, OperationContext())
    for inputs, said in (
        (away, "onnection refused"),
        (nowhere, 'database "nowhere" does not exist'),
        (foreign, "rejects this lab's password"),
    ):
        with pytest.raises(LabError, match=f"could not create table public.t in database {inputs.database}.*{said}"):
            KIND.create(inputs, OperationContext())
