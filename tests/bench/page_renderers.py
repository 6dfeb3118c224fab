# SPDX-License-Identifier: Apache-2.0
"""The page's renderer beside others, and its layout beside others: on the same graphs, by turns, in one run.

Needs npm: the others are packages of `page/bench`, which nothing else uses. CPU seconds are those of all of the
browser's processes, because a renderer's work may be done in any of them; on a machine that others use too they are
what can be compared.
"""

import gzip
import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from infra.artifacts import Artifacts
from infra.artifacts.facade import PAGE
from tests.bench.figures import Figures
from tests.page.browser import WIDE, chromium

RENDERERS = ("own", "sigma", "cytoscape", "xyflow")
NODES = (1_000, 10_000)
LIMIT_MS = 120_000
"""A picture that is not there by then is given up, and left out of later rounds."""

SETTLED_MS = 1_000
"""What the page has handed to the screen is still drawn, in another process, for a while."""


def measure(figures: Figures, rounds: int) -> None:
    """Layouts first, then renderers."""
    with bench_project() as project:
        layouts(figures, project, rounds)
        renderers(figures, project, rounds)


@contextmanager
def bench_project() -> Iterator[Path]:
    """`page/bench` in a copy, with the packages of its lock file."""
    with tempfile.TemporaryDirectory(prefix="lineage-lab-bench-") as folder:
        page = Path(folder) / "page"
        ignored = shutil.ignore_patterns("node_modules", "build")
        shutil.copytree(PAGE, page, ignore=ignored)
        cache = Artifacts.open().cache.root / "npm"
        npm(page / "bench", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", str(cache))
        yield page / "bench"


def npm(folder: Path, *words: str) -> str:
    """What an npm command printed; its errors go to the terminal."""
    return subprocess.run(["npm", *words], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def layouts(figures: Figures, project: Path, rounds: int) -> None:
    """The page's layout, dagre and elkjs, in Node."""
    words = ["env", f"ROUNDS={rounds}", "npm", "run", "-s", "layouts"]
    done = subprocess.run(words, cwd=project, stdout=subprocess.PIPE, text=True, check=True)
    for row in map(json.loads, done.stdout.splitlines()):
        what = f"{row['nodes']:,} nodes, {row['edges']:,} edges: layout by {row['engine']}"
        if "cpu" not in row:
            figures.remark(f"{what} took more than {row['limit']} s of CPU")
            continue
        figures.add(f"{what}, CPU", "s", row["cpu"])
        figures.add(f"{what}, wall", "s", row["seconds"])
        figures.add(f"{what}, mean edge", "cards", row["length"])


def renderers(figures: Figures, project: Path, rounds: int) -> None:
    """The page's canvas, sigma, cytoscape and React Flow, in Chromium."""
    npm(project, "run", "-s", "renderers")
    built = project / "build" / "renderers"
    for renderer in RENDERERS:
        figures.add(f"{renderer}: code, gzipped", "kB", code_size(built, renderer) / 1000)
    given_up: set[tuple[str, int]] = set()
    with serving(built) as url, chromium() as browser:
        for _ in range(rounds):
            for nodes in NODES:
                for renderer in RENDERERS:
                    if (renderer, nodes) not in given_up and not measure_one(figures, browser, url, renderer, nodes):
                        given_up.add((renderer, nodes))


def measure_one(figures: Figures, browser: Any, url: str, renderer: str, nodes: int) -> bool:
    """One picture by one renderer, zoomed into and out again; False where it was not there in time."""
    # Part of the bench's extra, like the browser.
    from playwright.sync_api import TimeoutError as TooLate

    session = browser.new_browser_cdp_session()
    page = browser.new_page(viewport=WIDE)
    page.set_default_timeout(LIMIT_MS)
    name = f"{nodes:,} nodes: {renderer}"
    try:
        page.goto(f"{url}/?renderer={renderer}&nodes={nodes}")
        page.wait_for_function("window.bench")
        before = cpu_seconds(session)
        shown = finished(page, "show")
        page.wait_for_timeout(SETTLED_MS)
        figures.add(f"{name}, first picture, CPU", "s", cpu_seconds(session) - before)
        figures.add(f"{name}, first picture, wall", "s", shown)
        before = cpu_seconds(session)
        frames = finished(page, "zoom")
        page.wait_for_timeout(SETTLED_MS)
        figures.add(f"{name}, a frame while zooming, CPU", "ms", (cpu_seconds(session) - before) / len(frames) * 1000)
        figures.add(f"{name}, a frame while zooming, wall", "ms", sum(frames) / len(frames))
        return True
    except TooLate:
        figures.remark(f"{name}: not done within {LIMIT_MS // 1000} s")
        return False
    finally:
        page.close()
        session.detach()


def finished(page: Any, action: str) -> Any:
    """What `bench.ACTION()` came to. Asked for by polling: only that ends where the page never does."""
    page.evaluate(f"void bench.{action}().then((value) => (window.{action}Done = value))")
    return page.wait_for_function(f"window.{action}Done", polling=50).json_value()


def cpu_seconds(session: Any) -> float:
    """CPU time of all processes of a browser so far."""
    return sum(process["cpuTime"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"])


def code_size(built: Path, renderer: str) -> int:
    """Gzipped bytes of the code that is a renderer's alone."""
    return sum(len(gzip.compress(path.read_bytes())) for path in built.glob(f"assets/{renderer}-*.js"))


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A folder on a free loopback port."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Requests are of no interest."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
