# SPDX-License-Identifier: Apache-2.0
"""The shop with a real Postgres: written rows, and recovery when either of them is killed."""

import random
import signal
import time
from datetime import UTC, datetime, timedelta

import pytest

from jobs.shop.database import Server, Session
from jobs.shop.orders import MAX_DELAY_MS, Mix, batch
from tests.unit.shop.postgres_server import TABLES
from tests.unit.shop.shop_process import ShopProcess, until

FAST = ("--rate", "2000")


def order_ids(server, table="orders"):
    return {row[0] for row in server.query(f"SELECT order_id FROM {table}")}


def expected_ids(count, seed=7):
    return {order.order_id for order in batch(Mix(seed=seed), range(count), 0).first}


def count_of(server):
    return server.query("SELECT count(*) FROM orders")[0][0]


def assert_complete(server):
    """Assert in one snapshot that the tables have the first n orders, each with its bid; the shop may be running."""
    rows = server.query("SELECT 'orders', order_id FROM orders UNION ALL SELECT 'bids', order_id FROM bids")
    orders, bids = ({key for table, key in rows if table == name} for name in ("orders", "bids"))
    return orders == expected_ids(len(orders)) and orders == bids


def test_writes_the_orders_of_its_seed_with_bids(server, tmp_path):
    began = datetime.now(UTC) - timedelta(milliseconds=MAX_DELAY_MS + 1)
    with ShopProcess(server, tmp_path, *FAST, "--seed", "3", "--count", "300") as shop:
        assert shop.wait() == 0
    finished = datetime.now(UTC)
    rows = {row[0]: row[1:] for row in server.query("SELECT order_id, item, price, supplier, bid_time FROM orders")}
    made = batch(Mix(seed=3), range(300), 0).first
    assert {key: row[:3] for key, row in rows.items()} == {o.order_id: (o.item, o.price, o.supplier) for o in made}
    assert all(began <= row[3] <= finished for row in rows.values())
    late = {o.order_id for o in made if o.bid_time < 0}
    assert late
    assert max(rows[key][3] for key in late) < max(row[3] for row in rows.values())
    bids = {row[0]: row[1:] for row in server.query("SELECT order_id, price, supplier, bid_time FROM bids")}
    assert bids == {key: row[1:] for key, row in rows.items()}


@pytest.mark.parametrize("kind", ["timestamp(3)", "timestamptz(3)"])
def test_times_are_utc_with_milliseconds(running_server, tmp_path, kind):
    running_server.make_shop(**{name: text.replace("timestamptz(3)", kind) for name, text in TABLES.items()})
    running_server.query("ALTER DATABASE shop SET timezone = 'Asia/Tokyo'")
    moments = [0, 1, 999, 1_000, 1_763_728_859_123, 1_763_728_859_999, 4_102_444_800_001]
    server = Server("127.0.0.1", running_server.port, "postgres", "shop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", running_server.password)
        for moment in moments:
            with Session.open(server) as session:
                session.load_columns(())
                session.write(
                    batch(Mix(late_rate=0, duplicate_rate=0), range(moment % 1000, moment % 1000 + 1), moment)
                )
            ((seen,),) = running_server.query(
                "SELECT (extract(epoch FROM bid_time AT TIME ZONE 'UTC') * 1000)::text FROM orders"
                if kind == "timestamp(3)"
                else "SELECT (extract(epoch FROM bid_time) * 1000)::text FROM orders"
            )
            assert float(seen) == moment
            running_server.query("TRUNCATE orders, bids")


def test_duplicate_is_an_update_without_changes(server, tmp_path):
    for table in ("orders", "bids"):
        server.query(f"CREATE TABLE {table}_log AS SELECT 'I' AS what, * FROM {table}")
        server.query(
            f"CREATE FUNCTION log_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO {table}_log "
            "SELECT left(TG_OP, 1), NEW.*; RETURN NEW; END $$"
        )
        server.query(
            f"CREATE TRIGGER log AFTER INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION log_{table}()"
        )
    with ShopProcess(server, tmp_path, *FAST, "--count", "400", "--duplicate-rate", "0.1") as shop:
        assert shop.wait() == 0
    again = {order.order_id for order in batch(Mix(duplicate_rate=0.1), range(400), 0).again}
    assert len(again) > 20
    for table in ("orders", "bids"):
        written = server.query(f"SELECT what, order_id FROM {table}_log")
        assert {key for what, key in written if what == "U"} == again
        assert len(written) == 400 + len(again)
        assert server.query(f"SELECT DISTINCT order_id FROM {table}_log GROUP BY order_id HAVING count(*) > 2") == []
        assert server.query(f"SELECT count(*) FROM (SELECT DISTINCT * FROM {table}) AS rows") == [(400,)]
    assert server.query("SELECT count(DISTINCT (order_id, item, price, supplier, bid_time)) FROM orders_log") == [
        (400,)
    ]


@pytest.mark.slow
def test_kills_cause_no_gap_and_no_duplicate(server, tmp_path):
    dice = random.Random(5)
    for _ in range(8):
        count = count_of(server)
        with ShopProcess(server, tmp_path, *FAST) as shop:
            until(lambda count=count: count_of(server) > count, "the next order")
            time.sleep(dice.random() * 0.3)
            shop.kill()
        assert assert_complete(server)
    count = count_of(server)
    with ShopProcess(server, tmp_path, *FAST, "--count", "50") as shop:
        assert shop.wait() == 0
        assert shop.log_matches(rf"writing orders from number {count} on")
    assert count_of(server) == count + 50
    assert assert_complete(server)


@pytest.mark.slow
def test_reconnects_to_a_killed_or_stopped_server(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST) as shop:
        for how in (signal.SIGKILL, signal.SIGINT):
            count = count_of(server)
            until(lambda count=count: count_of(server) > count, "the next order")
            server.stop(how)
            server.start()
            assert assert_complete(server)
        count = count_of(server)
        until(lambda: count_of(server) > count, "the next order")
        assert shop.terminate() == 0
        assert shop.text.count("retrying") == shop.text.count("is available again") == 2
    assert assert_complete(server)


@pytest.mark.slow
def test_reconnects_after_its_connection_is_terminated(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST) as shop:
        for _ in range(5):
            count = count_of(server)
            until(lambda count=count: count_of(server) > count, "the next order")
            server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shop'")
        count = count_of(server)
        until(lambda: count_of(server) > count, "the next order")
        assert shop.terminate() == 0
    assert assert_complete(server)


@pytest.mark.slow
def test_truncated_tables_are_filled_again(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST) as shop:
        until(lambda: count_of(server) > 0, "the first order")
        shop.kill()
    server.query("TRUNCATE orders, bids")
    with ShopProcess(server, tmp_path, *FAST, "--count", "100") as shop:
        assert shop.wait() == 0
    assert order_ids(server) == order_ids(server, "bids") == expected_ids(100)


@pytest.mark.slow
def test_sigterm_stops_it_while_the_server_hangs(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST) as shop:
        until(lambda: count_of(server) > 0, "the first order")
        server.send(signal.SIGSTOP)
        try:
            assert shop.terminate() == 0
        finally:
            server.send(signal.SIGCONT)
    server.stop()
    try:
        with ShopProcess(server, tmp_path, *FAST) as shop:
            until(lambda: shop.log_matches("retrying"), "the log line")
            assert shop.terminate() == 0
    finally:
        server.start()
    assert assert_complete(server)


def test_two_shops_with_one_seed_write_each_order_once(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST) as first:
        until(lambda: count_of(server) > 0, "the first order")
        with ShopProcess(server, tmp_path, *FAST, "--count", "5") as second:
            until(lambda: second.log_matches("another shop with seed 7"), "the log line")
            with ShopProcess(server, tmp_path, *FAST, "--seed", "8", "--count", "5") as third:
                assert third.wait() == 0
            first.kill()
            assert second.wait() == 0
    mine = expected_ids(5, seed=8)
    assert mine <= order_ids(server)
    there = order_ids(server) - mine
    assert there == expected_ids(len(there))


def test_deleted_rows_are_written_again_and_others_unchanged(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST, "--count", "100", "--duplicate-rate", "0") as shop:
        assert shop.wait() == 0
    ids = [order.order_id for order in batch(Mix(), range(100), 0).first]
    kept = server.query("SELECT * FROM orders ORDER BY order_id")
    for gone in (ids[99], ids[70]):
        server.query(f"DELETE FROM orders WHERE order_id = '{gone}'")
    with ShopProcess(server, tmp_path, *FAST, "--count", "200", "--duplicate-rate", "0") as shop:
        assert shop.wait() == 0
    rows = {row[0]: row for row in server.query("SELECT * FROM orders")}
    assert all(rows[row[0]] == row for row in kept if row[0] not in {ids[99], ids[70]})


@pytest.mark.slow
def test_columns_may_be_added_and_dropped_at_run_time(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST, "--optional", "currency") as shop:
        until(lambda: count_of(server) > 0, "the first order")
        server.query("ALTER TABLE orders ADD COLUMN note text, ADD COLUMN currency text")
        until(lambda: server.query("SELECT count(*) FROM orders WHERE currency IS NOT NULL")[0][0] > 100, "currencies")
        assert server.query("SELECT count(*) FROM orders WHERE currency IS NULL")[0][0] > 0
        assert server.query("SELECT count(*) FROM orders WHERE note IS NOT NULL") == [(0,)]
        server.query("ALTER TABLE orders DROP COLUMN currency")
        count = count_of(server)
        until(lambda: count_of(server) > count + 100, "more orders")
        assert shop.terminate() == 0
    assert assert_complete(server)


def test_optional_column_is_written_only_if_enabled(server, tmp_path):
    server.query("ALTER TABLE orders ADD COLUMN currency text")
    with ShopProcess(server, tmp_path, *FAST, "--count", "10") as shop:
        assert shop.wait() == 0
    assert server.query("SELECT count(*), count(currency) FROM orders") == [(10, 0)]


def failure(server, tmp_path, *options, password=None):
    with ShopProcess(server, tmp_path, *FAST, *options, password=password) as shop:
        assert shop.wait() == 1, shop.text
        assert "Traceback" not in shop.text
        return shop.text


@pytest.mark.parametrize("password", ["wrong", ""])
def test_wrong_password_is_reported(server, tmp_path, password):
    text = failure(server, tmp_path, password=password)
    assert f"connecting to database shop at {server.address} as postgres was refused" in text
    assert "PGPASSWORD" in text


def test_missing_database_table_or_column_is_named(server, tmp_path):
    assert 'database "shoe" does not exist' in failure(server, tmp_path, "--database", "shoe")
    server.query("DROP TABLE bids")
    text = failure(server, tmp_path)
    assert f"there is no table public.bids in database shop at {server.address}" in text
    assert "pulumi up" in text
    server.make_shop(**TABLES)
    server.query("ALTER TABLE orders DROP COLUMN item")
    assert "table public.orders in database shop" in failure(server, tmp_path)
    assert "has no column item" in failure(server, tmp_path)


def test_table_dropped_at_run_time_is_named(server, tmp_path):
    with ShopProcess(server, tmp_path, *FAST) as shop:
        until(lambda: count_of(server) > 0, "the first order")
        server.query("DROP TABLE orders")
        assert shop.wait() == 1
        assert shop.log_matches("there is no table public.orders")


def test_not_null_column_of_others_is_reported(server, tmp_path):
    server.query("ALTER TABLE orders ADD COLUMN note text NOT NULL")
    text = failure(server, tmp_path)
    assert 'null value in column "note"' in text
    assert "must be nullable or have a default" in text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--postgres", "nowhere"), "--postgres nowhere: give HOST:PORT"),
        (("--rate", "0"), "--rate 0.0: give the orders per second"),
        (("--late-rate", "2"), "late_rate is a share from 0 to 1"),
        (("--optional", "prize"), "invalid choice: 'prize'"),
    ],
)
def test_invalid_options_are_rejected(server, tmp_path, options, complaint):
    with ShopProcess(server, tmp_path, *options) as shop:
        assert shop.wait() == 2
        assert complaint in shop.text
