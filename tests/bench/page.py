# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the lineage page: time to interactive, longest task, memory, download size, update latency.

Run it with `python -m tests.bench.page`. It needs Chromium, Playwright and the built page.
"""

import argparse
import gzip
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil

from infra.toolchain import Artifacts
from infra.toolchain.page import NAME, SITE
from tests.bench.figures import Figures, Goal, format_number, print_figures
from tests.bench.service_process import ServiceProcess, running_service
from tests.bench.skewed_graph import SkewedGraph
from tests.page.browser import WIDE, chromium

GRAPHS = ((1_000, 1.0), (10_000, 2.0), (50_000, 4.0))
"""Nodes, and target time to interactive (s)."""

BATCH_SIZE = 2_000
TIMEOUT_SECONDS = 120
OBSERVATION_MS = 1_500
"""Time after the first paint in which long tasks still count."""

FIRST_LOAD = Goal(300)
LONGEST_TASK = Goal(100)
UPDATE_LATENCY = Goal(0.5)
TAB_MEMORY = Goal(400)
ABORTED_RUNS = 20
"""Number of runs that are aborted while the page is open."""

_WATCH = (
    "window.tasks = []; new PerformanceObserver((list) => {"
    "for (const entry of list.getEntries()) tasks.push(entry.duration) }).observe({ entryTypes: ['longtask'] })"
)
_SEEN = """([node, state]) => {
    const isShown = () => document.querySelector(`.cards [data-node="${node}"][data-state="${state}"]`) !== null;
    window.seen = new Promise((resolve) => {
        const check = () => isShown() && (observer.disconnect(), resolve(performance.timeOrigin + performance.now()));
        const observer = new MutationObserver(check);
        observer.observe(document.body, { subtree: true, childList: true, attributes: true });
        check();
    });
}"""
"""Records the time (ms since 1970) at which the button of a node has a state."""

_INTERACTIVE = "performance.getEntriesByName('interactive')[0]?.startTime ?? null"


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="loads of each graph")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    given = parser.parse_args()
    figures = Figures()
    heading = f"{os.cpu_count()} CPUs, load {format_number(os.getloadavg()[0])} at the start"
    site = Artifacts.open().component(NAME) / SITE
    figures.add("first load, gzipped", "kB", first_load(site) / 1000, FIRST_LOAD)
    for nodes, goal in GRAPHS:
        graph = SkewedGraph(nodes, datetime.now(UTC))
        with serving(site, graph) as service:
            measure_loads(figures, service, graph, goal, given.rounds)
    print_figures(figures, given.json, heading)


def first_load(site: Path) -> int:
    """Gzipped size in bytes of the first load. The worker is loaded later and not included."""
    files = (path for path in site.rglob("*") if path.suffix in (".html", ".js", ".css"))
    return sum(len(gzip.compress(path.read_bytes())) for path in files if not path.name.startswith("worker-"))


@contextmanager
def serving(site: Path, graph: SkewedGraph) -> Iterator[ServiceProcess]:
    """A lineage service with a graph."""
    with (
        tempfile.TemporaryDirectory(prefix="lineage-lab-bench-") as folder,
        running_service(Path(folder) / "data", "--page", site) as service,
    ):
        events = list(graph.events())
        for first in range(0, len(events), BATCH_SIZE):
            send(service, events[first : first + BATCH_SIZE])
        yield service


def send(service: ServiceProcess, events: list[bytes]) -> None:
    """Post events as one batch."""
    headers = {"Content-Type": "application/json"}
    body = b"[" + b",".join(events) + b"]"
    with urlopen(Request(f"{service.url}/api/v1/lineage/batch", body, headers), timeout=TIMEOUT_SECONDS) as answer:
        answer.read()


def measure_loads(figures: Figures, service: ServiceProcess, graph: SkewedGraph, goal: float, rounds: int) -> None:
    """Measure page loads in a warm browser, then the latency of updates."""
    nodes = graph.nodes
    with chromium() as browser:
        page = browser.new_page(viewport=WIDE)
        page.add_init_script(_WATCH)
        for number in range(rounds + 1):
            page.goto(f"{service.url}/")
            seconds = until(page, _INTERACTIVE) / 1000
            page.wait_for_timeout(OBSERVATION_MS)
            longest = max(page.evaluate("tasks"), default=0.0)
            if number:  # the first load starts the browser's processes
                figures.add(f"interactive, {nodes} nodes", "s", seconds, Goal(goal))
                figures.add(f"longest task, {nodes} nodes", "ms", longest, LONGEST_TASK)
            figures.add(f"memory of the tab, {nodes} nodes", "MB", tab_memory(), TAB_MEMORY)
        measure_update_latency(figures, page, service, graph)


def tab_memory() -> float:
    """Memory (PSS) in MB of the browser's renderer processes: the tab with its workers, and a spare process."""
    processes = psutil.Process().children(recursive=True)
    renderers = [process for process in processes if "--type=renderer" in process.cmdline()]
    return sum(process.memory_full_info().pss for process in renderers) / 1e6


def measure_update_latency(figures: Figures, page: Any, service: ServiceProcess, graph: SkewedGraph) -> None:
    """Measure the time until the open page shows an aborted job, from the request and from its response."""
    nodes = graph.nodes
    event = json.loads(next(iter(graph.events())))
    node = f"job:{event['job']['namespace']}:{event['job']['name']}"
    page.goto(f"{service.url}/?hops=1&node={node}")
    for number in range(ABORTED_RUNS):
        event["run"]["runId"] = f"00000000-0000-7000-8000-{900_000 + number:012d}"
        for event_type, state in (("START", "running"), ("ABORT", "aborted")):
            event["eventType"], event["eventTime"] = event_type, datetime.now(UTC).isoformat()
            page.evaluate(_SEEN, [node, state])
            sent = time.time()
            send(service, [json.dumps(event).encode()])
            accepted = time.time()
            seen = page.evaluate("window.seen") / 1000
        figures.add(f"aborted job shown, from the request, {nodes} nodes", "s", seen - sent, UPDATE_LATENCY)
        figures.add(f"aborted job shown, from the response, {nodes} nodes", "s", seen - accepted, UPDATE_LATENCY)


def until(page: Any, expression: str) -> float:
    """Poll an expression until it is not null. The content security policy forbids Playwright's wait_for_function."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        value = page.evaluate(expression)
        if value is not None:
            return float(value)
        page.wait_for_timeout(10)
    raise TimeoutError(f"page expression is still null after {TIMEOUT_SECONDS} s: {expression}")


if __name__ == "__main__":
    main()
