# SPDX-License-Identifier: Apache-2.0
"""Two workers with 200 source connectors each, one of them with 100 tables: with the lineage plugin, and without.

They run at the same time, so that other load on the machine affects both alike. The plugin has its default intervals.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from confluent_kafka.admin import AdminClient, NewTopic

from infra.catalog import LabSettings
from infra.model import Service
from infra.services import kafka
from infra.services.connect import worker as connect
from infra.targets.local.site import LocalSite
from infra.toolchain import Artifacts
from tests.bench.confidence_intervals import paired_ratio
from tests.bench.connect_rounds import TRANSFORMS
from tests.bench.figures import Figures
from tests.connect.cluster import source, with_lineage
from tests.connect.endpoint import Endpoint, listening
from tests.connect.event_history import EventHistory
from tests.connect.plugins import plugins
from tests.connect.processes import Running, free_ports, local_site, running
from tests.connect.rest import Rest, until
from tests.connect.worker import lineage_options, worker

CONNECTORS, TABLES = 200, 100
PAUSE_MS, TABLES_PAUSE_MS = 1000, 10
"""Milliseconds between two records of a connector, and of the one with `TABLES` topics."""

ROUND_SECONDS = 30
SETTLED_SECONDS = 60
HEAP_MIB = 1024
TIMEOUT_SECONDS = 900
GROUP = "lineage"
NO_OP = "no-op"


@dataclass(frozen=True)
class _Fleet:
    """Worker and its connectors, named `GROUP-NUMBER`."""

    group: str
    process: Running
    rest: Rest

    def name(self, number: int) -> str:
        return f"{self.group}-{number}"

    def cpu_seconds(self) -> float:
        times = psutil.Process(self.process.process.pid).cpu_times()
        return times.user + times.system

    def create(self) -> None:
        """Create the connectors; the first one has `TABLES` topics."""
        for number in range(CONNECTORS):
            options = {"pause__ms": PAUSE_MS if number else TABLES_PAUSE_MS}
            plain = source(*self.topics(number), **options)
            no_op = {"transforms": "plain", "transforms.plain.type": TRANSFORMS[NO_OP]}
            self.rest.create(self.name(number), with_lineage(plain) if self.group == GROUP else plain | no_op)
        for number in range(CONNECTORS):
            self._await_running(self.name(number))

    def _await_running(self, name: str) -> None:
        until(lambda: self.rest.states(name) == ["RUNNING"] * 2, f"{name} and its task to run", TIMEOUT_SECONDS)

    def topics(self, number: int) -> list[str]:
        """Return the topics of a connector."""
        count = 1 if number else TABLES
        return [f"{self.name(number)}-{table}" for table in range(count)]


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Measure `rounds` periods, and the start of a worker that was killed. Raises RuntimeError: a failed start."""
    ports = free_ports()
    site = local_site(folder / "with", ports)
    other = _with_own_worker(local_site(folder / "without", ports), site)
    with (
        listening() as endpoint,
        running(kafka.kafka_service(site, LabSettings()), site),
        _fleet(site, GROUP, endpoint) as with_plugin,
        _fleet(other, NO_OP, None) as without,
    ):
        for fleet in (with_plugin, without):
            _create_topics(site, fleet)
            fleet.create()
        _await_schemas(endpoint, with_plugin)
        time.sleep(SETTLED_SECONDS)  # both workers start 200 tasks before, which takes much of their time
        _measure_periods(figures, site, with_plugin, without, rounds)
        _measure_restart(figures, site, endpoint, with_plugin)


def _with_own_worker(own: LocalSite, shared: LocalSite) -> LocalSite:
    """Return a site with a worker of its own on the broker of another one."""
    return replace(own, endpoints={**own.endpoints, kafka.NAME: shared.endpoints[kafka.NAME]})


@contextmanager
def _fleet(site: LocalSite, group: str, endpoint: Endpoint | None) -> Iterator[_Fleet]:
    with running(_worker(site, group, endpoint), site) as started:
        yield _Fleet(group, started, Rest(site.address(connect.NAME, connect.REST.name).url))


def _worker(site: LocalSite, group: str, endpoint: Endpoint | None) -> Service:
    built = plugins()
    guard = Artifacts.open().component("rest-guard")
    guarded = {"rest.extension.classes": connect.GUARD_EXTENSION}
    path = [built.test_connectors, guard] if endpoint is None else [built.lineage, built.test_connectors, guard]
    options = guarded if endpoint is None else _lineage_options(endpoint.url, group)
    return worker(site, path, options, group=group, heap_mib=HEAP_MIB)


def _lineage_options(url: str, group: str) -> dict[str, str | int | bool]:
    """Return the tests' options with the default intervals, as shorter ones cost more."""
    intervals = {"openlineage.interval.ms", "openlineage.poll.interval.ms"}
    return {name: value for name, value in lineage_options(url, group).items() if name not in intervals}


def _create_topics(site: LocalSite, fleet: _Fleet) -> None:
    admin = AdminClient({"bootstrap.servers": str(site.address(kafka.NAME, kafka.BROKER.name))})
    topics = [NewTopic(topic, 1, 1) for number in range(CONNECTORS) for topic in fleet.topics(number)]
    for made in admin.create_topics(topics).values():
        made.result(TIMEOUT_SECONDS)


def _await_schemas(endpoint: Endpoint, fleet: _Fleet) -> None:
    """Wait until an event of every connector has the schemas of all of its topics."""
    names = {fleet.name(number): set(fleet.topics(number)) for number in range(CONNECTORS)}

    def complete() -> bool:
        found = {
            event["job"]["name"]: {output["name"] for output in event["outputs"] if "schema" in output["facets"]}
            for event in list(endpoint.events)
        }
        return all(found.get(name, set()) >= topics for name, topics in names.items())

    if not endpoint.wait_for(complete, TIMEOUT_SECONDS):
        raise RuntimeError(f"not every connector had the schemas of its topics within {TIMEOUT_SECONDS} s")


def _measure_periods(figures: Figures, site: LocalSite, with_plugin: _Fleet, without: _Fleet, rounds: int) -> None:
    size = f"{CONNECTORS} connectors, one with {TABLES} tables"
    pairs = []
    began, bytes_before = time.monotonic(), _state_bytes(site)
    for _ in range(rounds):
        before = (with_plugin.cpu_seconds(), without.cpu_seconds())
        time.sleep(ROUND_SECONDS)  # the period that is measured
        pair = (with_plugin.cpu_seconds() - before[0], without.cpu_seconds() - before[1])
        pairs.append(pair)
        figures.add(f"{size}, worker with the plugin", "% of a CPU", pair[0] / ROUND_SECONDS * 100)
        figures.add(f"{size}, worker without", "% of a CPU", pair[1] / ROUND_SECONDS * 100)
        figures.add(f"{size}, CPU with the plugin against without", "ratio", pair[0] / pair[1])
    hours = (time.monotonic() - began) / 3600
    figures.add(f"{size}, written to the state topic", "kB/h", (_state_bytes(site) - bytes_before) / hours / 1000)
    figures.add(f"{size}, state topic at the end", "kB", _state_bytes(site) / 1000)
    if len(pairs) > 1:
        figures.remark(f"{size}, CPU with the plugin against without {paired_ratio(pairs)}")


def _state_bytes(site: LocalSite) -> int:
    """Return the size of the log of the plugin's state topic, which has one partition."""
    partition = Path(site.volume(kafka.NAME, kafka.DATA)) / f"{GROUP}-lineage-0"
    return sum(file.stat().st_size for file in partition.glob("*.log"))


def _measure_restart(figures: Figures, site: LocalSite, endpoint: Endpoint, fleet: _Fleet) -> None:
    """Kill the worker, start it, delete a connector: its run ends as soon as the plugin knows it again."""
    fleet.process.kill()
    began = time.monotonic()
    with running(_worker(site, GROUP, endpoint), site):
        ready = time.monotonic()
        deleted = fleet.name(1)
        fleet.rest.delete(deleted)

        def has_ended() -> bool:
            return EventHistory.of(deleted, endpoint.events).transitions()[-1:] == ["1 ABORT"]

        if not endpoint.wait_for(has_ended, TIMEOUT_SECONDS):
            raise RuntimeError(f"the run of {deleted} did not end within {TIMEOUT_SECONDS} s")
        figures.add("worker killed and started: until its REST API responds", "s", ready - began)
        figures.add("then until the end of a run from before is reported", "s", time.monotonic() - ready)
