# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the built page, a lineage service that serves it, and a browser."""

import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from infra.services.lineage import CONTRACT
from infra.toolchain import Artifacts
from infra.toolchain.artifacts import PAGE_PROJECT
from infra.toolchain.page import NAME, SITE, SOURCES
from lineage.checks.contract import load
from tests.bench.service_process import running_service
from tests.page.browser import VISITS, chromium, visiting
from tests.page.contract_events import contract_events

PROJECT_FILES = (*SOURCES, "test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Add what the open pages show to the report of a failed test."""
    report = yield
    if report.when == "call" and report.failed:
        report.sections.extend(("page", visit.description()) for visit in VISITS)
    return report


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the page, built from the sources of this checkout."""
    artifacts = Artifacts.open()
    if not artifacts.has(NAME):
        pytest.skip("the lineage page is not built: bin/lab setup (needs Node 20.19 or newer)")
    return artifacts.component(NAME) / SITE


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Path:
    """A copy of the page's sources with the development packages of the lock file."""
    if not shutil.which("npm"):
        pytest.skip("no npm on PATH")
    folder = tmp_path_factory.mktemp("page") / "page"
    folder.mkdir()
    for name in PROJECT_FILES:
        source = PAGE_PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("node_modules", "build"))
        else:
            shutil.copyfile(source, folder / name)
    cache = str(Artifacts.open().cache.root / "npm")
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", cache]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def axe(project) -> str:
    """Source of axe, which finds accessibility problems."""
    return (project / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


class Served:
    """A lineage service that serves the page. `send` returns when its events are in the graph."""

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
    """A service without events."""
    with running_service(tmp_path / "data", "--page", site) as process:
        yield Served(process)


@pytest.fixture(scope="session")
def contract():
    return load(CONTRACT.read_text(encoding="utf-8"))


@pytest.fixture
def shop(site, tmp_path, contract):
    """A service with the graph of the lineage contract."""
    lab = tmp_path / "lab.json"
    services = [{"name": "offline", "title": "Offline service", "check": "127.0.0.1:1"}]
    features = sorted({feature for job in contract.jobs for feature in job.requires})
    described = {"name": "test", "services": services, "contract": str(CONTRACT), "features": features}
    lab.write_text(json.dumps(described))
    with running_service(tmp_path / "data", "--page", site, "--lab", lab) as process:
        served = Served(process)
        served.send(*contract_events(contract, datetime.now(UTC)))
        yield served


@pytest.fixture(scope="package")
def browser():
    """A browser for this package. Playwright allows one instance at a time, and the smoke tests use it too."""
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser, shop):
    """A wide page of the shop's graph."""
    with visiting(browser, shop.url) as page:
        yield page
