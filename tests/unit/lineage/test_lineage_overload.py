# SPDX-License-Identifier: Apache-2.0
"""Load beyond the speed or capacity of the disk: rejected promptly with an error, without loss."""

import json
import os
import subprocess
import threading
import time
from collections import Counter
from itertools import count
from pathlib import Path

import pytest
from lineage_client import Client, connected_client
from lineage_events import at, body, dataset, encode

from lineage.events import canonical_json

pytestmark = pytest.mark.slow

PADDING = 1_000
CLIENTS = 24
DEADLINE_SECONDS = 300
TMPFS = """
mount -t tmpfs -o size=2m lineage "$0" || exit 2
head -c 1000000 /dev/zero > "$0/ballast" || exit 2
exec "$@"
"""
"""Shell command that mounts a 2 MiB tmpfs on the data directory, in a private mount namespace, and fills half of it."""


def content_of(number):
    facets = {"padding": {"text": f"{number:08d}" + "x" * PADDING}}
    return encode(body("RUNNING", number / 100, job=f"job{number % 10}", outputs=[dataset("t")], run_facets=facets))


def stored_of(number):
    return canonical_json(json.loads(content_of(number)))


def assert_stored(client, acknowledged, rejected=()):
    """Assert that every acknowledged event is stored once and no rejected one is."""
    stored = Counter(canonical_json(event) for event in client.stored())
    assert {stored_of(number) for number in acknowledged} <= stored.keys()
    assert max(stored.values(), default=1) == 1
    assert not {stored_of(number) for number in rejected} & stored.keys()


def test_overloaded_service_sends_retry_after_and_loses_nothing(tmp_path):
    with connected_client(tmp_path / "data", "--queue-size", 2) as client:
        numbers, enough = count(), threading.Event()
        acknowledged, refusals, rejected, failures = [], [], [], []

        def send():
            mine = Client(client.service)
            try:
                while not enough.is_set():
                    number = next(numbers)
                    answer = mine.post(content_of(number))
                    if answer.status == 201:
                        acknowledged.append(number)
                    else:
                        rejected.append(number)
                        refusals.append(answer)
            except Exception as error:
                failures.append(error)
            finally:
                mine.close()

        senders = [threading.Thread(target=send) for _ in range(CLIENTS)]
        for sender in senders:
            sender.start()
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (len(rejected) < 20 or len(acknowledged) < 200) and not failures and time.monotonic() < deadline:
            time.sleep(0.01)
        enough.set()
        for sender in senders:
            sender.join()
        assert not failures
        assert len(rejected) >= 20
        for answer in refusals:
            assert answer.status == 503
            assert int(answer.headers["retry-after"]) >= 1
            assert json.loads(answer.body)["error"]["code"] == "overloaded"
        assert client.json("/stats")["refused"]["overloaded"] == len(rejected)
        assert client.post(content_of(rejected[0])).status == 201
        client.service.kill()
    with connected_client(tmp_path / "data") as client:
        assert_stored(client, [*acknowledged, rejected[0]], rejected[1:])
        client.read_everything()


def fill(client, first=0):
    """Post until the store is full; return the numbers of the acknowledged events and the rejection."""
    acknowledged = []
    while (answer := client.post(content_of(first + len(acknowledged)))).status == 201:
        acknowledged.append(first + len(acknowledged))
        assert len(acknowledged) < 20_000, "the store never became full"
    return acknowledged, answer


def assert_full(answer):
    assert answer.status == 507
    error = json.loads(answer.body)["error"]
    assert error["code"] == "storage_full"
    assert "make room" in error["message"]


def test_full_store_rejects_writes_until_its_limit_is_raised(tmp_path):
    with connected_client(tmp_path / "data", "--max-store-bytes", 600_000) as client:
        acknowledged, refusal = fill(client)
        assert len(acknowledged) > 50
        assert_full(refusal)
        for number in range(100_000, 100_020):
            assert_full(client.post(content_of(number)))
        assert client.post_batch([content_of(number) for number in range(100_000, 100_050)]).status == 507
        client.read_everything()
        assert client.post(content_of(acknowledged[0])).status in (201, 507)  # a duplicate: either is correct
        assert_stored(client, acknowledged, range(100_000, 100_050))
        client.service.kill()
    with connected_client(tmp_path / "data") as client:
        assert_stored(client, acknowledged, range(100_000, 100_050))
        assert client.post(content_of(100_000)).status == 201
        client.read_everything()


@pytest.fixture
def small_disk(tmp_path):
    """Return the command prefix that runs a service on a 2 MiB disk; skip without the right to mount."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs requires root")
    words = ("unshare", "-m", "sh", "-c", TMPFS, str(folder))
    tried = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"tmpfs cannot be mounted: {tried.stderr.strip()}")
    return folder, words


def test_full_disk_rejects_writes_until_space_is_freed(small_disk):
    folder, words = small_disk
    with connected_client(folder, prefix=words) as client:
        acknowledged, refusal = fill(client)
        assert acknowledged
        assert_full(refusal)
        for number in range(100_000, 100_020):
            assert_full(client.post(content_of(number)))
        client.read_everything()
        assert_stored(client, acknowledged, range(100_000, 100_020))
        # Path in the service's mount namespace, invisible to other processes.
        (Path(f"/proc/{client.service.process.pid}/root") / folder.relative_to("/") / "ballast").unlink()
        more, refusal = fill(client, 200_000)
        assert len(more) >= 20
        assert_full(refusal)
        assert_stored(client, [*acknowledged, *more], range(100_000, 100_020))
        client.read_everything()
        assert client.json("/stats")["unapplied"] == []


def test_event_times_are_distinct():
    """The event numbers above must give distinct times, or two events would be duplicates."""
    assert at(200_099 / 100) != at(200_098 / 100)
