# SPDX-License-Identifier: Apache-2.0
"""A built page, a real lineage service that serves it, and a browser that looks at it."""

import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from infra.services.lineage import CONTRACT
from infra.toolchain import Artifacts
from infra.toolchain.facade import PAGE
from infra.toolchain.page import NAME, SITE, SOURCES
from lineage.checks.contract import load
from tests.bench.service_process import running_service
from tests.page.browser import chromium, visiting
from tests.page.contract_events import contract_events

FROM_SOURCES = (*SOURCES, "test")


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the page, as this checkout's sources make it."""
    artifacts = Artifacts.open()
    if not artifacts.has(NAME):
        pytest.skip("the lineage page is not built: bin/lab setup (needs Node 20.19 or newer)")
    return artifacts.component(NAME) / SITE


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Path:
    """The page's sources with their development packages, in a copy, as the lock file says."""
    if not shutil.which("npm"):
        pytest.skip("no npm on PATH")
    folder = tmp_path_factory.mktemp("page") / "page"
    folder.mkdir()
    for name in FROM_SOURCES:
        source = PAGE / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("node_modules", "build"))
        else:
            shutil.copyfile(source, folder / name)
    cache = str(Artifacts.open().cache.root / "npm")
    words = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", cache]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def axe(project) -> str:
    """The source of axe, which finds what people with disabilities stumble over."""
    return (project / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


class Served:
    """A service with the page; `send` posts events and returns when they are in the graph."""

    def __init__(self, process) -> None:
        self.process = process
        self.url = process.url

    def send(self, *events: dict) -> None:
        request = Request(
            f"{self.url}/api/v1/lineage/batch", json.dumps(events).encode(), {"Content-Type": "application/json"}
        )
        with urlopen(request, timeout=30) as answer:
            assert json.load(answer)["received"] == len(events)

    def get(self, path: str):
        with urlopen(f"{self.url}{path}", timeout=30) as answer:
            return json.load(answer)


@pytest.fixture
def empty(site, tmp_path):
    """A service that has heard of nothing."""
    with running_service(tmp_path / "data", "--page", site) as process:
        yield Served(process)


@pytest.fixture(scope="session")
def contract():
    return load(CONTRACT.read_text(encoding="utf-8"))


@pytest.fixture
def shop(site, tmp_path, contract):
    """A service whose graph is that of the lineage contract."""
    lab = tmp_path / "lab.json"
    services = [{"name": "gone", "title": "A service that is away", "check": "127.0.0.1:1"}]
    features = sorted({feature for job in contract.jobs for feature in job.requires})
    described = {"name": "test", "services": services, "contract": str(CONTRACT), "features": features}
    lab.write_text(json.dumps(described))
    with running_service(tmp_path / "data", "--page", site, "--lab", lab) as process:
        served = Served(process)
        served.send(*contract_events(contract, datetime.now(UTC)))
        yield served


@pytest.fixture(scope="package")
def browser():
    """Ended with these tests: Playwright runs once at a time, and the smoke tests look at their lab with it too."""
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser, shop):
    """A wide page of the shop's graph."""
    with visiting(browser, shop.url) as made:
        yield made
