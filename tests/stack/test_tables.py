# SPDX-License-Identifier: Apache-2.0
"""Tables as resources, with the real server."""

import psycopg
import pytest

from infra import credentials
from infra.errors import LabError
from infra.model.resources import Column, Table
from infra.provider.kind import Call
from infra.provider.kinds.table import TableKind
from infra.toolchain import Artifacts
from tests.stack.part_of_lab import PartOfLab

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform"),
]
KIND = TableKind()


@pytest.fixture(scope="module")
def part(tmp_path_factory, free_offset):
    """A Postgres with the database of the shop."""
    with PartOfLab(tmp_path_factory.mktemp("tables") / "one", free_offset + 5, ["database/shop"]).standing() as running:
        yield running


@pytest.fixture
def ask(part):
    """Puts a statement to the database and returns the rows."""
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
def wanted(part):
    """The inputs of a table, with changes."""

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


def names(ask):
    rows = ask("SELECT column_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position")
    return [name for (name,) in rows]


def test_it_is_made_once_found_as_it_was_wanted_and_dropped(wanted, ask):
    inputs = wanted()
    assert KIND.read(inputs, Call()) is None
    KIND.create(inputs, Call())
    ask("INSERT INTO t VALUES ('a', now(), 1)")
    KIND.create(inputs, Call())
    assert KIND.read(inputs, Call()).inputs == inputs
    assert ask("SELECT count(*) FROM t") == [(1,)]
    KIND.delete(inputs, Call())
    KIND.delete(inputs, Call())
    assert KIND.read(inputs, Call()) is None


def test_a_column_is_added_to_the_rows_that_are_there(wanted, ask):
    old = wanted()
    KIND.create(old, Call())
    ask("INSERT INTO t VALUES ('a', now(), 1)")
    new = wanted(columns=[*old.columns, *columns(currency="text")])
    KIND.update(old, new, Call())
    assert KIND.read(new, Call()).inputs == new
    assert ask("SELECT id, currency FROM t") == [("a", None)]


def test_a_column_that_others_added_is_neither_drift_nor_lost(wanted, ask):
    inputs = wanted()
    KIND.create(inputs, Call())
    ask("ALTER TABLE t ADD COLUMN theirs integer")
    assert KIND.read(inputs, Call()).inputs == inputs
    KIND.update(inputs, wanted(replica_identity="full"), Call())
    assert "theirs" in names(ask)


def test_what_was_changed_by_hand_is_seen_and_mended_where_nothing_is_lost(wanted, ask):
    inputs = wanted(columns=columns(id="text", at="timestamp(3)!", n="numeric(10,2)"), replica_identity="full")
    KIND.create(inputs, Call())
    ask("ALTER TABLE t DROP COLUMN n, ALTER COLUMN at DROP NOT NULL, DROP CONSTRAINT t_pkey, REPLICA IDENTITY NOTHING")
    found = KIND.read(inputs, Call()).inputs
    assert [column.name for column in found.columns] == ["id", "at"]
    assert (found.columns[1].required, found.primary_key, found.replica_identity) == (False, (), "nothing")
    KIND.update(found, inputs, Call())
    assert KIND.read(inputs, Call()).inputs == inputs


def test_a_column_that_was_retyped_by_hand_is_an_error_that_names_the_way_out(wanted, ask):
    inputs = wanted()
    KIND.create(inputs, Call())
    ask("ALTER TABLE t ALTER COLUMN n TYPE text")
    found = KIND.read(inputs, Call()).inputs
    assert found.columns[2].type == "text"
    with pytest.raises(LabError, match=r"column n is text, declared as numeric\(10,2\)") as refused:
        KIND.update(found, inputs, Call())
    assert "ALTER TABLE public.t ALTER COLUMN n TYPE numeric(10,2); then pulumi up --refresh" in str(refused.value)


def test_a_column_that_is_wanted_no_longer_stays_until_somebody_drops_it(wanted, ask):
    old, new = wanted(), wanted(columns=columns(id="text", at="timestamp(3)"))
    KIND.create(old, Call())
    with pytest.raises(LabError, match=r"column n is no longer declared.* ALTER TABLE public\.t DROP COLUMN n"):
        KIND.update(old, new, Call())
    assert "n" in names(ask)
    ask("ALTER TABLE t DROP COLUMN n")
    KIND.update(old, new, Call())
    assert KIND.read(new, Call()).inputs == new


def test_a_change_that_is_refused_half_way_changes_nothing(wanted, ask):
    old = wanted()
    KIND.create(old, Call())
    ask("INSERT INTO t VALUES ('a', now(), 1)")
    new = wanted(columns=[*old.columns, *columns(fine="text", must="text!")])
    with pytest.raises(
        LabError, match=r'change table public.t in database shop .*column "must".* contains null values'
    ):
        KIND.update(old, new, Call())
    assert names(ask) == ["id", "at", "n"]


def test_another_primary_key_is_not_replaced(wanted, ask):
    ask("CREATE TABLE t (id text NOT NULL, at timestamp(3) PRIMARY KEY, n numeric(10,2))")
    with pytest.raises(LabError, match=r"its primary key is \(at\), not \(id\)"):
        KIND.create(wanted(), Call())


def test_a_type_that_does_not_exist_is_named(wanted, ask):
    with pytest.raises(LabError, match=r'could not create table public.t in database shop at .* type "strin" does not'):
        KIND.create(wanted(columns=columns(id="strin")), Call())


def test_names_are_names_whatever_is_in_them(wanted, ask):
    odd = 'Two "words"; DROP TABLE t; --'
    inputs = wanted(name=odd, columns=(Column(name=odd, type="text"),), primary_key=(odd,))
    KIND.create(inputs, Call())
    assert KIND.read(inputs, Call()).inputs == inputs
    KIND.delete(inputs, Call())
    assert ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_a_table_that_something_depends_on_is_not_dropped_along_with_it(wanted, ask):
    KIND.create(wanted(), Call())
    ask("CREATE VIEW v AS SELECT id FROM t")
    with pytest.raises(LabError, match=r"could not drop table public.t .*other objects depend on it"):
        KIND.delete(wanted(), Call())


def test_a_server_that_is_gone_a_foreign_one_and_a_missing_database_are_told_apart(wanted, free_port, tmp_path, ask):
    away = wanted(port=free_port)
    nowhere = wanted(database="nowhere")
    theirs = tmp_path / "credentials.env"
    credentials.ensure(theirs)
    foreign = wanted(credentials=str(theirs))
    for inputs in (away, nowhere, foreign):
        assert KIND.read(inputs, Call()) is None
        KIND.delete(inputs, Call())
    for inputs, said in (
        (away, "onnection refused"),
        (nowhere, 'database "nowhere" does not exist'),
        (foreign, "rejects this lab's password"),
    ):
        with pytest.raises(LabError, match=f"could not create table public.t in database {inputs.database}.*{said}"):
            KIND.create(inputs, Call())
