# SPDX-License-Identifier: Apache-2.0
"""Instances that share a log in Postgres: lease, fencing, following, and refused writes."""

import asyncio
import json
import random
from contextlib import asynccontextmanager, closing

import httpx
import psycopg
import pytest
from lineage_client import JSON, admin_headers
from lineage_events import RULES, body, dataset, encode, original, originals, read
from lineage_recorder import recording
from lineage_run_histories import RunHistories

from lineage.api import create_app
from lineage.events import canonical_json
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules.event_reader import EventReader
from lineage.store import DeadLetterKind, NotWriter, RefusedLetter, StoreError, StoreUnusable
from lineage.store.horizons import Horizon, Horizons
from lineage.store.offsets import Partition
from lineage.store.postgres import connections
from lineage.store.postgres import lease as lease_module
from lineage.store.postgres.address import PostgresAddress, check_url
from lineage.store.postgres.log import PostgresLog
from lineage.store.projection import Projection

PERMUTATIONS = 100
SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ? AND datname = ?"


def built(log):
    state = Projection(log, EventReader(RULES))
    for _ in state.build():
        pass
    assert not state.unapplied
    return canonical_json(export_graph(state.lineage, state.graph))


def no_damage(content_hash, error):
    raise AssertionError(f"{content_hash.hex()}: {error}")


def test_any_order_of_arrival_and_duplicates_give_one_graph(store):
    made = RunHistories(3).make()
    lineage = fold_events(made)
    expected = canonical_json(export_graph(lineage, Graph(lineage)))
    with closing(store.open()) as log:
        for seed in range(PERMUTATIONS):
            chance = random.Random(seed)
            arrival = [*made, *chance.choices(made, k=len(made) // 2)]
            chance.shuffle(arrival)
            for table in ("events", "bodies", "segments"):
                store.execute(f"DELETE FROM {table}")
            log.append(originals(arrival))
            assert log.count() == len({item.hash for item in made})
            assert built(log) == expected, f"seed {seed} gives another graph"


def test_one_instance_has_the_lease(postgres_store):
    with closing(postgres_store.open("one")) as one, closing(postgres_store.open("two")) as two:
        assert (one.writes, two.writes) == (True, False)
        assert not two.lease_is_free()
        with pytest.raises(NotWriter, match="this instance, two, only reads; the writing instance is one"):
            two.append([original("START", 0)])
        for write in (
            lambda: two.seal(),
            lambda: two.compact(EventReader(RULES), Horizons(Horizon(2**62))),
            lambda: two.dead_letters.park(DeadLetterKind.FOLD, b"h", "cause"),
            lambda: two.dead_letters.release(DeadLetterKind.FOLD, b"h"),
        ):
            with pytest.raises(NotWriter):
                write()
        two.set_position("reader", 1)
        assert one.position("reader") == 0
        one.append([original("START", 0)])
        assert [stored.original for stored in two.after(0, 10)] == [original("START", 0)]
        assert not two.lease.take()
    with closing(postgres_store.open("three")) as three:
        assert three.writes


def test_a_lost_connection_ends_writing_and_another_instance_takes_over(postgres_store):
    with closing(postgres_store.open("one")) as one, closing(postgres_store.open("two")) as two:
        one.append([original("START", 0)])
        postgres_store.execute(SESSIONS, ("lineage writer", postgres_store.database.name))
        with pytest.raises(StoreError, match="cannot write to the store"):
            one.append([original("RUNNING", 1)])
        assert not one.writes
        assert two.lease_is_free()
        assert two.lease.take()
        two.lease.activate()
        with pytest.raises(NotWriter):
            one.append([original("RUNNING", 1)])
        assert two.append([original("START", 0), original("RUNNING", 1)]) == [False, True]
        assert not one.lease.take()


def test_an_instance_whose_lease_number_is_old_cannot_write(postgres_store):
    with closing(postgres_store.open("one")) as one:
        postgres_store.execute("UPDATE lease SET epoch = epoch + 1")
        with pytest.raises(NotWriter, match="was taken over"):
            one.append([original("START", 0)])
        assert not one.writes
        assert one.count() == 0


def test_a_take_over_waits_for_the_transaction_of_the_previous_writer(postgres_store):
    """The new writer's events have greater numbers than all that the previous one stores."""
    with closing(postgres_store.open("one")) as one:
        with one.lease.writing() as connection:
            with pytest.raises(psycopg.errors.LockNotAvailable):
                postgres_store.execute("SET lock_timeout = 100; UPDATE lineage.lease SET epoch = epoch + 1")
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert one.writes


def test_a_silent_writer_loses_its_session(postgres_store, monkeypatch):
    monkeypatch.setattr(connections, "SILENCE_SECONDS", 1)
    monkeypatch.setattr(lease_module, "HEARTBEATS", 0.5)
    with closing(postgres_store.open("one")) as one, closing(postgres_store.open("two")) as two:
        wait_until(two.lease_is_free)
        assert two.lease.take()
        wait_until(lambda: not one.writes)


def test_an_idle_writer_keeps_its_session(postgres_store, monkeypatch):
    monkeypatch.setattr(connections, "SILENCE_SECONDS", 1)
    with closing(postgres_store.open("one")) as one, closing(postgres_store.open("two")) as two:
        # A heartbeat is a transaction that locks the row of the lease.
        heartbeat = "SELECT xmax::text FROM lease"
        for _ in range(10):
            seen = postgres_store.execute(heartbeat)
            wait_until(lambda seen=seen: postgres_store.execute(heartbeat) != seen)
        assert one.append([original("START", 0)]) == [True]
        assert not two.lease_is_free()


def wait_until(condition):
    async def poll():
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0.02)

    asyncio.run(poll())


def test_offsets_are_stored_with_the_events(postgres_store):
    with closing(postgres_store.open()) as log:
        log.append([original("START", 0)], offsets={Partition("events", 0): 7, Partition("events", 1): 3})
        log.append([], offsets={Partition("events", 0): 9})
        assert log.offsets.of_topic("events") == {Partition("events", 0): 9, Partition("events", 1): 3}
        assert log.offsets.of_topic("others") == {}


def test_refused_events_are_kept_with_their_bodies(store, monkeypatch):
    for module in ("lineage.store.dead_letters", "lineage.store.postgres.dead_letters"):
        monkeypatch.setattr(f"{module}.MAX_REFUSED", 2)
    with closing(store.open()) as log:
        log.dead_letters.park_refused([RefusedLetter(bytes([n]), f"cause\0{n}", b"{}") for n in range(3)])
        log.append([original("START", 0)])
        log.dead_letters.park(DeadLetterKind.FOLD, original("START", 0).hash, "cause")
        assert log.dead_letters.hashes(DeadLetterKind.REFUSED) == [b"\x01", b"\x02"]
        assert log.dead_letters.refused(b"\x02") == b"{}"
        assert log.dead_letters.count() == {DeadLetterKind.REFUSED: 2, DeadLetterKind.FOLD: 1}
        assert [letter.body for letter in log.dead_letters.page(10)] == [b"{}", b"{}", original("START", 0).data]
        assert [letter.hash for letter in log.dead_letters.page(1, 1, DeadLetterKind.REFUSED)] == [b"\x02"]


def test_newer_and_unreachable_databases_are_refused(postgres_store, tmp_path):
    postgres_store.open().close()
    postgres_store.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreUnusable, match="has schema 9999, which this service does not know; use the newer service"):
        postgres_store.open()
    address = postgres_store.database.address
    with pytest.raises(StoreError, match="password authentication failed") as refused:
        PostgresLog(PostgresAddress(address.url, "wrong-secret"), tmp_path / "other", "one")
    assert "wrong-secret" not in str(refused.value)
    assert address.password not in repr(address)


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("postgresql://u:secret@db/lineage", "has a password"),
        ("postgresql://u@db/lineage?password=secret", "has a password"),
        ("mysql://u@db/lineage", "is no URL of a Postgres database"),
        ("postgresql://db/lineage", "is no URL of a Postgres database"),
        ("postgresql://u@db:port/lineage", "is no URL of a Postgres database"),
    ],
)
def test_unusable_urls_are_refused_without_their_password(url, cause):
    with pytest.raises(ValueError, match=cause) as refused:
        check_url(url)
    assert "secret" not in str(refused.value)


@asynccontextmanager
async def serving(store, instance, **changes):
    settings = store.settings(instance, **changes)
    app = create_app(settings, RULES, store.open(instance))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://lineage",
            headers={**admin_headers(settings.data), **JSON},
        ) as client,
    ):
        client.service = app.state.service
        yield client


async def post(client, content):
    return await client.post("/api/v1/lineage", content=encode(content))


async def graph(client):
    answer = await client.get("/api/v1/graph")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def becomes(condition):
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.02)


def completed(number):
    return body("COMPLETE", number, run=number, job=f"job{number}", outputs=[dataset(f"out{number}")])


def test_a_reading_instance_follows_the_writing_one_and_takes_over(postgres_store):
    async def scenario():
        async with serving(postgres_store, "writer") as first:
            assert (await post(first, completed(1))).status_code == 201
            async with serving(postgres_store, "reader") as second:
                assert await graph(second) == await graph(first)
                refused = await post(second, completed(2))
                assert refused.status_code == 503
                assert refused.headers["retry-after"] == "1"
                assert refused.json()["error"]["code"] == "not_writer"
                assert "the writing instance is writer" in refused.json()["error"]["message"]
                for path in ("/api/v1/compact?before=2026-01-01T00:00:00Z", "/api/v1/lineage/batch"):
                    answer = await second.post(path, content=encode([completed(2)]) if "batch" in path else None)
                    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_writer"), path
                for number in range(2, 60):
                    assert (await post(first, completed(number))).status_code == 201
                await becomes(lambda: same_graph(first, second))
                stats = (await second.get("/api/v1/stats")).json()
                assert stats["instance"] == {"name": "reader", "writes": False, "writer": "writer"}
                assert (await second.post("/api/v1/rebuild")).json()["equal"]
                postgres_store.execute(SESSIONS, ("lineage writer", postgres_store.database.name))

                async def accepted():
                    return 201 in [(await post(client, completed(99))).status_code for client in (first, second)]

                await becomes(accepted)
                await becomes(lambda: same_graph(first, second))
                assert len((await graph(first))["jobs"]) == 60

    async def same_graph(one, other):
        return await graph(one) == await graph(other)

    asyncio.run(scenario())


def test_only_the_writing_instance_forwards_and_its_successor_continues(postgres_store):
    """At-least-once: an event whose delivery the previous instance has not recorded is sent again."""

    async def scenario(recorder):
        def forwarded():
            return {event["job"]["name"] for event in list(recorder.events)}

        async def has_all(count):
            return forwarded() == {f"job{number}" for number in range(1, count + 1)}

        options = {"forward_to": recorder.url}
        async with (
            serving(postgres_store, "writer", **options) as first,
            serving(postgres_store, "reader", **options) as second,
        ):
            for number in range(1, 4):
                await post(first, completed(number))
            await becomes(lambda: has_all(3))
            assert second.service.forwarder is None
            postgres_store.execute(SESSIONS, ("lineage writer", postgres_store.database.name))

            async def accepted():
                return 201 in [(await post(client, completed(4))).status_code for client in (first, second)]

            await becomes(accepted)
            await becomes(lambda: has_all(4))

            async def one_forwards():
                return [client.service.forwarder is None for client in (first, second)].count(True) == 1

            await becomes(one_forwards)

    with recording() as recorder:
        asyncio.run(scenario(recorder))


def test_a_stopped_writer_is_succeeded_by_a_reader(postgres_store):
    async def scenario():
        async with serving(postgres_store, "second", retain=3600.0) as kept:
            pass
        async with serving(postgres_store, "first", retain=3600.0) as first:
            assert (await post(first, completed(1))).status_code == 201
            starting = serving(postgres_store, "second", retain=3600.0)
            kept = await starting.__aenter__()
        try:

            async def accepted():
                return (await post(kept, completed(2))).status_code == 201

            await becomes(accepted)
            assert len((await graph(kept))["jobs"]) == 2
        finally:
            await starting.__aexit__(None, None, None)

    asyncio.run(scenario())


def test_a_reader_that_missed_compacted_events_rebuilds(postgres_store):
    """The other instance is too slow to read them before they are compacted."""

    async def scenario():
        async with serving(postgres_store, "writer") as writer, serving(postgres_store, "reader") as reader:
            await reader.service._role.close()
            reader.service.log.resume_compaction()
            for number in range(1, 6):
                await post(writer, completed(number))
            assert (await writer.post("/api/v1/compact?before=2027-01-01T00:00:00Z")).json() == {"removed": 5}
            assert (await graph(reader))["jobs"] == []
            rebuilds = []
            rebuild = reader.service.rebuild

            async def counted():
                rebuilds.append(await rebuild())

            reader.service.rebuild = counted
            for _ in range(2):
                await reader.service._role._apply_new_events()
            assert await graph(reader) == await graph(writer)
            assert len(rebuilds) == 1
            await post(writer, completed(7))
            await reader.service._role._apply_new_events()
            assert await graph(reader) == await graph(writer)
            assert len(rebuilds) == 1

    asyncio.run(scenario())


def test_nothing_is_compacted_while_another_instance_reads_the_whole_log(postgres_store):
    with closing(postgres_store.open("one")) as one, closing(postgres_store.open("two")) as two:
        one.append([original("START", 0), original("COMPLETE", 1)])
        assert one.compact(EventReader(RULES), Horizons(Horizon(2**62))) == 0
        two.resume_compaction()
        assert one.compact(EventReader(RULES), Horizons(Horizon(2**62))) == 2
        two.pause_compaction()
        one.append([original("RUNNING", 2)])
        assert one.compact(EventReader(RULES), Horizons(Horizon(2**62))) == 0
        postgres_store.execute(SESSIONS, ("lineage reader", postgres_store.database.name))
        for _ in range(2):
            with pytest.raises(StoreError):
                two.count()
        two.resume_compaction()
        assert (two.count(), two.compacted_through()) == (1, 2)


def test_saved_state_of_another_log_is_not_used(postgres_store):
    """A data directory may be used with another database, or with a file."""

    async def scenario(number):
        async with serving(postgres_store, "one") as client:
            assert (await graph(client))["jobs"] == []
            await post(client, completed(number))
            await post(client, completed(number + 1))

    for number in (1, 3):
        asyncio.run(scenario(number))
        postgres_store.fresh()
    with closing(postgres_store.open("two")) as log:
        log.append([read(completed(number)).original for number in (5, 6, 7)])

    async def last():
        async with serving(postgres_store, "one") as client:
            assert [job["name"] for job in (await graph(client))["jobs"]] == ["job5", "job6", "job7"]

    asyncio.run(last())


def test_past_graphs_are_read_from_the_database(postgres_store):
    async def scenario():
        async with serving(postgres_store, "writer") as client:
            for number in (1, 2):
                await post(client, completed(number))
            answer = await client.get("/api/v1/graph", params={"asOf": "2026-01-01T00:00:01Z"})
            assert answer.status_code == 200, answer.text
            assert [job["name"] for job in json.loads(answer.content)["jobs"]] == ["job1"]

    asyncio.run(scenario())
